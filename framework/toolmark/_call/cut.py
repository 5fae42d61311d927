"""Cut a result at a row, where it holds more rows or bytes than may be given."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from toolmark._call.answer import as_json, write
from toolmark._model.call import Budget
from toolmark._model.tool import Limits

_PLAIN = (str, int, float, bool, type(None), list, dict)
"""What JSON makes of itself, so that arrays show without being written."""


class Bounds(NamedTuple):
    """The most that a result may hold; None bounds nothing."""

    rows: int | None
    bytes: int | None

    @property
    def bind(self) -> bool:
        """Whether there is any bound."""
        return self.rows is not None or self.bytes is not None


class Cut(NamedTuple):
    """What of a value is given."""

    value: Any
    rows: bool = False
    """Whether rows were cut off for being too many."""
    bytes: bool = False
    """Whether rows were cut off, or all was left out, for being too long."""
    kept: int | None = None
    """The rows that are given, where the value has one array of them."""
    notes: tuple[str, ...] = ()


def bounds_of(limits: Limits, budget: Budget | None) -> Bounds:
    """Give the stricter of a tool's own bounds and a plan's, each for itself."""
    if budget is None:
        return Bounds(limits.max_rows, limits.max_bytes)
    return Bounds(
        _stricter(limits.max_rows, budget.rows), _stricter(limits.max_bytes, budget.bytes)
    )


def cut(value: Any, bounds: Bounds) -> Cut:
    """Give the value within the bounds; only whole rows are left out.

    Rows are the items of an array, or of each array that stands in an object directly. Bytes are
    those of the JSON without white space, in UTF-8; of several arrays the longest gives way
    first. What has no rows to cut is left out whole. Raises AnswerError for what is no JSON.
    """
    value = _plain(value)
    whole = _arrays(value)
    given = {name: rows[: bounds.rows] for name, rows in whole.items()}
    by_rows = any(len(given[name]) < len(rows) for name, rows in whole.items())
    if by_rows:
        value = _with(value, given)
    by_bytes, left_out = False, False
    size = len(write(value)) if bounds.bytes is not None else 0
    if bounds.bytes is not None and size > bounds.bytes:
        by_bytes = True
        given, least = _fitting(value, given, size, bounds.bytes)
        left_out = least > bounds.bytes
        value = None if left_out else _with(value, given)
    if left_out:
        why = f"it has {size} bytes, of which {bounds.bytes} may be given, and no rows to cut it at"
        notes: tuple[str, ...] = (f"The result is left out: {why}.",)
    else:
        notes = tuple(_told(name, len(given[name]), len(rows)) for name, rows in whole.items()
                      if len(given[name]) < len(rows))  # fmt: skip
    kept = None if left_out or len(given) != 1 else len(next(iter(given.values())))
    return Cut(value, by_rows, by_bytes, kept, notes)


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind is list or (kind is dict and all(type(v) in _PLAIN for v in value.values())):
        return value
    return as_json(value)


def _arrays(value: Any) -> dict[str, list[Any]]:
    """Give the arrays whose items are rows, by name; one that is the value itself has none."""
    if type(value) is list:
        return {"": value}
    if type(value) is dict:
        return {name: rows for name, rows in value.items() if type(rows) is list}
    return {}


def _with(value: Any, arrays: Mapping[str, list[Any]]) -> Any:
    return arrays[""] if type(value) is list else {**value, **arrays}


def _fitting(
    value: Any, arrays: dict[str, list[Any]], size: int, most: int
) -> tuple[dict[str, list[Any]], int]:
    """Give as many rows as fit, and the bytes of the value with them."""
    fitting: dict[str, list[Any]] = {name: [] for name in arrays}
    bare = len(write(_with(value, fitting))) if arrays else size
    # The longest comes last and gets what the others leave: it gives way first.
    many = len(arrays) > 1
    for name in sorted(arrays, key=lambda name: len(write(arrays[name])) if many else 0):
        fitting[name], added = _first(arrays[name], most - bare)
        bare += added
    return fitting, bare


def _first(rows: list[Any], room: int) -> tuple[list[Any], int]:
    """Give the first rows that add at most `room` bytes to an empty array, and their bytes."""
    used = 0
    for number, row in enumerate(rows):
        more = len(write(row)) + (number > 0)
        if used + more > room:
            return rows[:number], used
        used += more
    return rows, used


def _told(name: str, kept: int, of: int) -> str:
    return f"{kept} of {of} rows{' of ' * bool(name)}{name} are given."


def _stricter(own: int | None, planned: int) -> int:
    return planned if own is None else min(own, planned)
