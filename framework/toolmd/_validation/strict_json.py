"""Read JSON strictly, and call arguments into plain values: ambiguous text is an error."""

import json
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import isfinite, isinf
from typing import Any

from pydantic_core import from_json

MAX_DEPTH = 32
"""Deepest nesting of objects and arrays in one JSON value."""

LARGE = 64 * 1024
"""The characters of arguments that the event loop reads itself."""
_ITEM = 16
"""The characters that an item of an object or a list counts as."""

_SPACE = " \t\r\n"
_SAFE_RECURSION = 20_000
"""The decoder recurses in C, so a higher recursion limit of the host could overflow its stack."""
_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))
_ONE_BRACKET = bytes.maketrans(b"[]", b"{}")


class JsonError(ValueError):
    """A text is not strict JSON: `reason` says why; `line` and `column`, from 1, say where."""

    def __init__(self, reason: str, place: json.JSONDecodeError | None = None) -> None:
        super().__init__(reason if place is None else f"{reason} at character {place.pos}")
        self.reason = reason
        self.line, self.column = (1, 1) if place is None else (place.lineno, place.colno)


class RepeatedKeyError(JsonError):
    """A key stands twice in one object."""


def read_json(text: str, *, depth: int = MAX_DEPTH, halves: bool = False) -> Any:
    """Return the value of a whole text.

    Args:
        text: JSON, with white space around it or not.
        depth: The most levels of objects and arrays.
        halves: Whether unpaired surrogates are accepted.

    Raises:
        JsonError: As `decode`; also for text after the value and raw line breaks in strings.
    """
    value, end = _decode(_STRICT, text, _start(text), depth, halves=halves)
    if rest := text[end:].lstrip(_SPACE):
        raise JsonError("Extra data", json.JSONDecodeError("", text, len(text) - len(rest)))
    return value


def decode(text: str, start: int) -> tuple[Any, int]:
    """Return the value that begins at `start`, and its end.

    Strings may contain raw line breaks, because models write them.

    Raises:
        JsonError: For duplicate keys, NaN, Infinity, numbers beyond a double, halves of
            surrogate pairs, and more than 32 levels.
    """
    return _decode(_RELAXED, text, start, MAX_DEPTH, halves=False)


def decode_loosely(text: str, start: int) -> tuple[Any, int] | None:
    """Return a value that `decode` may reject, or its beginning, and where the JSON ends.

    Only names are taken from it, such as the id of a call that is denied. None where nothing can
    be read.
    """
    if sys.getrecursionlimit() > _SAFE_RECURSION:
        return None
    try:
        return _LOOSE.raw_decode(text, start)
    except json.JSONDecodeError as error:
        # A raw line break in a text before the error is no error here.
        readable = text[start : error.pos].translate(_BREAKS).encode(errors="replace")
        with suppress(ValueError):
            return from_json(readable, allow_partial=True), error.pos
    except (ValueError, RecursionError):
        pass
    return None


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object with these members; raises RepeatedKeyError for a key that occurs twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise RepeatedKeyError(
            f"the key {json.dumps(twice[:64])} occurs twice in one object: keep one"
        )
    return members


def _constant(name: str) -> None:
    raise JsonError(f"{name} is not a JSON number")


def _float(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise JsonError("a number is outside the range of a double")
    return number


_STRICT = json.JSONDecoder(object_pairs_hook=unique, parse_constant=_constant, parse_float=_float)
_RELAXED = json.JSONDecoder(
    object_pairs_hook=unique, parse_constant=_constant, parse_float=_float, strict=False
)
_LOOSE = json.JSONDecoder(strict=False)
_BREAKS = dict.fromkeys(range(32), " ")


def _start(text: str) -> int:
    return len(text) - len(text.lstrip(_SPACE))


def _decode(
    decoder: json.JSONDecoder, text: str, start: int, depth: int, *, halves: bool
) -> tuple[Any, int]:
    is_limited = sys.getrecursionlimit() <= _SAFE_RECURSION
    if not is_limited and text.count("{", start) + text.count("[", start) > _SAFE_RECURSION:
        raise _too_deep(depth)  # in doubt: it has that many brackets, and may nest them
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise JsonError(error.msg, error) from None
    except RecursionError:
        raise _too_deep(depth) from None
    except JsonError:
        raise
    except ValueError:
        most = sys.get_int_max_str_digits()
        raise JsonError(f"an integer has more than {most:,} digits") from None
    source = text[start:end]
    if not halves and _has_half_a_pair(value, source):
        raise JsonError("a text contains an unpaired surrogate")
    if _is_deep(source, depth):
        raise _too_deep(depth)
    return value, end


def _too_deep(depth: int) -> JsonError:
    return JsonError(f"JSON nests deeper than {depth} levels")


def _is_deep(source: str, most: int) -> bool:
    """Return whether valid JSON nests too deep, by removing its innermost pairs level by level."""
    if source.count("{") + source.count("[") <= most:
        return False
    if "\\" in source:
        source = source.replace("\\\\", "").replace('\\"', "")
    outside = "".join(source.split('"')[::2])
    brackets = outside.encode().translate(_ONE_BRACKET, _NO_BRACKETS)
    for _ in range(most):
        brackets = brackets.replace(b"{}", b"")
    return bool(brackets)


def _has_half_a_pair(value: Any, source: str) -> bool:
    if source.isascii() and "\\u" not in source:
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


_NOT_FINITE = "NaN, Infinity and numbers beyond a double are not JSON"
_SCALARS = frozenset({bool, int, float, type(None)})


class MalformedError(ValueError):
    """The arguments are not one JSON object; its message says where and what to write."""


def is_large(arguments: object) -> bool:
    """Return whether arguments take so long to read that a thread reads them, not the loop."""
    if type(arguments) is str or type(arguments) is bytes:
        return len(arguments) > LARGE
    size, values = 0, [arguments]
    for value in values:  # It grows by what is in them.
        if isinstance(value, Mapping):
            size += len(value) * _ITEM
            values += value.values()
        elif isinstance(value, list):
            size += len(value) * _ITEM
            values += value[:LARGE]
        elif isinstance(value, str):
            size += len(value)
        if size > LARGE:
            return True
    return False


def read_object(arguments: object) -> dict[str, Any]:
    """Read a JSON object of at most 32 levels, without duplicate keys, NaN or Infinity.

    The copy shares nothing with the input. Raises MalformedError.
    """
    if isinstance(arguments, str):
        return _read_text(arguments)
    if isinstance(arguments, bytes | bytearray):
        return _read_text(_utf8(arguments))
    if isinstance(arguments, Mapping):
        copied: dict[str, Any] = _copy(arguments, 1)
        return copied
    message = f"the arguments must be a JSON object, not {type(arguments).__name__}"
    raise MalformedError(message)


def _utf8(data: bytes | bytearray) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message = f"the arguments are not UTF-8 (byte {error.start})"
        raise MalformedError(message) from None


def _read_text(text: str) -> dict[str, Any]:
    if not text.isascii():
        _text(text)
    try:
        value = from_json(text, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        # The parser's message names the error and its place, and quotes nothing of the text.
        message = f"the arguments are not JSON: {error}"
        raise MalformedError(message) from None
    if type(value) is not dict:
        message = "the arguments must be a JSON object: write {…} around them"
        raise MalformedError(message)
    # Every quote but an escaped one begins or ends a key or a text, so equal counts mean that
    # no duplicate key replaced a value.
    if text.count('"') != 2 * (len(value) + _texts_in(value.values(), 2)):
        try:
            json.loads(text, object_pairs_hook=unique)
        except JsonError as error:
            raise MalformedError(str(error)) from None
    return value


def _texts_in(items: Iterable[Any], depth: int) -> int:
    count = 0
    for item in items:
        kind = type(item)
        if kind is str:
            count += 1
        elif kind is list:
            _deepen(depth)
            count += _texts_in(item, depth + 1)
        elif kind is dict:
            _deepen(depth)
            count += len(item) + _texts_in(item.values(), depth + 1)
        elif kind is float and not isfinite(item):
            raise MalformedError(_NOT_FINITE)
    return count


def _copy(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is str:
        return _text(value)
    if kind in _SCALARS:
        if kind is float and not isfinite(value):
            raise MalformedError(_NOT_FINITE)
        return value
    if isinstance(value, Mapping):
        _deepen(depth)
        return {_key(name): _copy(item, depth + 1) for name, item in value.items()}
    if kind is list:
        _deepen(depth)
        return [_copy(item, depth + 1) for item in value]
    message = f"{kind.__name__} is no JSON value: give text, numbers, true/false, lists, objects"
    raise MalformedError(message)


def _deepen(depth: int) -> None:
    if depth > MAX_DEPTH:
        message = f"the arguments nest deeper than {MAX_DEPTH} levels"
        raise MalformedError(message)


def _key(name: Any) -> str:
    if not isinstance(name, str):
        message = f"keys must be text, not {type(name).__name__}"
        raise MalformedError(message)
    return _text(name)


def _text(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            message = "a text contains an unpaired surrogate"
            raise MalformedError(message) from None
    return text
