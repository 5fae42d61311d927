"""Keep the first rows of a value's arrays, so that its JSON fits a number of bytes."""

import marshal
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic_core import from_json

from toolmd._call.result.answer import write

Arrays = dict[str, list[Any]]
_GUESSES = 3
"""The most guesses; then rows are too uneven for guesses alone."""


class _Part(NamedTuple):
    """A part of an object's JSON: one array member, or several other members."""

    name: str | None
    """The array's name; None for other members."""
    head: bytes
    """The JSON before the array."""
    body: bytes | memoryview
    tail: bytes = b""

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.head) + len(self.body) + len(self.tail)


def arrays_of(value: Any) -> Arrays:
    """Return the arrays whose items are rows, by name; None for a value that is an array."""
    if type(value) is list:
        return {"": value}
    if type(value) is dict:
        return {name: rows for name, rows in value.items() if type(rows) is list}
    return {}


def with_arrays(value: Any, arrays: Mapping[str, list[Any]]) -> Any:
    """Return the value with these arrays."""
    return arrays[""] if type(value) is list else {**value, **arrays}


def fitted(value: Any, most: int) -> tuple[Any, bytes | None, int]:
    """Return what fits of a value, its JSON, and the bytes of the whole.

    Each row is written once. Of several arrays the longest is cut first. Where the value does
    not fit without any row, the value and its JSON are None.
    """
    parts = _parts(value)
    size = _size(value, parts)
    if size <= most:
        return value, _joined(value, parts), size
    if not _is_data(value):
        # A generator would be empty when written again: use its JSON from here on.
        value = from_json(_joined(value, parts))
        parts = _parts(value)
    arrays = arrays_of(value)
    room = most - _size(value, [_cut(part, 0) for part in parts])
    if room < 0:
        return None, None, size
    # The longest comes last and gets the remaining bytes.
    for part in sorted(parts, key=lambda part: len(part.body)):
        if part.name is not None:
            rows = arrays[part.name]
            count, used = _first(rows, len(part.body) - len(b"[]"), room)
            room -= used
            arrays[part.name] = rows[:count]
            parts[parts.index(part)] = _cut(part, used)
    return with_arrays(value, arrays), _joined(value, parts), size


def _cut(part: _Part, inner: int) -> _Part:
    """Cut an array to this many bytes between its brackets."""
    if part.name is None or inner == len(part.body) - len(b"[]"):
        return part
    return part._replace(body=memoryview(part.body)[: 1 + inner], tail=b"]")


def _parts(value: Any) -> list[_Part]:
    if type(value) is list:
        return [_Part("", b"", write(value))]
    if type(value) is not dict:
        return [_Part(None, b"", write(value))]
    parts: list[_Part] = []
    others: dict[str, Any] = {}
    for name, item in value.items():
        if type(item) is not list:
            others[name] = item
            continue
        if others:
            parts.append(_Part(None, b"", write(others)[1:-1]))
            others = {}
        parts.append(_Part(name, write({name: None})[1 : -len("null}")], write(item)))
    if others:
        parts.append(_Part(None, b"", write(others)[1:-1]))
    return parts


def _size(value: Any, parts: list[_Part]) -> int:
    around = len(b"{}") if type(value) is dict else 0
    return around + sum(part.size for part in parts) + max(len(parts) - 1, 0)


def _joined(value: Any, parts: list[_Part]) -> bytes:
    """Join the parts with one copy, since they may be large."""
    flat: list[bytes | memoryview] = []
    for part in parts:
        flat += (b",", part.head, part.body, part.tail)
    inner = flat[1:]
    return b"".join([b"{", *inner, b"}"] if type(value) is dict else inner)


def _is_data(value: Any) -> bool:
    """Return whether a value is written the same each time."""
    try:
        # The fastest check of everything inside: it accepts plain data only.
        marshal.dumps(value)
    except ValueError:
        return False
    return True


def _first(rows: list[Any], size: int, room: int) -> tuple[int, int]:
    """Return how many of the first rows fit into `room` bytes, and their size.

    `size` is the size of all rows without the brackets. The position is guessed by the average
    row, later by halves, and the shorter side of it is written.
    """
    if size <= room:
        return len(rows), size
    low, high = 0, len(rows)
    # With a comma after each row, so that sizes add up.
    least, most, within = 0, size + 1, room + 1
    turn = 0
    while (rest := high - low) > 1:
        halve = turn > _GUESSES and turn % 2
        step = rest // 2 if halve else rest * (within - least) // (most - least)
        middle = low + min(max(step, 1), rest - 1)
        if middle - low <= high - middle:
            here = least + len(write(rows[low:middle])) - 1
        else:
            here = most - (len(write(rows[middle:high])) - 1)
        if here <= within:
            low, least = middle, here
        else:
            high, most = middle, here
        turn += 1
    return low, max(least - 1, 0)
