"""Decode one JSON value strictly from a place in a text, and remove such places from the text."""

from collections.abc import Sequence
from typing import Any

from toolmd._validation.strict_json import JsonError
from toolmd._validation.strict_json import decode as decode_json
from toolmd.errors import MalformedReplyError

MAX_BYTES = 256 * 1024
"""Size limit of a reply as UTF-8, in bytes (the `size` check)."""
MAX_CALLS = 32

SPACE = " \t\r\n"


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
    value, end = decode(text, skip(text, 0))
    if (rest := skip(text, end)) < len(text):
        raise MalformedReplyError(f"text after the JSON, at character {rest}")
    return value


def skip(text: str, at: int, signs: str = SPACE) -> int:
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


_CLOSING = ".,;:!?)"


def without_stretches(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the text without these spans, which are in order; only their seams change.

    At a seam a blank line stays a blank line, a line break a line break, any other white space
    one space, and no space precedes a closing character.
    """
    parts: list[str] = []
    start = 0
    gaps: list[str] = []
    for begin, end in [*spans, (len(text), len(text))]:
        part = text[start:begin]
        body = part.strip(SPACE)
        if body:
            lead = len(part) - len(part.lstrip(SPACE))
            parts += [_seam([*gaps, part[:lead]], body) if parts else "", body]
            gaps = [part[lead + len(body) :]]
        else:
            gaps.append(part)
        start = end
    return readable("".join(parts))


def readable(text: str) -> str:
    """Return the text with a replacement character for each unpaired surrogate."""
    text = text.strip(SPACE)
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _seam(gaps: Sequence[str], body: str) -> str:
    """Return the separator between the text before some calls and the `body` after them."""
    lines = max(gap.count("\n") for gap in gaps)
    if lines:
        return "\n" * min(lines, 2) + gaps[-1].rpartition("\n")[2]
    return " " if any(gaps) and body[0] not in _CLOSING else ""
