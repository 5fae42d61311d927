"""The result of an export: the items, and the losses."""

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
