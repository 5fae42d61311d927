"""What an export gives: the items, and what the target could not hold."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

Lose = Callable[[str, str], None]
"""Tells of a loss: the dotted path within the arguments, and what is lost there."""


class Loss(NamedTuple):
    """Something a definition says that the target has no word for."""

    tool: str
    path: str
    """Dotted, `items[].name`; empty for the whole tool."""
    what: str
    """A keyword and its value (`minLength 3`), or a sentence."""

    def __str__(self) -> str:
        where = f"{self.tool}.{self.path}" if self.path else self.tool
        return f"{where}: {self.what}"


@dataclass(frozen=True, slots=True)
class Exported:
    """One target's view of some tools and skills."""

    target: str
    items: list[dict[str, Any]] | dict[str, Any] | str
    """A list of functions; one document (openapi); or text (prompt)."""
    losses: tuple[Loss, ...] = ()
    """Weaker than the file; the executor still holds every call to the whole schema."""
