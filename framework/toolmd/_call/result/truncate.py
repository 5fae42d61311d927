"""Truncate a result at a row where it has too many rows or bytes."""

from collections.abc import Collection
from typing import Any, NamedTuple

from toolmd._call.result.answer import as_json, no_json
from toolmd._call.result.fit import arrays_of, fitted, with_arrays
from toolmd._types.call import Budget
from toolmd._types.call_spec import Limits

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
    return Bounds(
        _stricter(limits.max_rows, budget.rows), _stricter(limits.max_bytes, budget.bytes)
    )


def cut(value: Any, bounds: Bounds) -> Cut:
    """Return the value within the bounds; only whole rows are cut.

    Rows are the items of an array, or of each array directly in an object. Bytes are those of
    the JSON without white space, in UTF-8; of several arrays the longest is cut first. A value
    without rows is omitted as a whole. Raises AnswerError for a value that is not JSON.
    """
    value = _plain(value)
    whole = {name: len(rows) for name, rows in arrays_of(value).items()}
    by_rows = bounds.rows is not None and any(rows > bounds.rows for rows in whole.values())
    if by_rows:
        few = {name: rows[: bounds.rows] for name, rows in arrays_of(value).items()}
        value = with_arrays(value, few)
    text, by_bytes = None, False
    if bounds.bytes is not None:
        value, text, size = _written(value, bounds.bytes)
        by_bytes = size > bounds.bytes
        if text is None:
            sizes = f"The result is {size:,} bytes; the limit is {bounds.bytes:,}."
            note = f"{sizes} It has no rows to cut, so it was omitted."
            return Cut(None, None, by_rows, by_bytes, None, (note,))
    kept = {name: len(rows) for name, rows in arrays_of(value).items()}
    notes = tuple(_note(name, kept[name], rows) for name, rows in whole.items()
                  if kept[name] < rows)  # fmt: skip
    return Cut(value, text, by_rows, by_bytes, _only(kept.values()), notes)


def _written(value: Any, most: int) -> tuple[Any, bytes | None, int]:
    try:
        return fitted(value, most)
    except (ValueError, RecursionError) as error:
        raise no_json(error) from None


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind is list or (kind is dict and all(type(v) in _PLAIN for v in value.values())):
        return value
    return as_json(value)


def _only(counts: Collection[int]) -> int | None:
    return next(iter(counts)) if len(counts) == 1 else None


def _note(name: str, kept: int, of: int) -> str:
    return f"{kept} of {of} rows{' of ' * bool(name)}{name} are returned."


def _stricter(own: int | None, planned: int) -> int:
    return planned if own is None else min(own, planned)
