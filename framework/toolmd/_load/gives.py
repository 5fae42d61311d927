"""Check whether what a Python annotation gives, written as JSON, fits a Schema."""

import datetime as dt
import decimal
import enum
import inspect
import re
import types
import typing
import uuid
from collections import deque
from collections.abc import (
    AsyncIterable,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    MutableMapping,
)
from pathlib import PurePath
from typing import Any, Literal

from toolmd._load.annotations import (
    RecordField,
    anything,
    given_fields,
    hints,
    members,
    show,
)
from toolmd._load.fits import ARTICLES, MAX_DEPTH, Mismatch, kinds_of
from toolmd._types.parts import File
from toolmd._types.registry import Mode
from toolmd._types.result import Result
from toolmd._types.schema import JsonType, Parameter, Schema
from toolmd._validation import PatternError, fits

_ANYTHING = Schema()
_BESIDE = frozenset({"message", "source"})
"""What a closed Returns need not name: it stands on the Result."""
_FORMATS: Mapping[type, str] = {dt.datetime: "date-time", dt.date: "date", dt.time: "time",
                                uuid.UUID: "uuid"}  # fmt: skip
_NO_JSON: tuple[Any, ...] = (bytes, bytearray, memoryview, AsyncIterable, Awaitable, Callable)
_KINDS: tuple[tuple[tuple[Any, ...], JsonType], ...] = (
    ((types.NoneType,), "null"),
    ((bool,), "boolean"),
    ((int,), "integer"),
    ((float,), "number"),
    ((str, complex, decimal.Decimal, dt.date, dt.time, dt.timedelta, uuid.UUID, PurePath,
      re.Pattern), "string"),
    ((dict, File), "object"),
    ((list, tuple, set, frozenset, deque, types.GeneratorType), "array"),
)  # fmt: skip
"""The JSON types of Python's classes; a bool is an int, so it stands before.

An object stands in the result for a file, such as an image."""


def unwritable(shape: Schema, annotation: Any, mode: Mode) -> Mismatch | None:
    """Return what a function of this return annotation may give that `shape` does not allow.

    None where all fits, as far as types tell; bounds, such as a pattern, are for the call.
    """
    wrappers: tuple[Any, ...] = (AsyncIterable,) if mode == "stream" else (Awaitable,)
    origin = typing.get_origin(annotation)
    if isinstance(origin, type) and issubclass(origin, wrappers):
        inner = typing.get_args(annotation)
        annotation = (inner[0] if mode == "stream" else inner[-1]) if inner else Any
    elif mode == "stream":
        return None
    return _unfit(shape, annotation, 0)


def _unfit(shape: Schema, annotation: Any, depth: int) -> Mismatch | None:
    choices = members(annotation)
    if depth > MAX_DEPTH or any(anything(choice) for choice in choices):
        return None
    wrong = [found for choice in choices if (found := _one(shape, choice, depth)) is not None]
    if not wrong:
        return None
    some_fit = len(wrong) < len(choices) or any(found.partly for found in wrong)
    return wrong[0]._replace(partly=some_fit)


def _one(shape: Schema, choice: Any, depth: int) -> Mismatch | None:
    origin = typing.get_origin(choice) or choice
    if origin is Literal:
        return _among(shape, typing.get_args(choice), choice)
    if isinstance(origin, type) and issubclass(origin, enum.Enum):
        return _among(shape, tuple(member.value for member in origin), choice)
    if choice in (typing.Never, typing.NoReturn) or origin is Result:
        return None
    kind = _kind(origin)
    if kind is None:
        return None if _is_open(origin) else Mismatch(f"`{show(choice)}` can't be written as JSON")
    allowed = kinds_of(shape)
    if allowed and kind not in allowed and not (kind == "integer" and "number" in allowed):
        if kind == "number" and "integer" in allowed:
            return Mismatch("`float` may give a number with a fraction, such as 2.5", partly=True)
        words = " or ".join(ARTICLES[one] for one in allowed)
        return Mismatch(f"`{show(choice)}` gives {ARTICLES[kind]}, and the markdown says {words}")
    if kind == "array":
        return _items(shape, choice, origin, depth)
    if kind == "object":
        unfit = [_object(one, choice, origin, depth) for one in shape.objects]
        return min(unfit, key=lambda one: (one is not None, one is not None and not one.partly))
    return _format(shape, choice, origin) if kind == "string" else None


def _kind(origin: Any) -> JsonType | None:
    """Return the JSON type of what a class gives; None where it has none, or nobody knows."""
    if origin is None:
        return "null"
    if origin in (Mapping, MutableMapping):
        return "object"
    if not isinstance(origin, type) or issubclass(origin, _NO_JSON):
        return None
    for classes, kind in _KINDS:
        if issubclass(origin, classes):
            return kind
    if given_fields(origin) is not None:
        return "object"
    if origin.__module__ in ("ipaddress", "pydantic.networks", "pydantic_core._pydantic_core"):
        return "string"
    abstract = origin.__module__ == "collections.abc"
    return "array" if abstract and issubclass(origin, Iterable) else None


def _is_open(origin: Any) -> bool:
    """Check whether a class may give JSON of which its annotation tells nothing."""
    if not isinstance(origin, type):
        return True
    if issubclass(origin, _NO_JSON):
        return False
    known = hasattr(origin, "__pydantic_serializer__") or getattr(origin, "_is_protocol", False)
    return known or inspect.isabstract(origin)


def _among(shape: Schema, values: tuple[Any, ...], choice: Any) -> Mismatch | None:
    """Check each of a closed set of values, of a Literal or an Enum."""
    try:
        fit = fits(shape)
    except PatternError:
        return None
    lacking = [value for value in values if not fit(value)]
    if not lacking:
        return None
    words = ", ".join(map(repr, lacking[:3]))
    return Mismatch(
        f"`{show(choice)}` may give {words}, which the markdown does not allow",
        partly=len(lacking) < len(values),
    )


def _format(shape: Schema, choice: Any, origin: Any) -> Mismatch | None:
    own = next((said for kind, said in _FORMATS.items() if issubclass(origin, kind)), None)
    if own is None or shape.format not in _FORMATS.values() or shape.format == own:
        return None
    return Mismatch(f"`{show(choice)}` is written as {own}, and the markdown says {shape.format}")


def _items(shape: Schema, choice: Any, origin: type, depth: int) -> Mismatch | None:
    inner = typing.get_args(choice)
    if issubclass(origin, tuple) and not inner:
        inner = tuple(hints(origin).values()) if hasattr(origin, "_fields") else ()
    elif not issubclass(origin, tuple):
        inner = inner[:1]
    for annotation in inner:
        if annotation is ...:
            continue
        if found := _unfit(shape.items or _ANYTHING, annotation, depth + 1):
            return found._replace(why=f"{found.why} among the items")
    return None


def _object(shape: Schema, choice: Any, origin: type, depth: int) -> Mismatch | None:
    if (known := given_fields(origin)) is not None:
        return _record(shape, origin, known, depth)
    match typing.get_args(choice):
        case (_, value):
            pass
        case _:
            return None
    if shape.properties is None:
        return _unfit(shape.values or _ANYTHING, value, depth + 1)
    for parameter in shape.properties:
        found = _unfit(parameter.shape, value, depth + 1)
        # One type stands for all the values: of each property it need hold something.
        if found is not None and not found.partly and _is_certain(parameter):
            return found._replace(why=f"{found.why} as `{parameter.name}`")
    return None


def _record(
    shape: Schema, record: type, known: Mapping[str, RecordField], depth: int
) -> Mismatch | None:
    """Check the fields of a class against the properties of an object, by name."""
    name, open_ = record.__name__, shape.properties is None
    properties = {p.name: p for p in shape.properties or ()}
    found: list[Mismatch] = []
    for own, field in known.items():
        wanted = properties[own].shape if own in properties else shape.values
        if wanted is None and not open_ and (depth or own not in _BESIDE):
            said = f"`{name}` gives `{own}`, which the markdown does not name"
            found.append(Mismatch(said, partly=not field.needed))
        elif inner := _unfit(wanted or _ANYTHING, field.annotation, depth + 1):
            found.append(inner._replace(why=f"{inner.why} as `{name}.{own}`"))
    for parameter in filter(_is_certain, properties.values()):
        if parameter.name not in known:
            found.append(Mismatch(f"`{name}` has no field `{parameter.name}`"))
        elif not known[parameter.name].needed:
            said = f"`{name}` may lack `{parameter.name}`, which the markdown requires"
            found.append(Mismatch(said, partly=True))
    return min(found, key=lambda one: one.partly, default=None)


def _is_certain(parameter: Parameter) -> bool:
    return parameter.required and not parameter.shape.has_default
