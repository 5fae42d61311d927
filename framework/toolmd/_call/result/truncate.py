"""Cut a result at a row, where it holds more rows or bytes than may be given."""

from collections.abc import Collection
from typing import Any, NamedTuple

from toolmd._call.result.answer import as_json, no_json
from toolmd._call.result.fit import arrays_of, fitted, with_arrays
from toolmd._types.call import Budget
from toolmd._types.call_spec import Limits

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
    text: bytes | None = None
    """Its JSON, where it was written to be measured."""
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
            reason = f"it has {size} bytes, of which {bounds.bytes} may be given"
            note = f"The result is left out: {reason}, and no rows to cut it at."
            return Cut(None, None, by_rows, by_bytes, None, (note,))
    kept = {name: len(rows) for name, rows in arrays_of(value).items()}
    notes = tuple(_told(name, kept[name], rows) for name, rows in whole.items()
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


def _told(name: str, kept: int, of: int) -> str:
    return f"{kept} of {of} rows{' of ' * bool(name)}{name} are given."


def _stricter(own: int | None, planned: int) -> int:
    return planned if own is None else min(own, planned)
