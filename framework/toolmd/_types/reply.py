"""What a model's reply says: its words, its calls, and the dialect that it speaks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolmd._types.call import Call
from toolmd._types.result import Result

if TYPE_CHECKING:
    from toolmd._types.tool import ToolSpec


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply taken apart; the calls stand in the order in which the model made them."""

    clean_message: str
    """The reply without its calls, for the user."""
    calls: tuple[Call, ...] = ()
    """What the model wants done."""
    dialect: str = "text"
    """The one that was found, so that results go back in it; `text` where there is no call."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a model calls tools and reads their results (behaviour.md, "Dialects")."""

    name: str
    """What `handle`, `parse_reply` and the command line call it."""
    parse: Callable[[Any], Parsed]
    """A whole reply to its calls, or MalformedReplyError; one bad call refuses all."""
    render: Callable[[Sequence[Result]], list[dict[str, Any]]]
    """Results to the messages to append to the conversation."""
    teach: Callable[[Sequence["ToolSpec"]], str] | None = None
    """The system prompt, where the model's own interface does not carry the tools."""
