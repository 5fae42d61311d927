"""Build the Result of an implementation's value, or of a call that did not run."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from time import perf_counter
from typing import Any, NamedTuple

from pydantic_core import SchemaSerializer, from_json
from pydantic_core.core_schema import any_schema

from toolmd._call.denial import CallDenied
from toolmd._types.call import Call
from toolmd._types.confirmation import Confirmation
from toolmd._types.parts import MAX_PART, MAX_PARTS, File
from toolmd._types.result import NO_PARTS, Failure, Result
from toolmd._types.schema import Schema
from toolmd._types.verdict import Problem
from toolmd._validation import PatternError, fits, is_bounded, problems


class AnswerError(ValueError):
    """An implementation returned a value that is no result; the message names it."""


MakeResult = Callable[..., Result]
"""Builds the Result of a value for the call with this id that began then (`perf_counter`)."""

_ANY = SchemaSerializer(any_schema(), {"ser_json_inf_nan": "null"})
_AS_IT_IS = SchemaSerializer(any_schema(), {"ser_json_inf_nan": "constants"})
"""Writes NaN as such, so that it is found in the text."""
_UNWRITABLE = (ValueError, RecursionError)
_SCALARS = frozenset((str, int, float, bool, type(None)))
_DEEPEST = 64
"""The deepest nesting that a repair and the search for parts keep."""


def write(value: Any) -> bytes:
    """Return the value as JSON without white space, in UTF-8; what JSON can't hold is repaired."""
    try:
        return _ANY.to_json(value)
    except _UNWRITABLE:
        return _ANY.to_json(_Repair().of(value, "data"))


def as_json(value: Any) -> Any:
    """Return the value as JSON values."""
    return from_json(write(value))


def as_plain(value: Any) -> Any:
    """Return the value as lists, objects and scalars, or itself where a part is none of these."""
    try:
        return _ANY.to_python(value, mode="json")
    except _UNWRITABLE:
        return value


def _has_plain_keys(value: Any) -> bool:
    """Return whether no two keys in a value can be written alike."""
    if type(value) is dict:
        for key, item in value.items():
            if type(key) is not str or not (type(item) in _SCALARS or _has_plain_keys(item)):
                return False
    elif type(value) is list:
        for item in value:
            if type(item) not in _SCALARS and not _has_plain_keys(item):
                return False
    else:
        return type(value) in _SCALARS
    return True


class _Repair:
    """Repairs what JSON can't hold in one value, and keeps the place of each repair."""

    def __init__(self, *, is_written: bool = False) -> None:
        """With `is_written`, the value was read once: its iterators have ended."""
        self._is_written = is_written
        self.paths: dict[tuple[str, str], list[str]] = {}
        """The paths by what was there, and by what it became."""
        self._within: set[int] = set()

    def of(self, value: Any, path: str) -> Any:
        """Return a value with the repairs; `path` is its place."""
        if isinstance(value, str):
            whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return whole if whole == value else self._became(path, "an unpaired surrogate", whole)
        if isinstance(value, bytes | bytearray):
            text = bytes(value).decode(errors="replace")
            if text.encode() == value:
                return text
            return self._became(path, "a sequence of bytes that is not UTF-8", text)
        if value is None or isinstance(value, int):
            return value
        if isinstance(value, float):
            return value if isfinite(value) else self._became(path, "NaN or Infinity")
        if id(value) in self._within or len(self._within) == _DEEPEST:
            return self._became(path, "a value that contains itself or nests too deep")
        self._within.add(id(value))
        try:
            return self._inside(value, path)
        finally:
            self._within.discard(id(value))

    def notes(self) -> tuple[str, ...]:
        """Return a note on each kind of repair."""
        return tuple(
            f"{what[:1].upper()}{what[1:]} became {became} in {found[0]}"
            + (f" and in {len(found) - 1} more places." if len(found) > 1 else ".")
            for (what, became), found in self.paths.items()
        )

    def check(self, data: Any, returns: Schema) -> None:
        """Raise AnswerError for a null that Returns does not allow."""
        wrong = {one.path for one in problems(data, returns, path="data")}
        for (what, became), found in self.paths.items():
            for path in wrong.intersection(found) if became == "null" else ():
                told = f"it returned {what} for {path}, and Returns allows no null there"
                raise AnswerError(told)

    def _became(self, path: str, what: str, now: str | None = None, became: str = "") -> Any:
        kind = (what, became or ("null" if now is None else "U+FFFD"))
        self.paths.setdefault(kind, []).append(path)
        return now

    def _inside(self, value: Any, path: str) -> Any:
        if isinstance(value, dict):
            whole: dict[str, Any] = {}
            for key, item in value.items():
                name = self._key(key, path)
                if name in whole:
                    self._became(f"{path}.{name}", "two keys that JSON writes alike", "", "one")
                whole[name] = self.of(item, f"{path}.{name}")
            return whole
        if isinstance(value, list | tuple | set | frozenset):
            return [self.of(item, f"{path}[{at}]") for at, item in enumerate(value)]
        if isinstance(value, Iterator) and self._is_written:
            return None
        if isinstance(value, Iterator):
            self._became(path, "an iterator that was read in part", "", "its last items")
            return self.of([*value], path)
        try:
            plain = _ANY.to_python(value)
            if type(plain) is type(value):
                plain = _ANY.to_python(value, mode="json")
        except _UNWRITABLE:
            try:
                plain = _fields_of(value)
            except Exception:  # noqa: BLE001 - an object's own code may raise anything
                return self._became(path, f"an object of the type {type(value).__name__}")
        return self.of(plain, path)

    def _key(self, key: Any, path: str) -> str:
        if isinstance(key, str):
            return str(self.of(key, path))
        try:
            (name,) = from_json(_ANY.to_json({key: None}))
        except _UNWRITABLE:
            name = type(key).__name__
            self._became(path, f"a key of the type {name}", "", "a text")
        return str(name)


def _fields_of(value: Any) -> dict[Any, Any]:
    """Return the fields of an object that can't be written; raises TypeError without any."""
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return dict(value)


_NOTHING: tuple[str, dict[str, str] | None, tuple[str, ...]] = ("", None, ())


def answer_of(tool: str, returns: Schema) -> MakeResult:
    """Build the function that turns an implementation's value into a Result.

    Any value is accepted: dicts, lists, scalars, dataclasses, models, dates, and content parts
    in lists and objects. What JSON can't hold is repaired, and a note names it. In an object,
    `message` (text) and
    `source` (texts by name) also stand on the Result; where Returns is closed and names neither,
    they stand there only. A value that does not fit Returns is the tool's fault, not the
    caller's: it is returned with a note. Raises AnswerError where a repair left a null that
    Returns does not allow.
    """
    any_object = returns.types == ("object",) and returns.enum is None and not is_bounded(returns)
    closed = all(one.properties is not None and one.values is None for one in returns.objects)
    aside = [name for name in _ASIDE if closed and not returns.of_field(name)]
    try:
        fit = fits(returns)
    except PatternError:
        fit = lambda _: False  # noqa: E731 - no value fits

    def answer(value: Any, call_id: str | None, began: float) -> Result:
        text, parts, left_out, repair = _write_value(value)
        message, source, notes = _NOTHING
        if not any_object or type(value) is not dict or "message" in value or "source" in value:
            data = from_json(text)
            message, source = _message_and_source(data)
            if type(data) is dict and any(name in data for name in aside):
                data = {name: item for name, item in data.items() if name not in aside}
                text = write(data)
            notes = () if fit(data) else _mismatch(data, returns)
        if repair is not None:
            repair.check(from_json(text), returns)
            notes = (*repair.notes(), *notes)
        ms = (perf_counter() - began) * 1000
        result = Result(
            success=True, tool=tool, outcome="ok", message=message, data=text,
            tool_call_id=call_id, attempts=1, duration_ms=ms,
        )  # fmt: skip
        if notes or left_out or source or parts:
            return result._replace(notes=notes + left_out, source=source, parts=parts)
        return result

    return answer


_ASIDE = ("message", "source")


_JsonText = tuple[bytes, Mapping[int, File], tuple[str, ...], _Repair | None]
"""A JSON text, its content parts, the notes on parts that were left out, and the repairs."""


def _write_value(value: Any) -> _JsonText:
    """Return a value as JSON, with its content parts and the repairs."""
    text = b""
    if type(value) is not dict and isinstance(value, Iterator):
        value = [*value]  # Its function may fail in it.
    try:
        text = _AS_IT_IS.to_json(value)
    except _UNWRITABLE:
        # Only a value that can't be written may have parts.
        value, parts, left_out = lift_parts(value) or (value, NO_PARTS, ())
    else:
        parts, left_out = NO_PARTS, ()
        holds_nan = b"NaN" in text or b"Infinity" in text
        if not holds_nan and _has_plain_keys(value):
            return text, NO_PARTS, (), None
        written = len(text)
        text = _ANY.to_json(from_json(text))
        if not holds_nan and len(text) == written:
            return text, NO_PARTS, (), None
    repair = _Repair(is_written=bool(text))
    repaired = repair.of(value, "data")
    return text or _ANY.to_json(repaired), parts, left_out, repair if repair.paths else None


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


class WithoutParts(NamedTuple):
    """A value without its content parts."""

    value: Any
    """The value, with a reference in place of each part."""
    parts: dict[int, File]
    """The parts by their numbers, which begin with 1."""
    notes: tuple[str, ...]
    """Which parts were left out."""


def lift_parts(value: Any) -> WithoutParts | None:
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
    return WithoutParts(value, kept, tuple(notes))


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
