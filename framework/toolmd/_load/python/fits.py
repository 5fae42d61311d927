"""Return whether a Python annotation can hold what a Schema allows."""

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

from toolmd._load.python.annotations import RecordField, anything, fields, members, show
from toolmd._types.schema import JSON_TYPES, JsonType, Schema

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
