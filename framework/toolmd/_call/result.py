"""Build the Result of an implementation's value, or of a call that did not run."""

from collections.abc import Callable, Iterator
from math import isfinite
from time import perf_counter
from typing import Any, NamedTuple

from pydantic_core import SchemaSerializer, from_json
from pydantic_core.core_schema import any_schema

from toolmd._call.denial import CallDenied
from toolmd._types.call import Call
from toolmd._types.confirmation import Confirmation
from toolmd._types.parts import MAX_PART, MAX_PARTS, File
from toolmd._types.result import Failure, Result
from toolmd._types.schema import Schema
from toolmd._types.verdict import Problem
from toolmd._validation import PatternError, fits, is_bounded, problems


class AnswerError(ValueError):
    """An implementation returned a value that JSON can't represent; the message names it."""


MakeResult = Callable[..., Result]
"""Builds the Result of a value for the call with this id that began then (`perf_counter`).

A fourth argument is the value as JSON, where it was written already."""

_ANY = SchemaSerializer(any_schema(), {"ser_json_inf_nan": "null"})


def write(value: Any) -> bytes:
    """Return the value as JSON without white space, in UTF-8.

    An unpaired surrogate becomes U+FFFD, and NaN and Infinity become null. Raises ValueError
    and RecursionError.
    """
    try:
        return _ANY.to_json(value)
    except ValueError:
        return _ANY.to_json(_repaired(value))


def _repaired(value: Any) -> Any:
    """Return a value whose texts have no an unpaired surrogate."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_repaired(key): _repaired(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_repaired(item) for item in value]
    if value is None or isinstance(value, int | float | bytes):
        return value
    return _repaired(_ANY.to_python(value, mode="json"))


def _changes(value: Any, path: str = "data") -> Iterator[tuple[str, bool]]:
    """Yield the path of each value that JSON can't hold, and whether null stands in its place."""
    if isinstance(value, str) and not value.isascii() and value != _repaired(value):
        yield path, False
    elif isinstance(value, float) and not isfinite(value):
        yield path, True
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str):
                yield from ((path, halved) for _, halved in _changes(key))
            yield from _changes(item, f"{path}.{_repaired(str(key))}")
    elif isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from _changes(item, f"{path}[{at}]")


def _repairs(value: Any, returns: Schema, data: Any) -> tuple[str, ...]:
    """Return the notes on what JSON can't hold in a value.

    Raises AnswerError for a NaN or an Infinity where Returns has no null.
    """
    paths: dict[bool, list[str]] = {True: [], False: []}
    for path, is_number in _changes(value):
        paths[is_number].append(path)
    if paths[True]:
        wrong = {one.path for one in problems(data, returns, path="data")}
        if lost := [path for path in paths[True] if path in wrong]:
            raise AnswerError(
                f"it returned NaN or Infinity for {lost[0]}, and Returns allows no null there"
            )
    what = {True: "NaN or Infinity became null", False: "an unpaired surrogate became U+FFFD"}
    return tuple(
        f"{what[kind][:1].upper()}{what[kind][1:]} in {found[0]}"
        + (f" and in {len(found) - 1} more places." if len(found) > 1 else ".")
        for kind, found in paths.items()
        if found
    )


_NOTHING: tuple[str, dict[str, str] | None, tuple[str, ...]] = ("", None, ())


def answer_of(tool: str, returns: Schema) -> MakeResult:
    """Build the function that turns an implementation's value into a Result.

    Any value that pydantic can write as JSON is accepted: dicts, lists, scalars, dataclasses,
    models, dates; an unpaired surrogate becomes U+FFFD, and NaN and Infinity become null, with a
    note. In an object, `message` (text) and
    `source` (texts by name) also stand on the Result; where Returns is closed and names neither,
    they stand there only. A value that does not fit Returns is the tool's fault, not the
    caller's: it is returned with a note. Raises AnswerError for a value that is not JSON.
    """
    any_object = returns.types == ("object",) and returns.enum is None and not is_bounded(returns)
    closed = all(one.properties is not None and one.values is None for one in returns.objects)
    aside = [name for name in _ASIDE if closed and not returns.of_field(name)]
    try:
        fit = fits(returns)
    except PatternError:
        fit = lambda _: False  # noqa: E731 - no value fits

    def answer(value: Any, call_id: str | None, began: float, text: bytes | None = None) -> Result:
        if text is None:
            try:
                text = write(value)
            except (ValueError, RecursionError) as error:
                raise no_json(error) from None
        message, source, notes = _NOTHING
        if not any_object or type(value) is not dict or "message" in value or "source" in value:
            data = from_json(text)
            message, source = _message_and_source(data)
            if type(data) is dict and any(name in data for name in aside):
                data = {name: item for name, item in data.items() if name not in aside}
                text = write(data)
            notes = () if fit(data) else _mismatch(data, returns)
        if b"null" in text or _REPLACED in text:
            notes = (*_repairs(value, returns, from_json(text)), *notes)
        ms = (perf_counter() - began) * 1000
        return Result(
            success=True, tool=tool, outcome="ok", message=message, data=text,
            tool_call_id=call_id, attempts=1, duration_ms=ms, notes=notes, source=source,
        )  # fmt: skip

    return answer


_ASIDE = ("message", "source")
_REPLACED = "\ufffd".encode()


def as_json(value: Any) -> Any:
    """Return the value as JSON. Raises AnswerError for what JSON can't represent."""
    try:
        return from_json(write(value))
    except (ValueError, RecursionError) as error:
        raise no_json(error) from None


def no_json(error: Exception) -> AnswerError:
    """Return the error of a value that can't be written."""
    return AnswerError(f"it returned a value that JSON can't represent: {error}")


def _mismatch(data: Any, returns: Schema) -> tuple[str, ...]:
    first, *others = problems(data, returns, path="data") or (_UNEXPLAINED,)
    more = f" (and {len(others)} more)" if others else ""
    return (f"The result is not what the tool's file says it Returns: {first.message}{more}.",)


_UNEXPLAINED = Problem("invalid_value", "data", "data does not fit")


def _message_and_source(data: Any) -> tuple[str, dict[str, str] | None]:
    if type(data) is not dict:
        return "", None
    message, source = data.get("message"), data.get("source")
    if not isinstance(source, dict) or not all(isinstance(v, str) for v in source.values()):
        source = None
    return message if isinstance(message, str) else "", source or None


_DEEPEST = 64
"""The deepest nesting in which parts are found."""


class Lifted(NamedTuple):
    """A value without its content parts."""

    value: Any
    """The value, with a reference in place of each part."""
    parts: dict[int, File]
    """The parts by their numbers, which begin with 1."""
    notes: tuple[str, ...]
    """Which parts were left out."""


def lifted(value: Any) -> Lifted | None:
    """Return a value without its content parts; None if it has none in lists and objects."""
    found: list[File] = []
    value = _lift(value, found, 0)
    if not found:
        return None
    kept: dict[int, File] = {}
    notes: list[str] = []
    for number, part in enumerate(found, 1):
        if len(part.data) > MAX_PART:
            size = len(part.data)
            notes.append(f"Part {number} of {size} bytes is left out: at most {MAX_PART} fit.")
        elif len(kept) < MAX_PARTS:
            kept[number] = part
    if (more := len(found) - len(kept) - len(notes)) > 0:
        notes.append(f"{more} content parts are left out: a result has at most {MAX_PARTS}.")
    return Lifted(value, kept, tuple(notes))


def _lift(value: Any, found: list[File], depth: int) -> Any:
    if isinstance(value, File):
        found.append(value)
        return value.reference(len(found))
    if depth < _DEEPEST:
        if isinstance(value, dict):
            return {key: _lift(item, found, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [_lift(item, found, depth + 1) for item in value]
    return value


REPLACES = "It replaces the pending call {}, which it corrects."


def denied(call: Call, denial: CallDenied, began: float) -> Result:
    """Return the Result of a call that a check denied."""
    return Result(
        success=False,
        tool=call.tool,
        outcome="denied",
        error=denial.failure,
        tool_call_id=call.id,
        duration_ms=_ms(began),
    )


def allowed(call: Call, began: float) -> Result:
    """Return the Result of a dry run that every check allowed."""
    return Result(
        success=True,
        tool=call.tool,
        outcome="allowed",
        tool_call_id=call.id,
        duration_ms=_ms(began),
    )


def waits(one: Confirmation, began: float) -> Result:
    """Return the Result of a call that waits for a person; of a stale approval with the error."""
    stale = one.code == "confirmation_stale"
    return Result(
        success=False,
        tool=one.call.tool,
        outcome=one.kind,
        message="" if stale else one.reason,
        error=Failure(one.code, one.reason) if stale else None,
        tool_call_id=one.call.id,
        duration_ms=_ms(began),
        confirmation=one,
        notes=one.notes,
    )


def answered(call: Call, text: str) -> Result:
    """Return the Result of a call that a person answered in place of the tool."""
    return Result(
        success=True,
        tool=call.tool,
        outcome="ok",
        message=text,
        data=text,
        tool_call_id=call.id,
        notes=("A person answered; the tool did not run.",),
    )


def _ms(began: float) -> float:
    return (perf_counter() - began) * 1000
