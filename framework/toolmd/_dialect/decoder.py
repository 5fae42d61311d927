"""Decode one JSON value strictly from a place in a text, and find its end."""

from typing import Any

from toolmd._validation.strict_json import JsonError
from toolmd._validation.strict_json import decode as decode_json
from toolmd.errors import MalformedReplyError

MAX_BYTES = 256 * 1024
"""Size limit of a reply as UTF-8, in bytes (the `size` check)."""
MAX_CALLS = 32

_SPACE = " \t\r\n"


def decode(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value that begins at `start`, and its end.

    Raises:
        MalformedReplyError: The value is not strict JSON; see `strict_json.decode`.
    """
    try:
        return decode_json(text, start)
    except JsonError as error:
        raise MalformedReplyError(f"not JSON: {error}") from None


def decode_whole(text: str) -> Any:
    """Return the JSON value of the whole text, with nothing but white space around it."""
    value, end = decode(text, skip_space(text, 0))
    if (rest := skip_space(text, end)) < len(text):
        raise MalformedReplyError(f"text after the JSON, at character {rest}")
    return value


def skip_space(text: str, at: int) -> int:
    """Return the first place from `at` on that is not JSON white space."""
    return skip(text, at, _SPACE)


def skip(text: str, at: int, signs: str) -> int:
    """Return the first place from `at` on with none of the characters."""
    # The windows grow: a run may be 256 KiB long, and most are of one character.
    size, width = len(text), 8
    while at < size:
        window = text[at : at + width]
        rest = len(window.lstrip(signs))
        at += len(window) - rest
        if rest:
            return at
        width *= 2
    return at
