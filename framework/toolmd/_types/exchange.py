"""One exchange of a conversation: what came of the user's words, and what a person decided."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

from toolmd._types.pending import PendingCall
from toolmd._types.result import Result

Stop = Literal["", "rounds", "calls", "malformed", "length", "content_filter"]
"""Why an exchange ended before the model had answered: it asked for tools too often (`rounds`) or
for too many of them (`calls`), its calls could not be read even when it was told, its words were
cut at the token limit, or its provider held them back."""


class Decision(NamedTuple):
    """What a person decides on a call that is held."""

    kind: Literal["approve", "edit", "reject", "respond"]
    """Which of the four; the methods below make them."""
    arguments: Mapping[str, Any] = {}
    """For `edit`: the arguments that are other than held."""
    text: str = ""
    """For `respond`: what the model is told in the tool's stead."""

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
        """Let it never run."""
        return cls("reject")

    @classmethod
    def respond(cls, text: str) -> Self:
        """Let it never run, and give `text` as its result."""
        return cls("respond", text=text)


class Exchange(NamedTuple):
    """What came of one thing that the user said."""

    text: str
    """The model's answer, in which no call stands; empty where it gave none."""
    said: tuple[str, ...] = ()
    """All its words in order: those before its calls, and the answer."""
    results: tuple[Result, ...] = ()
    """Of every call, in their order; of a held one that was decided, what came of it."""
    pending: tuple[PendingCall, ...] = ()
    """The calls that nobody has decided yet."""
    crisis: bool = False
    """Whether the user's words hold a crisis word: a human should look."""
    stopped: Stop = ""
    """Why the model gave no whole answer; empty where it did."""
    rounds: int = 0
    """How often the model was asked."""

    def to_dict(self) -> dict[str, Any]:
        """Give its JSON."""
        return {
            "text": self.text,
            "said": list(self.said),
            "results": [result.to_dict() for result in self.results],
            "pending": [confirmation.to_dict() for confirmation in self.pending],
            "crisis": self.crisis,
            "stopped": self.stopped,
            "rounds": self.rounds,
        }
