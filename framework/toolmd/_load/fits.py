"""Compare Python annotations with a Schema, and convert JSON values to them."""

import datetime as dt
import decimal
import enum
import types
import typing
import uuid
from collections import deque
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
)
from collections.abc import Set as AbstractSet
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

from toolmd._load.annotations import (
    RecordField,
    anything,
    bare,
    fields,
    hints,
    is_typed_dict,
    members,
    show,
)
from toolmd._types.schema import JSON_TYPES, JsonType, Schema
from toolmd._validation import MAX_PROBLEMS, joined

MAX_DEPTH = 16
"""Of types within types; deeper is taken to fit."""


class Mismatch(NamedTuple):
    """Why an annotation can't hold a value."""

    why: str
    """`` `int` can't hold a string ``."""
    partly: bool = False
    """Whether some values fit all the same, and a call tells the others apart."""


ARTICLES: dict[JsonType, str] = {
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "a boolean",
    "object": "an object",
    "array": "an array",
    "null": "null",
}
_TEXTS = (str, bytes, dt.date, dt.time, dt.timedelta, uuid.UUID, PurePath)
_NUMBERS = (float, complex, decimal.Decimal, dt.datetime, dt.timedelta)
_SEQUENCES = (
    list, tuple, set, frozenset, deque,
    Sequence, MutableSequence, Collection, Iterable, AbstractSet,
)  # fmt: skip
_MAPPINGS = (dict, Mapping, MutableMapping, Collection, Iterable)
_STANDARD = (*_TEXTS, *_NUMBERS, *_SEQUENCES, *_MAPPINGS, int, bool, types.NoneType)


def mismatch(shape: Schema, annotation: Any, depth: int = 0) -> Mismatch | None:
    """Report what of `shape` the annotation can't hold; None where it holds all.

    What the markdown leaves open (any type, an array without Items) is never a mismatch.
    """
    choices = members(annotation)
    if depth > MAX_DEPTH or any(anything(choice) for choice in choices):
        return None
    found = None
    for kind, one in _kinds(shape):
        reasons = [_stricter(kind, one, choice, depth) for choice in choices]
        if None in reasons:
            continue
        best = max((r for r in reasons if r is not None), key=lambda r: r.partly)
        if not best.partly:
            return best
        found = found or best
    return found


def _kinds(shape: Schema) -> Iterator[tuple[JsonType, Schema]]:
    """Yield each JSON type of a shape; objects once for each shape of One Of."""
    for kind in kinds_of(shape):
        yield from ((kind, one) for one in (shape.objects if kind == "object" else (shape,)))


def adapter(annotation: Any) -> Callable[[Any], Any]:
    """Build pydantic's conversion into the annotation; raises what pydantic has against it."""
    from pydantic import TypeAdapter

    return TypeAdapter(annotation).validate_python


def kinds_of(shape: Schema) -> tuple[JsonType, ...]:
    """Return the JSON types that a shape allows; none where it allows all."""
    if shape.enum is None or shape.types:
        return shape.types
    kinds = {_kind_of(value) for value in shape.enum}
    return tuple(kind for kind in JSON_TYPES if kind in kinds)


def _kind_of(value: Any) -> JsonType:
    # In this order, since a bool is an int.
    for held, kind in _PYTHON.items():
        if isinstance(value, held):
            return kind
    return "object"


_PYTHON: dict[type, JsonType] = {
    types.NoneType: "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
}


def _stricter(kind: JsonType, shape: Schema, choice: Any, depth: int) -> Mismatch | None:
    """Keep one JSON type of the shape against one alternative of the annotation."""
    origin = typing.get_origin(choice) or choice
    if origin is Literal:
        return _among(kind, shape, typing.get_args(choice), choice)
    if isinstance(origin, type) and issubclass(origin, enum.Enum):
        return _among(kind, shape, tuple(member.value for member in origin), choice)
    if kind == "array" and origin in _SEQUENCES:
        return _items(shape, choice, depth)
    if kind == "object" and origin in _MAPPINGS:
        return _entries(shape, choice, depth)
    if kind == "object" and (known := fields(origin)) is not None:
        return _record(shape, origin, known, depth)
    if kind == "number" and origin is int and not _whole(shape):
        return Mismatch("`int` can't hold a number with a fraction, such as 2.5", partly=True)
    if _holds_scalar(kind, origin) or _made_by_pydantic(kind, origin):
        return None
    return Mismatch(f"`{show(choice)}` can't hold {ARTICLES[kind]}")


def _holds_scalar(kind: JsonType, origin: Any) -> bool:
    match kind:
        case "null":
            return origin is None or origin is types.NoneType
        case "string":
            text = isinstance(origin, type) and issubclass(origin, _TEXTS)
            return text or origin is decimal.Decimal
        case "boolean":
            return origin is bool
        case "integer" | "number":
            return origin is int or origin in _NUMBERS
        case _:
            return False


def _whole(shape: Schema) -> bool:
    return shape.enum is not None and all(isinstance(value, int) for value in shape.enum)


def _among(kind: JsonType, shape: Schema, values: tuple[Any, ...], choice: Any) -> Mismatch | None:
    """Keep a closed set of values, of a Literal or an Enum, against the shape's own."""
    kept = [v for v in values if _kind_of(v) in (kind, "integer" if kind == "number" else kind)]
    every = {"null": 1, "boolean": 2}.get(kind)
    if every is not None and len(set(kept)) == every:
        return None
    if not kept:
        return Mismatch(f"`{show(choice)}` can't hold {ARTICLES[kind]}")
    if shape.enum is None:
        return Mismatch(f"`{show(choice)}` can't hold every {kind}, and the markdown has no Enum")
    asked = [value for value in shape.enum if _kind_of(value) == kind]
    lacking = [value for value in asked if value not in kept]
    if not lacking:
        return None
    return Mismatch(f"`{show(choice)}` can't hold {', '.join(map(repr, lacking))}")


def _items(shape: Schema, choice: Any, depth: int) -> Mismatch | None:
    inner = typing.get_args(choice)
    pair = typing.get_origin(choice) is tuple and inner[1:] != (...,)
    if shape.items is None or not inner or pair:
        return None
    found = mismatch(shape.items, inner[0], depth + 1)
    return found and found._replace(why=f"{found.why} among the items")


def _entries(shape: Schema, choice: Any, depth: int) -> Mismatch | None:
    match typing.get_args(choice):
        case (_, value):
            pass
        case _:
            return None
    if shape.values is not None:
        return mismatch(shape.values, value, depth + 1)
    for parameter in shape.properties or ():
        if found := mismatch(parameter.shape, value, depth + 1):
            return found._replace(why=f"{found.why} as `{parameter.name}`")
    return None


def _record(
    shape: Schema, record: type, known: Mapping[str, RecordField], depth: int
) -> Mismatch | None:
    """Keep the properties of an object against the fields of a class, by name."""
    if shape.properties is None:
        return None
    properties = {p.name: p for p in shape.properties}
    for name, field in known.items():
        found = properties.get(name)
        certain = found is not None and (found.required or found.shape.has_default)
        if field.needed and not certain:
            return Mismatch(f"`{record.__name__}` needs `{name}`, which may be missing")
        if found and (inner := mismatch(found.shape, field.annotation, depth + 1)):
            return inner._replace(why=f"{inner.why} as `{record.__name__}.{name}`")
    lacking = [name for name in properties if name not in known]
    return Mismatch(f"`{record.__name__}` has no field `{lacking[0]}`") if lacking else None


def _made_by_pydantic(kind: JsonType, origin: Any) -> bool:
    """Return whether a class of someone else's can be made of JSON, as far as pydantic knows."""
    if kind == "null" or not isinstance(origin, type):
        return False
    if origin in _STANDARD or fields(origin) is not None:
        return False
    try:
        adapter(origin)
    except Exception:  # noqa: BLE001 - pydantic has several errors for a class that it can't make
        return False
    return True


_LISTS = (list, Sequence, MutableSequence, Collection, Iterable)
_DICTS = (dict, Mapping, MutableMapping)


_WORDS: dict[Any, str] = {
    dt.datetime: "an ISO 8601 date and time such as 2026-03-05T09:00:00",
    dt.date: "an ISO 8601 date such as 2026-03-05",
    dt.time: "an ISO 8601 time such as 09:00",
    dt.timedelta: "an ISO 8601 duration such as PT15M",
    uuid.UUID: "a UUID such as 6f1c2a0e-8f0b-4c1e-9d57-0a4be1f0c9d2",
    decimal.Decimal: "a decimal number",
    int: "a whole number",
    float: "a number",
    str: "text",
    types.NoneType: "null",
}


_OF_THE_AUTHOR = frozenset(("value_error", "assertion_error"))
"""The errors of pydantic whose message the author of a class wrote."""


class Converter:
    """Converts a JSON value to the annotated type, with a pydantic adapter built on first use.

    Raises ValueError where the value can't become the type.
    """

    __slots__ = ("_annotation", "_validate")

    def __init__(self, annotation: Any) -> None:
        self._annotation = annotation
        self._validate: Callable[[Any], Any] | None = None

    @property
    def wanted(self) -> str:
        """The expected value, in words that a model can act on."""
        words = [_WORDS.get(m) or f"a value for {show(m)}" for m in members(self._annotation)]
        return " or ".join(words)

    def reasons(self, error: ValueError, value: Any, path: str) -> list[tuple[str, str]]:
        """Return where a value breaks a constraint of its class, and in a sentence why.

        Args:
            error: what the conversion raised.
            value: the JSON value.
            path: the place of the value, with which the places begin.
        """
        from pydantic import ValidationError

        if not isinstance(error, ValidationError):
            return []
        found = error.errors(include_url=False, include_input=False, include_context=False)
        return [
            (at := _place(one["loc"], value, path), at + _reason(one["msg"]))
            for one in found[:MAX_PROBLEMS]
            if one["loc"] or one["type"] in _OF_THE_AUTHOR
        ]

    def __call__(self, value: Any) -> Any:
        if self._validate is None:
            self._validate = adapter(self._annotation)
        return self._validate(value)


def converter(shape: Schema, annotation: Any) -> Callable[[Any], Any] | None:
    """Return a function that converts values of `shape` to the annotation; None if not needed."""
    if annotation is float:
        # A whole number comes as an int, and an int lacks some methods of a float.
        return None if shape.types == ("integer",) else _as_float
    if is_plain(annotation) and mismatch(shape, annotation) is None:
        return None
    return Converter(annotation)


def is_plain(annotation: Any, depth: int = 0) -> bool:
    """Return whether a matching JSON value needs no conversion for this annotation."""
    if depth > MAX_DEPTH:
        return True
    if typing.get_origin(bare(annotation)) is typing.Annotated:
        return False
    return all(_plain_one(member, depth) for member in members(annotation))


def _plain_one(member: Any, depth: int) -> bool:
    origin = typing.get_origin(member) or member
    arguments = typing.get_args(member)
    if anything(member) or member in (str, int, bool, None, types.NoneType):
        return True
    if origin is Literal:
        return not any(isinstance(value, enum.Enum | bytes) for value in arguments)
    if origin in (*_LISTS, *_DICTS):
        return all(is_plain(inner, depth + 1) for inner in arguments)
    if is_typed_dict(origin):
        return all(is_plain(hint, depth + 1) for hint in hints(origin).values())
    return False


def _place(steps: tuple[int | str, ...], value: Any, path: str) -> str:
    """Return the path to a part of a value; steps that only pydantic knows are left out."""
    for at, step in enumerate(steps):
        if isinstance(step, int):
            path = f"{path}[{step}]"
            value = value[step] if isinstance(value, list) and step < len(value) else None
        elif isinstance(value, Mapping) and (step in value or at == len(steps) - 1):
            path, value = joined(path, step), value.get(step)
    return path


def _reason(message: str) -> str:
    for start in ("Value error, ", "Assertion failed, "):
        message = message.removeprefix(start)
    return message.removeprefix("Input") if message.startswith("Input should") else f": {message}"


def _as_float(value: Any) -> Any:
    return float(value) if type(value) is int else value
