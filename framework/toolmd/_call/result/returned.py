"""Build the Result of an implementation's value, within its bounds and with its notes."""

from collections.abc import Callable, Mapping
from typing import Any

from toolmd._call.result.answer import AnswerError, as_json
from toolmd._call.result.parts import lifted
from toolmd._call.result.truncate import UNBOUND, Bounds, Cut, cut
from toolmd._types.result import Result
from toolmd.errors import logged

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
