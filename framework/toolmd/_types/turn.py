"""The result of handling a model's reply: its text, call results, and pending calls."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolmd._types.call import Call
from toolmd._types.confirmation import Confirmation
from toolmd._types.result import Result

if TYPE_CHECKING:
    from toolmd._types.tool import ToolSpec
from typing import Literal, NamedTuple

from toolmd._types.visible import brief


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


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed reply; the calls are in the order in which the model made them."""

    clean_message: str = field(repr=False)
    """The reply without its calls, for the user."""
    calls: tuple[Call, ...] = ()
    """The calls of the reply."""
    dialect: str = "text"
    """The dialect of the calls, which the results use too; `text` if the reply has no call."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The syntax of a model's tool calls and of their results (behaviour.md, "Dialects")."""

    name: str
    """The name in `handle`, `parse_reply` and on the command line."""
    parse: Callable[[Any], Parsed]
    """Parses a whole reply, text or the host's object, or raises MalformedReplyError.

    One bad call rejects all.
    """
    render: Callable[[Sequence[Result]], list[dict[str, Any]]]
    """Formats results as messages to append to the conversation."""
    teach: Callable[[Sequence["ToolSpec"]], str] | None = None
    """Returns the system prompt, for models whose API does not accept tools."""


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
