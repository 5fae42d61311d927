"""Read the call at the end of a reply."""

from typing import Any, NamedTuple

from toolmd._dialect.decoder import SPACE, decode, skip
from toolmd._dialect.quotes import Quote
from toolmd.errors import MalformedReplyError


class CallPlace(NamedTuple):
    """The place of a terminal call."""

    cut: int
    """The end of the text before it."""
    start: int
    """The beginning of its object."""
    fence: Quote | None = None
    """The fence around the object or the whole call."""


def read_place(text: str, place: CallPlace) -> Any:
    """Return the JSON value at the place; only white space may follow it."""
    value, end = decode(text, place.start)
    rest = text[end:]
    if (fence := place.fence) is not None:
        if end > fence.inner_end:
            raise MalformedReplyError("the object extends beyond its fence")
        rest = text[end : fence.inner_end] + text[fence.end :]
    if rest.strip(SPACE):
        raise MalformedReplyError("text after the call: the call must end the reply")
    return value


def holds_alone(text: str, fence: Quote, mark: int) -> bool:
    """Return whether the content of the fence begins at `mark`."""
    return fence.fenced and skip(text, fence.inner) == mark


def ends_reply(text: str, fence: Quote) -> bool:
    """Return whether nothing follows the fence."""
    return skip(text, fence.end) >= len(text)
