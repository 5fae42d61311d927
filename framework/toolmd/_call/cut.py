"""Cut a result at a row or shorten it, so that it fits a number of rows or bytes."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

from toolmd._call.result import write
from toolmd._types.call import Budget
from toolmd._types.call_spec import Limits
from toolmd._types.result import Result
from toolmd._validation.words import joined

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


def fit_rows(value: Any, most: int) -> Any:
    """Return what fits of a value that does not fit as a whole; None where nothing does.

    Of several arrays the longest is cut first.
    """
    arrays = arrays_of(value)
    room = most - len(write(with_arrays(value, {key: [] for key in arrays}))) if arrays else -1
    if room < 0:
        return None
    # The ends of rows, with a comma after each.
    ends = {name: [*accumulate(len(write(row)) + 1 for row in rows)]
            for name, rows in arrays.items()}  # fmt: skip
    # The longest comes last and gets the remaining bytes.
    for name in sorted(arrays, key=lambda name: ends[name][-1:]):
        count = bisect_right(ends[name], room + 1)
        room -= ends[name][count - 1] - 1 if count else 0
        arrays[name] = arrays[name][:count]
    return with_arrays(value, arrays)


class Bounds(NamedTuple):
    """The bounds of a result; None for no bound."""

    rows: int | None
    bytes: int | None


def bounds_of(limits: Limits, budget: Budget | None) -> Bounds:
    """Return the stricter of a tool's bounds and a plan's, one by one."""
    if budget is None:
        return Bounds(limits.max_rows, limits.max_bytes)
    rows, size = limits.max_rows, limits.max_bytes
    return Bounds(
        budget.rows if rows is None else min(rows, budget.rows),
        budget.bytes if size is None else min(size, budget.bytes),
    )


def cut_result(result: Result, limits: Limits) -> Result:
    """Return a result within its tool's Max Rows and Max Bytes and its plan's budget.

    Rows are the items of an array, or of each array directly in an object; only whole rows are
    cut. Bytes are those of the JSON without white space, in UTF-8; of several arrays the longest
    is cut first. A value that does not fit without any row is shortened, or left out.
    """
    most = bounds_of(limits, result.budget)
    if most == (None, None) or result[4] is None:
        return result
    value, notes = result.data, tuple[str, ...]()
    whole = {name: len(rows) for name, rows in arrays_of(value).items()}
    by_rows = most.rows is not None and any(rows > most.rows for rows in whole.values())
    if by_rows:
        few = {name: rows[: most.rows] for name, rows in arrays_of(value).items()}
        value = with_arrays(value, few)
    room, size = most.bytes, 0 if most.bytes is None else len(write(value))
    by_bytes = room is not None and size > room
    if not (by_rows or by_bytes):
        return result
    if room is not None and by_bytes:
        if (part := fit_rows(value, room)) is None:
            part, more = shorten(value, room) or (None, ("It is left out.",))
            notes = (f"The result is {size:,} bytes; the limit is {room:,}.", *more)
        value = part
    if not notes:
        left = {name: len(rows) for name, rows in arrays_of(value).items()}
        notes = tuple(
            f"{left[name]} of {rows} rows{' of ' * bool(name)}{name} are returned."
            for name, rows in whole.items()
            if left[name] < rows
        )
    by_rows = by_rows or bool((result.truncated or {}).get("rows"))
    truncated = {"rows": by_rows, "bytes": by_bytes}
    return result._replace(data=value, truncated=truncated, notes=(*result.notes, *notes))


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
    if not items:
        raise _Unfit
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


class Remarks:
    """What an implementation reports about its result."""

    __slots__ = ("lowered", "notes")

    def __init__(self) -> None:
        self.lowered: dict[str, float] = {}
        """The parameters whose values the tool lowered, and to what."""
        self.notes: list[str] = []

    def on(self, result: Result, skipped: tuple[str, ...]) -> Result:
        """Return the result with these remarks; `skipped` are the notes on skipped items."""
        # Missing items fit no Returns, and a note says so already.
        lowered = (f"`{name}` was lowered to {most:g}, the most that the tool accepts."
                   for name, most in self.lowered.items())  # fmt: skip
        notes = (*(skipped or result.notes), *self.notes, *lowered)
        truncated = {"rows": True, "bytes": False} if self.lowered else None
        return result._replace(notes=notes, truncated=truncated)
