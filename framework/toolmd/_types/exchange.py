"""One exchange of a conversation: a user message, its calls, and the model's answer."""

from typing import Any, Literal, NamedTuple

from toolmd._types.brief import brief
from toolmd._types.confirmation import Confirmation
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


class Exchange(NamedTuple):
    """One user message, the calls that it led to, and the model's answer."""

    text: str
    """The model's answer without calls; empty if it returned none."""
    said: tuple[str, ...] = ()
    """All texts of the model in order: those before its calls, and the answer."""
    results: tuple[Result, ...] = ()
    """The results of all calls in order; a pending call that was decided has its final result."""
    pending: tuple[Confirmation, ...] = ()
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
