"""One exchange of a conversation: a user message, its calls, and the model's answer."""

from typing import Any, Literal, NamedTuple

from toolmd._types.brief import brief
from toolmd._types.pending import PendingCall
from toolmd._types.result import Result
from toolmd._types.usage import Usage

Stop = Literal[
    "",
    "rounds",
    "calls",
    "malformed",
    "schema",
    "length",
    "content_filter",
    "max_tokens",
    "max_cost",
    "unknown_cost",
]
"""Why an exchange ended without a full answer: too many rounds of tool calls (`rounds`), too many
calls (`calls`), calls that stayed malformed after an error message (`malformed`), an answer that
did not follow the schema after error messages (`schema`), the token limit (`length`), the
provider's content filter (`content_filter`), or a limit of the conversation (`max_tokens`,
`max_cost`, and `unknown_cost` where `max_cost` can't be checked)."""


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
    usage: Usage = Usage()
    """What the conversation has used so far."""
    value: Any = None
    """The answer's JSON value where the conversation has a `schema`."""

    def __repr__(self) -> str:
        return brief(self, "text", "said", "value")

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
            "usage": self.usage.to_dict(),
            "value": self.value,
        }
