"""The parsed reply of a model: its text, its calls, and its dialect."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from toolmd._types.call import Call
from toolmd._types.result import Result

if TYPE_CHECKING:
    from toolmd._types.tool import ToolSpec


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
