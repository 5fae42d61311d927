"""One exchange of a conversation: the user's message, the calls and the answer."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

from toolmd._types.pending import PendingCall
from toolmd._types.result import Result

Stop = Literal["", "rounds", "calls", "malformed", "length", "content_filter"]
"""Why an exchange ended before the model had answered: it asked for tools too often (`rounds`) or
for too many of them (`calls`), its calls could not be read even when it was told, its words were
cut at the token limit, or its provider held them back."""


class Decision(NamedTuple):
    """A person's decision on a pending call."""

    kind: Literal["approve", "edit", "reject", "respond"]
    """Which of the four; the methods below make them."""
    arguments: Mapping[str, Any] = {}
    """For `edit`: the changed arguments."""
    text: str = ""
    """For `respond`: the answer in place of the tool's."""

    @classmethod
    def approve(cls) -> Self:
        """Run the call as it was shown."""
        return cls("approve")

    @classmethod
    def edit(cls, arguments: Mapping[str, Any]) -> Self:
        """Run it with these arguments changed."""
        return cls("edit", arguments)

    @classmethod
    def reject(cls) -> Self:
        """Reject the call: it never runs."""
        return cls("reject")

    @classmethod
    def respond(cls, text: str) -> Self:
        """Answer in place of the tool: the call never runs, and `text` is its result."""
        return cls("respond", text=text)


class Exchange(NamedTuple):
    """The outcome of one message of the user."""

    text: str
    """The model's answer, in which no call stands; empty where it gave none."""
    said: tuple[str, ...] = ()
    """All its words in order: those before its calls, and the answer."""
    results: tuple[Result, ...] = ()
    """The result of every call, in order; a confirmed call has its final result."""
    pending: tuple[PendingCall, ...] = ()
    """The calls that still wait for a decision."""
    crisis: bool = False
    """Whether the user's words hold a crisis word: a human should look."""
    stopped: Stop = ""
    """Why the model gave no whole answer; empty where it did."""
    rounds: int = 0
    """How often the model was asked."""

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON."""
        return {
            "text": self.text,
            "said": list(self.said),
            "results": [result.to_dict() for result in self.results],
            "pending": [confirmation.to_dict() for confirmation in self.pending],
            "crisis": self.crisis,
            "stopped": self.stopped,
            "rounds": self.rounds,
        }
