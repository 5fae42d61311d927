"""Bound the text of a result for a model: its data is shortened, and its words are cut."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from pydantic_core import from_json

from toolmd._call.cut import shorten
from toolmd._call.result import write
from toolmd._dialect.body import body_text
from toolmd._types.kept import MAX_KEPT
from toolmd._types.model_view import seen
from toolmd._types.result import Failure, Result

_TRIES = 8
_MAX_PROBLEMS = 8
_BLOCKED = 64
"""The bytes that the inline dialect may add to a denial."""


class Bounded(NamedTuple):
    """What a model reads of a result."""

    result: Result
    whole: bytes | None = None
    """The whole value as JSON, if the model reads only a part of it."""


def bounded(
    result: Result, most: int, names: Collection[str] | None = None, handle: str | None = None
) -> Bounded:
    """Return what a model reads of a result: at most `most` bytes, and only the named fields.

    Args:
        result: The whole result.
        most: The bytes of its text for a model, at least 1,024.
        names: The fields of To Model; None for all.
        handle: The handle under which the whole value will be kept, if it will be.
    """
    found = _bounded(result, most, names, handle)
    if not result.parts:
        return found
    # A model gets the parts to which its data refers.
    numbers = set(_numbers(found.result.data))
    parts = {number: part for number, part in result.parts.items() if number in numbers}
    return found._replace(result=found.result._replace(parts=parts))


def _bounded(
    result: Result, most: int, names: Collection[str] | None, handle: str | None
) -> Bounded:
    if result.outcome == "denied":
        most -= _BLOCKED
    whole = _written(result)
    value = None if whole is None else from_json(whole)
    view = value if names is None or not result.success else seen(value, names)
    as_seen = result._replace(data=None if whole is None else write(view))
    if _size(as_seen) <= most and (view is value or view == value):
        return Bounded(result)
    bare = _bare(result, most)
    if whole is None:
        return Bounded(bare)
    if view == value and _size(bare._replace(data=whole)) <= most:
        return Bounded(bare._replace(data=whole))
    kept = handle if len(whole) <= MAX_KEPT else None
    told = (*bare.notes, _told(kept, whole))
    bare = bare._replace(notes=told, handle=kept)
    fits = bare._replace(data=write(view))
    return Bounded(fits if _size(fits) <= most else _cut(bare, view, most), whole)


def _cut(bare: Result, view: Any, most: int) -> Result:
    """Return the result with as much of its data as fits."""
    truncated = {"rows": bool((bare.truncated or {}).get("rows")), "bytes": True}
    bare = bare._replace(truncated=truncated)
    room = most - _size(bare)
    for _ in range(_TRIES):
        if room <= 0 or (part := shorten(view, room)) is None:
            break
        value, notes = part
        short = bare._replace(data=write(value), notes=(*bare.notes, *notes))
        over = _size(short) - most
        if over <= 0:
            return short
        room -= over
    return bare._replace(notes=(*bare.notes, "Its data is left out."))


def _told(handle: str | None, whole: bytes) -> str:
    if handle is None:
        return f"This is a part of {len(whole)} bytes; the rest is not kept."
    return (
        f"This is a part of {len(whole)} bytes. Read the rest with read_result and handle {handle}."
    )


def _numbers(value: Any) -> Iterator[int]:
    """Yield the numbers of the content parts to which a value refers."""
    if isinstance(value, dict):
        if "media_type" in value and type(number := value.get("part")) is int:
            yield number
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _numbers(item)


def _written(result: Result) -> bytes | None:
    data = result[4]
    return data if data is None or type(data) is bytes else write(data)


def _size(result: Result) -> int:
    return len(body_text(result).encode("utf-8", "replace"))


def _bare(result: Result, most: int) -> Result:
    """Return the result without its data, its words cut to a part of the bound each."""
    part = most // 16
    error = result.error
    if error is not None:
        details = error.details[:_MAX_PROBLEMS]
        each = part // _MAX_PROBLEMS
        error = Failure(
            error.code,
            _words(error.message, part),
            tuple(
                one._replace(path=_words(one.path, each), message=_words(one.message, each))
                for one in details
            ),
            error.retry_after_ms,
        )
    notes: list[str] = []
    room = part
    for note in result.notes:
        if (size := len(write(note))) > room:
            break
        notes.append(note)
        room -= size
    source = result.source
    if source is not None and len(write(source)) > part:
        source = None
    truncated = result.truncated
    if truncated is not None and len(write(truncated)) > part:
        truncated = {key: value for key, value in truncated.items() if key != "next"}
    bare = result._replace(
        data=None,
        message=_words(result.message, part),
        error=error,
        notes=tuple(notes),
        source=source,
        truncated=truncated,
    )
    if _size(bare) <= most // 2:
        return bare
    # The questions of a run may show large arguments, which the person sees elsewhere.
    waiting = tuple(
        one._replace(parameters={}, prompt=_words(one.prompt, part)) for one in bare.waiting[:8]
    )
    call_id = bare.tool_call_id
    return bare._replace(
        waiting=waiting,
        tool=_words(bare.tool, part),
        tool_call_id=call_id if call_id is None else _words(call_id, part),
    )


def _words(text: str, most: int) -> str:
    """Return a text whose JSON has at most `most` bytes, or its beginning."""
    if len(text) + 2 <= most and len(write(text)) <= most:
        return text
    short = shorten(text, most)
    return "" if short is None else str(short[0])
