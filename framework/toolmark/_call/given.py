"""Make the Result of what an implementation gave, within its bounds and with what it told."""

from collections.abc import Callable, Mapping
from typing import Any

from toolmark._call.answer import as_json
from toolmark._call.context import CallContext
from toolmark._call.cut import Bounds, Cut, cut
from toolmark._call.refusal import logged
from toolmark._model.result import Result


def given(
    value: Any,
    bounds: Bounds,
    context: CallContext,
    arguments: Mapping[str, Any],
    notes: tuple[str, ...],
    answer: Callable[[Any, bytes | None], Result],
) -> Result:
    """Give the Result of a value, cut where it is too much; `notes` tell of items skipped.

    Raises AnswerError for what is no JSON.
    """
    lowered = context.lowered
    if not (bounds.bind or lowered):
        result = answer(value, None)
        # What is missing fits no Returns, and that is said already.
        return result._replace(notes=notes) if notes else result
    found = cut(value, bounds)
    result = answer(found.value, found.text)
    missing = bool(notes) or (found.value is None and found.bytes)
    told = [
        *(() if missing else result.notes),
        *notes,
        *(f"`{name}` was lowered to {most:g}, the most that the tool gives."
          for name, most in lowered.items()),
        *found.notes,
    ]  # fmt: skip
    return result._replace(notes=tuple(told), truncated=_truncated(found, context, arguments))


def _truncated(
    found: Cut, context: CallContext, arguments: Mapping[str, Any]
) -> dict[str, Any] | None:
    rows = found.rows or bool(context.lowered)
    if not (rows or found.bytes):
        return None
    truncated: dict[str, Any] = {"rows": rows, "bytes": found.bytes}
    # After no row at all, reading on would begin at the same place again.
    if context.read_on is not None and found.kept:
        try:
            changed = context.read_on(found.kept)
            truncated["next"] = as_json({**arguments, **changed})
        except Exception as error:  # noqa: BLE001 - what was found is given all the same
            logged(error, "%s could not say how to read on", context.tool)
    return truncated
