"""A model's reply: its text, its calls and its dialect."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolmd._types.call import Call
from toolmd._types.result import Result

if TYPE_CHECKING:
    from toolmd._types.tool import ToolSpec


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed reply; the calls are in the model's order."""

    clean_message: str
    """The reply without its calls, for the user."""
    calls: tuple[Call, ...] = ()
    """The calls of the reply."""
    dialect: str = "text"
    """The dialect of the reply, for its results; `text` where there is no call."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a model calls tools and reads their results (behaviour.md, "Dialects")."""

    name: str
    """What `handle`, `parse_reply` and the command line call it."""
    parse: Callable[[Any], Parsed]
    """Parses a reply. Raises MalformedReplyError; one bad call denies the whole reply."""
    render: Callable[[Sequence[Result]], list[dict[str, Any]]]
    """Formats results as messages to append to the conversation."""
    teach: Callable[[Sequence["ToolSpec"]], str] | None = None
    """The system prompt, where the model's own interface does not carry the tools."""
