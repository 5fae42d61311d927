"""Find the one JSON object that ends a reply, in a fence of its own or not."""

from typing import Any, NamedTuple

from toolmd._dialect.decoder import decode, skip_space
from toolmd._dialect.quotes import Quote
from toolmd.errors import MalformedReplyError

_SPACE = " \t\r\n"


class CallPlace(NamedTuple):
    """Where a terminal call stands."""

    cut: int
    """Where the words before it end."""
    start: int
    """Where its object begins."""
    fence: Quote | None = None
    """The fence around the object or the whole call."""


def read_place(text: str, place: CallPlace) -> Any:
    """Give the JSON value at the place; nothing but white space may follow it."""
    value, end = decode(text, place.start)
    rest = text[end:]
    if (fence := place.fence) is not None:
        if end > fence.inner_end:
            raise MalformedReplyError("the object runs out of its fence")
        rest = text[end : fence.inner_end] + text[fence.end :]
    if rest.strip(_SPACE):
        raise MalformedReplyError("text after the call: the call must end the reply")
    return value


def holds_alone(text: str, fence: Quote, mark: int) -> bool:
    """Tell whether what is at `mark` is the first thing in the fence."""
    return fence.fenced and skip_space(text, fence.inner) == mark


def ends_reply(text: str, fence: Quote) -> bool:
    """Tell whether nothing follows the fence."""
    return skip_space(text, fence.end) >= len(text)
