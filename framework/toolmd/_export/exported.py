"""The result of an export: its items, its losses, and the names that a target allows."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

Lose = Callable[[str, str], None]
"""Reports a loss: the dotted path within the arguments, and the lost part."""


class Loss(NamedTuple):
    """A part of a definition that the target can't express."""

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
    """Parts that are weaker than in the file; calls are still checked against the whole file."""
    restrictions: tuple[str, ...] = ()
    """The fields that the target can't hold, such as `Confirm When`; only Toolmd enforces them."""


class NameRule(NamedTuple):
    """The characters that a target allows in a name, and the longest length."""

    forbidden: re.Pattern[str]
    """A character that is not allowed in a name."""
    longest: int
    first: re.Pattern[str] = re.compile("")
    """A pattern for the beginning."""


FUNCTION = NameRule(re.compile(r"[^A-Za-z0-9_-]"), 64)
GEMINI = NameRule(re.compile(r"[^A-Za-z0-9_.:-]"), 64, re.compile(r"[A-Za-z_]"))
MCP = NameRule(re.compile(r"[^A-Za-z0-9_.-]"), 128)
ARGUMENT = NameRule(re.compile(r"[^A-Za-z0-9_.-]"), 64)
"""Anthropic rejects a whole request for one property whose name is not of this form."""


def fit(name: str, rule: NameRule) -> str:
    """Return the name, or the nearest allowed one; equal names stay equal.

    A changed name ends in six hex digits of the original's hash, so two names that differ only in
    disallowed characters stay different.
    """
    fitted = rule.forbidden.sub("_", name)
    if not rule.first.match(fitted):
        fitted = f"_{fitted}"
    if fitted == name and len(name) <= rule.longest:
        return name
    mark = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{fitted[: rule.longest - 7]}_{mark}"
