"""One exchange of a conversation: a user message, its calls, and the model's answer."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

from toolmd._types.brief import brief
from toolmd._types.pending import PendingCall
from toolmd._types.result import Result

Stop = Literal[
    "",
    "rounds",
    "calls",
    "malformed",
    "length",
    "content_filter",
]
"""Why an exchange ended without a full answer: too many rounds of tool calls (`rounds`), too many
calls (`calls`), calls that stayed malformed after an error message (`malformed`), the token limit
(`length`), or the provider's content filter (`content_filter`)."""


class Decision(NamedTuple):
    """A person's decision on a pending call."""

    kind: Literal["approve", "edit", "reject", "respond"]
    """One of four; each has a method below."""
    arguments: Mapping[str, Any] = {}
    """For `edit`: the arguments that change."""
    text: str = ""
    """For `respond`: the text that the model receives as the tool's result."""

    def __repr__(self) -> str:
        return brief(self, "arguments", "text")

    @classmethod
    def approve(cls) -> Self:
        """Run the call as shown."""
        return cls("approve")

    @classmethod
    def edit(cls, arguments: Mapping[str, Any]) -> Self:
        """Run the call with these arguments changed."""
        return cls("edit", arguments)

    @classmethod
    def reject(cls) -> Self:
        """Reject the call, so that it never runs."""
        return cls("reject")

    @classmethod
    def respond(cls, text: str) -> Self:
        """Return `text` as the result; the call never runs."""
        return cls("respond", text=text)


class Exchange(NamedTuple):
    """One user message, the calls that it led to, and the model's answer."""

    text: str
    """The model's answer without calls; empty if it returned none."""
    said: tuple[str, ...] = ()
    """All texts of the model in order: those before its calls, and the answer."""
    results: tuple[Result, ...] = ()
    """The results of all calls in order; a pending call that was decided has its final result."""
    pending: tuple[PendingCall, ...] = ()
    """The calls that still wait for a decision."""
    crisis: bool = False
    """Whether the conversation has a crisis flag; a person should read it then."""
    stopped: Stop = ""
    """The reason why the answer is missing or incomplete; empty if it is complete."""
    rounds: int = 0
    """The number of requests to the model."""

    def __repr__(self) -> str:
        return brief(self, "text", "said")

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
