"""What comes of a model's whole reply: its words, the results of its calls, and what waits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolmd._types.pending import PendingCall
from toolmd._types.result import Result


@dataclass(frozen=True, slots=True)
class Turn:
    """A handled reply (behaviour.md, "Dialects")."""

    clean_message: str
    """The reply without its calls, for the user."""
    results: tuple[Result, ...] = ()
    """The results in the order of the calls; an unreadable reply has one denied result."""
    pending: tuple[PendingCall, ...] = ()
    """The calls that wait for a person."""
    dialect: str = "text"
    """The one that was spoken; `text` where there was no call."""
    render: Callable[[Sequence[Result]], list[dict[str, Any]]] = field(
        default=lambda _: [], repr=False, compare=False
    )
    """Makes messages of results in that dialect: for those that were decided meanwhile."""

    @property
    def denied(self) -> bool:
        """Whether the whole reply was denied: keep it out of the conversation then.

        Its calls have no answers, which providers don't take; `messages` says what was wrong.
        """
        return len(self.results) == 1 and not self.results[0].tool

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The results as messages to append to the conversation, as the dialect has them.

        A denied reply becomes one message of the user: leave the reply itself out then, since
        its calls have no answers.
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
