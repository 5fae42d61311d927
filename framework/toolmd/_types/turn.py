"""The result of handling a model's reply: its text, call results, and pending calls."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolmd._types.confirmation import Confirmation
from toolmd._types.result import Result


@dataclass(frozen=True, slots=True)
class Turn:
    """A handled reply (behaviour.md, "Dialects")."""

    clean_message: str = field(repr=False)
    """The reply without its calls, for the user."""
    results: tuple[Result, ...] = ()
    """One per call, in order. A reply that is denied as a whole has one for each call whose id can
    be read, or a single one where no id can be read."""
    pending: tuple[Confirmation, ...] = ()
    """The calls that wait for a confirmation."""
    dialect: str = "text"
    """The dialect of the reply; `text` if it had no call."""
    render: Callable[[Sequence[Result]], list[dict[str, Any]]] = field(
        default=lambda _: [], repr=False, compare=False
    )
    """Formats results as messages in that dialect, also results of calls decided later."""
    denied: bool = False
    """Whether the whole reply was denied, so that none of its calls ran."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The results as messages of the dialect, to append to the conversation.

        For a denied reply in which no call can be read this is one user message with the error.
        """
        return self.render(self.results)

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON (json.md, "A turn")."""
        return {
            "clean_message": self.clean_message,
            "results": [result.to_dict() for result in self.results],
            "pending": [confirmation.to_dict() for confirmation in self.pending],
            "dialect": self.dialect,
            "messages": self.messages,
        }
