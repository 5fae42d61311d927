"""A call as it comes to the one door, whoever makes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls and what they said; comes from the host, never from a model."""

    user: str | None = None
    patient: str | None = None
    message: str = ""
    """The user's own words, in which intent is looked for."""


@dataclass(frozen=True, slots=True)
class Call:
    """One tool or skill to be called with these arguments."""

    tool: str
    arguments: Mapping[str, Any] | str | bytes
    """An object, or its JSON text."""
    id: str | None = None
    confidence: float | None = None
    caller: Caller = field(default_factory=Caller)
    dry_run: bool = False
