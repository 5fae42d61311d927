"""Read a call's arguments, JSON text or an object, into a copy of plain JSON values."""

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from pydantic_core import from_json

from toolmd._validation.strict_json import MAX_DEPTH, JsonError, unique

_NOT_FINITE = "NaN, Infinity and numbers beyond a double are not JSON"
_SCALARS = frozenset({bool, int, float, type(None)})


class MalformedError(ValueError):
    """The arguments are not one JSON object; its message says where and what to write."""


def read_object(arguments: object) -> dict[str, Any]:
    """Read a JSON object of at most 32 levels, without duplicate keys, NaN or Infinity.

    The copy shares nothing with the input. Raises MalformedError.
    """
    if isinstance(arguments, str):
        return _read_text(arguments)
    if isinstance(arguments, bytes | bytearray):
        return _read_text(_decode(arguments))
    if isinstance(arguments, Mapping):
        copied: dict[str, Any] = _copy(arguments, 1)
        return copied
    message = f"the arguments must be a JSON object, not {type(arguments).__name__}"
    raise MalformedError(message)


def _decode(data: bytes | bytearray) -> str:
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
            message = "a text holds half of a surrogate pair"
            raise MalformedError(message) from None
    return text
