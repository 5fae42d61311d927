"""Decode one JSON value strictly from a place in a text, and find its end."""

import json
import sys
from math import isinf
from typing import Any

from toolmd.errors import MalformedReplyError

MAX_BYTES = 256 * 1024
"""Size limit of a reply as UTF-8, in bytes (the `size` check)."""
MAX_CALLS = 32
MAX_DEPTH = 32
"""Deepest nesting of objects and arrays in one JSON value."""

_SPACE = " \t\r\n"
_SAFE_RECURSION = 20_000
"""The decoder recurses in C, so a higher recursion limit of the host could overflow its stack."""
_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))
_ONE_BRACKET = bytes.maketrans(b"[]", b"{}")


def decode(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value that begins at `start`, and its end.

    Rejects ambiguous JSON: duplicate keys, NaN, Infinity, numbers beyond a double, halves of
    surrogate pairs; and more than 32 levels. Accepts raw line breaks inside strings, because
    models write them.
    """
    if sys.getrecursionlimit() > _SAFE_RECURSION:
        _deny_depth(text, start)
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise MalformedReplyError(f"not JSON: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise MalformedReplyError(f"JSON nests deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise MalformedReplyError(f"not JSON: {error}") from None
    source = text[start:end]
    _deny_surrogates(value, source)
    if _is_deep(source):
        raise MalformedReplyError(f"JSON nests deeper than {MAX_DEPTH} levels")
    return value, end


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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {json.dumps(twice[:64])} occurs twice in one object")
    return members


def _constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _float(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise ValueError("a number is outside the range of a double")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, strict=False
)


def _is_deep(source: str) -> bool:
    """Return whether valid JSON nests too deep, by removing its innermost pairs level by level."""
    if source.count("{") + source.count("[") <= MAX_DEPTH:
        return False
    if "\\" in source:
        source = source.replace("\\\\", "").replace('\\"', "")
    outside = "".join(source.split('"')[::2])
    brackets = outside.encode().translate(_ONE_BRACKET, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"{}", b"")
    return bool(brackets)


def _deny_depth(text: str, start: int) -> None:
    """Reject deep JSON before it is decoded, up to its end or its first error."""
    if text.count("{", start) + text.count("[", start) <= MAX_DEPTH:
        return
    depth, at, size = 0, start, len(text)
    while at < size:
        match text[at]:
            case '"':
                at = _string_end(text, at + 1)
            case "{" | "[":
                depth += 1
                if depth > MAX_DEPTH:
                    raise MalformedReplyError(f"JSON nests deeper than {MAX_DEPTH} levels")
            case "}" | "]":
                depth -= 1
                if depth <= 0:
                    return
            case _:
                pass
        at += 1


def _string_end(text: str, at: int) -> int:
    while (quote := text.find('"', at)) >= 0:
        before = quote
        while before > at and text[before - 1] == "\\":
            before -= 1
        if (quote - before) % 2 == 0:
            return quote
        at = quote + 1
    return len(text)


def _deny_surrogates(value: Any, source: str) -> None:
    if source.isascii() and "\\u" not in source:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise MalformedReplyError("a text contains half of a surrogate pair") from None
