"""Cut a result at a row or shorten it, so that it fits a number of rows or bytes."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

from pydantic_core import from_json

from toolmd._call.result import AnswerError, as_json, lifted, no_json, write
from toolmd._types.call import Budget
from toolmd._types.call_spec import Limits
from toolmd._types.result import Result
from toolmd._validation.words import joined
from toolmd.errors import logged

Arrays = dict[str, list[Any]]


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

    Of several arrays the longest is cut first. Where the value does not fit without any row, the
    value and its JSON are None.
    """
    text = write(value)
    size = len(text)
    if size <= most:
        return value, text, size
    value = from_json(text)  # A generator would be empty when written again.
    arrays = arrays_of(value)
    room = most - len(write(with_arrays(value, {key: [] for key in arrays}))) if arrays else -1
    if room < 0:
        return None, None, size
    # The ends of rows, with a comma after each.
    ends = {name: [*accumulate(len(write(row)) + 1 for row in rows)]
            for name, rows in arrays.items()}  # fmt: skip
    # The longest comes last and gets the remaining bytes.
    for name in sorted(arrays, key=lambda name: ends[name][-1:]):
        count = bisect_right(ends[name], room + 1)
        room -= ends[name][count - 1] - 1 if count else 0
        arrays[name] = arrays[name][:count]
    value = with_arrays(value, arrays)
    return value, write(value), size


_PLAIN = (str, int, float, bool, type(None), list, dict)
"""Values that JSON writes as they are, so that arrays are found without writing."""


class Bounds(NamedTuple):
    """The bounds of a result; None for no bound."""

    rows: int | None
    bytes: int | None


UNBOUND = Bounds(None, None)


class Cut(NamedTuple):
    """The part of a value that is returned."""

    value: Any
    text: bytes | None = None
    """Its JSON, where it was measured."""
    rows: bool = False
    """Whether rows were cut because there were too many."""
    bytes: bool = False
    """Whether rows were cut, or all was omitted, because of its bytes."""
    kept: int | None = None
    """The number of returned rows, where the value has one array."""
    notes: tuple[str, ...] = ()


def bounds_of(limits: Limits, budget: Budget | None) -> Bounds:
    """Return the stricter of a tool's bounds and a plan's, one by one."""
    if budget is None:
        return Bounds(limits.max_rows, limits.max_bytes)
    rows, size = limits.max_rows, limits.max_bytes
    return Bounds(
        budget.rows if rows is None else min(rows, budget.rows),
        budget.bytes if size is None else min(size, budget.bytes),
    )


def cut(value: Any, bounds: Bounds) -> Cut:
    """Return the value within the bounds; only whole rows are cut.

    Rows are the items of an array, or of each array directly in an object. Bytes are those of
    the JSON without white space, in UTF-8; of several arrays the longest is cut first. A value
    without rows is omitted as a whole. Raises AnswerError for a value that is not JSON.
    """
    if not (type(value) is list or (
        type(value) is dict and all(type(item) in _PLAIN for item in value.values())
    )):  # fmt: skip
        value = as_json(value)
    whole = {name: len(rows) for name, rows in arrays_of(value).items()}
    by_rows = bounds.rows is not None and any(rows > bounds.rows for rows in whole.values())
    if by_rows:
        few = {name: rows[: bounds.rows] for name, rows in arrays_of(value).items()}
        value = with_arrays(value, few)
    text, by_bytes = None, False
    if bounds.bytes is not None:
        try:
            value, text, size = fitted(value, bounds.bytes)
        except (ValueError, RecursionError) as error:
            raise no_json(error) from None
        by_bytes = size > bounds.bytes
        if text is None:
            sizes = f"The result is {size:,} bytes; the limit is {bounds.bytes:,}."
            note = f"{sizes} It has no rows to cut, so it was omitted."
            return Cut(None, None, by_rows, by_bytes, None, (note,))
    kept = {name: len(rows) for name, rows in arrays_of(value).items()}
    notes = tuple(
        f"{kept[name]} of {rows} rows{' of ' * bool(name)}{name} are returned."
        for name, rows in whole.items()
        if kept[name] < rows
    )
    only = next(iter(kept.values())) if len(kept) == 1 else None
    return Cut(value, text, by_rows, by_bytes, only, notes)


ELLIPSIS = "…"
_LEAST = 24
"""The bytes that a member keeps room for: each number, `true`, and the beginning of a text."""
_MOST_NOTES = 8
_MOST_PATH = 80
"""Characters of a path that a note names."""


class _Unfit(Exception):  # noqa: N818 - a finding, not an error
    """No part of the value fits."""


def shorten(value: Any, room: int) -> tuple[Any, tuple[str, ...]] | None:
    """Return the first parts of a value whose JSON fits into `room` bytes, and notes on the rest.

    Arrays keep whole items, objects keep their members and share the room among them, texts keep
    their beginning. Returns None where nothing fits. The value is JSON values only.
    """
    notes: list[str] = []
    try:
        return _fit(value, room, "", notes), tuple(notes[:_MOST_NOTES])
    except _Unfit:
        return None


def _fit(value: Any, room: int, path: str, notes: list[str]) -> Any:
    if len(write(value)) <= room:
        return value
    match value:
        case str():
            return _text(value, room, path, notes)
        case list():
            return _array(value, room, path, notes)
        case dict():
            return _object(value, room, path, notes)
        case _:
            raise _Unfit


def _text(text: str, room: int, path: str, notes: list[str]) -> str:
    kept = text[: max(room, 0)]
    while kept and (size := len(write(kept + ELLIPSIS))) > room:
        kept = kept[: min(len(kept) - 1, len(kept) * room // size)]
    if not kept:
        raise _Unfit
    _add_note(notes, f"{len(kept)} of {len(text)} characters", path)
    return kept + ELLIPSIS


def _array(items: list[Any], room: int, path: str, notes: list[str]) -> list[Any]:
    left = room - len("[]")
    kept: list[Any] = []
    for item in items:
        size = len(write(item)) + bool(kept)
        if size > left:
            break
        kept.append(item)
        left -= size
    inner: list[str] = []
    if not kept:
        kept = [_fit(items[0], left, f"{path}[0]", inner)]
    if len(kept) < len(items):
        _add_note(notes, f"{len(kept)} of {len(items)} rows", path)
    notes += inner
    return kept


def _object(members: dict[str, Any], room: int, path: str, notes: list[str]) -> dict[str, Any]:
    left = room - len("{}")
    heads: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for name, item in members.items():
        head = len(write(name)) + len(":") + bool(heads)
        least = min(size := len(write(item)), _LEAST)
        if head + least > left:
            break
        left -= head + least
        heads[name], sizes[name] = head, size
    if not heads:
        raise _Unfit
    left += sum(min(size, _LEAST) for size in sizes.values())
    shares = dict(_shares(sizes, left))
    kept: dict[str, Any] = {}
    inner: list[str] = []
    for name in heads:
        try:
            kept[name] = _fit(members[name], shares[name], joined(path, name), inner)
        except _Unfit:
            continue
    if len(kept) < len(members):
        _add_note(notes, f"{len(kept)} of {len(members)} fields", path)
    notes += inner
    return kept


def _shares(sizes: dict[str, int], room: int) -> Iterator[tuple[str, int]]:
    """Share the room among members: small ones get all that they need, large ones the same."""
    waiting = len(sizes)
    for name, size in sorted(sizes.items(), key=lambda one: one[1]):
        share = min(size, room // waiting)
        yield name, share
        room -= share
        waiting -= 1


def _add_note(notes: list[str], what: str, path: str) -> None:
    of = f" of {path[:_MOST_PATH]}" if path else ""
    notes.append(f"{what}{of} are shown.")


ReadOn = Callable[[int], Mapping[str, Any]]
"""Returns the arguments to read on with, from the number of returned rows."""


class Remarks:
    """What an implementation reports about its result."""

    __slots__ = ("lowered", "notes", "read_on", "tool")

    def __init__(self, tool: str) -> None:
        self.tool = tool
        self.lowered: dict[str, float] = {}
        """The parameters whose values the tool lowered, and to what."""
        self.read_on: ReadOn | None = None
        self.notes: list[str] = []


def build_result(
    value: Any,
    bounds: Bounds,
    remarks: Remarks,
    arguments: Mapping[str, Any],
    notes: tuple[str, ...],
    answer: Callable[..., Result],
) -> Result:
    """Return the Result of a value, cut where it is too large; `notes` name skipped items.

    Raises AnswerError for a value that is neither JSON nor content parts.
    """
    try:
        return _build(value, bounds, remarks, arguments, notes, answer)
    except AnswerError:
        # Only a value with parts is searched for them.
        found = lifted(value)
        if found is None:
            raise
    result = _build(found.value, bounds, remarks, arguments, notes, answer)
    return result._replace(parts=found.parts, notes=(*result.notes, *found.notes))


def _build(
    value: Any,
    bounds: Bounds,
    remarks: Remarks,
    arguments: Mapping[str, Any],
    notes: tuple[str, ...],
    answer: Callable[..., Result],
) -> Result:
    lowered = remarks.lowered
    if bounds == UNBOUND and not lowered:
        result = answer(value)
        # Missing items fit no Returns, and a note says so already.
        told = (*(notes or result.notes), *remarks.notes)
        return result._replace(notes=told) if told else result
    found = cut(value, bounds)
    result = answer(found.value, found.text)
    missing = bool(notes) or (found.value is None and found.bytes)
    all_notes = [
        *(() if missing else result.notes),
        *notes,
        *remarks.notes,
        *(f"`{name}` was lowered to {most:g}, the most that the tool accepts."
          for name, most in lowered.items()),
        *found.notes,
    ]  # fmt: skip
    return result._replace(notes=tuple(all_notes), truncated=_truncated(found, remarks, arguments))


def _truncated(found: Cut, remarks: Remarks, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    rows = found.rows or bool(remarks.lowered)
    if not (rows or found.bytes):
        return None
    truncated: dict[str, Any] = {"rows": rows, "bytes": found.bytes}
    # After zero rows, reading on would start at the same row again.
    if remarks.read_on is not None and found.kept:
        try:
            changed = remarks.read_on(found.kept)
            truncated["next"] = as_json({**arguments, **changed})
        except Exception as error:  # noqa: BLE001 - the result is returned in any case
            logged(error, "%s could not name the arguments of the next page", remarks.tool)
    return truncated
