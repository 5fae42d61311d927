"""Compare annotations with a Schema, both as JSON Schema, and convert JSON values to them."""

import datetime as dt
import decimal
import inspect
import sys
import types
import typing
import uuid
from collections.abc import (
    AsyncIterable,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import suppress
from functools import cache
from typing import Any, Literal, NamedTuple

from toolmd._types.parts import File
from toolmd._types.registry import Mode
from toolmd._types.result import Result
from toolmd._types.schema import Schema
from toolmd._validation import MAX_PROBLEMS, joined
from toolmd._validation.words import type_of

if sys.version_info >= (3, 14):
    from annotationlib import Format

MAX_DEPTH = 16
"""Of types within types; deeper is taken to fit."""
Json = Mapping[str, Any]
"""A JSON Schema."""


class Mismatch(NamedTuple):
    """A value that a type does not allow."""

    what: str
    """The value, in words: `a string`."""
    wanted: str
    """What is allowed in its place."""
    partly: bool = False
    """Whether other values fit, so that only a call tells."""


def mismatch(shape: Schema, annotation: Any) -> Mismatch | None:
    """Return what of `shape` the annotation can't hold; None where it holds all.

    A shape without types says nothing that could differ.
    """
    if (not shape.types and shape.enum is None) or _is_same(shape, annotation):
        return None
    try:
        taker = _schema(annotation, "validation")
    except TypeError as error:
        return Mismatch("a value of JSON", str(error))
    return _Comparison(shape.json_schema, taker, of_python=False).unfit()


def _is_same(shape: Schema, annotation: Any) -> bool:
    """Return whether an annotation says the same as a shape at a glance, such as `str`.

    Most do, and to compare the schemas of a thousand tools takes longer than to import them.
    """
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return inner == shape.enum and {*map(type, inner)} == {str}
    if origin is list and len(inner) == 1 and shape.items is not None:
        return shape.types == ("array",) and _is_same(shape.items, inner[0])
    known = origin is None and isinstance(annotation, type) and shape.enum is None
    return known and shape.types == (_PLAIN.get(annotation),)


def unwritable(shape: Schema, annotation: Any, mode: Mode) -> Mismatch | None:
    """Return what a function of this return annotation may give that `shape` does not allow.

    None where all fits, as far as types tell; bounds, such as a pattern, are for the call.
    """
    wrappers: tuple[Any, ...] = (AsyncIterable,) if mode == "stream" else (Awaitable,)
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if isinstance(origin, type) and issubclass(origin, wrappers):
        return unwritable(shape, inner[0] if mode == "stream" else inner[-1], "sync")
    if mode == "stream" or _is_same(shape, annotation) or Result in members(annotation):
        return None
    try:
        # pydantic knows no Iterator, which a function that yields has.
        as_list = types.GenericAlias(list, inner) if origin is Iterator else annotation
        given = _schema(as_list, "serialization")
    except TypeError as error:
        return Mismatch("a value that only a call can check", str(error), partly=True)
    return _Comparison(given, shape.json_schema, of_python=True).unfit()


def signature_of(function: Any) -> inspect.Signature:
    """Return a signature; its annotations are texts where one of them can't be evaluated.

    Since Python 3.14, an annotation is evaluated when it is read, and not before: it may name
    what only type checkers import. Raises TypeError or ValueError where there is no signature.
    """
    if sys.version_info >= (3, 14):
        with suppress(Exception):
            return inspect.signature(function)
        return inspect.signature(function, annotation_format=Format.STRING)
    return inspect.signature(function)


def annotations_of(owner: Any) -> Mapping[str, Any]:
    """Return the annotations of a function or a class; texts as in `signature_of`."""
    if sys.version_info >= (3, 14):
        with suppress(Exception):
            return inspect.get_annotations(owner)
        return inspect.get_annotations(owner, format=Format.STRING)
    return inspect.get_annotations(owner)


def members(annotation: Any) -> tuple[Any, ...]:
    """Return the alternatives of a union; any other annotation is its own only one."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return tuple(m for part in typing.get_args(annotation) for m in members(part))
    return (annotation,)


def show(annotation: Any) -> str:
    """Return an annotation as its author wrote it, nearly."""
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        return annotation.__name__
    return str(annotation).replace("typing.", "")


_PLAIN: Mapping[Any, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", None: "null",
    types.NoneType: "null", dict: "object", list: "array",
}  # fmt: skip
"""The classes that have the values of JSON as they are."""


def _plain(annotation: Any) -> Json | None:
    """Return the schema of an annotation with the values of JSON; None for any other."""
    if annotation is Any or annotation is object or annotation is inspect.Parameter.empty:
        return {}
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if hasattr(annotation, "__required_keys__"):
        fields = {n: _plain(hint) for n, hint in typing.get_type_hints(annotation).items()}
        needed = sorted(annotation.__required_keys__)
        known = None not in fields.values()
        return {"type": "object", "properties": fields, "required": needed} if known else None
    if origin is None:
        known = annotation is None or isinstance(annotation, type)
        return {"type": _PLAIN[annotation]} if known and annotation in _PLAIN else None
    if origin is Literal:
        return {"enum": [*inner]} if all(type(value) in _PLAIN for value in inner) else None
    if origin not in (list, dict, typing.Union, types.UnionType):
        return None
    parts = [_plain(one) for one in (inner[1:] if origin is dict else inner)]
    if None in parts:
        return None
    if origin is list:
        return {"type": "array", "items": parts[0]}
    if origin is dict:
        return {"type": "object", "additionalProperties": parts[0]}
    return {"anyOf": parts}


def _schema(annotation: Any, mode: Literal["validation", "serialization"]) -> Json:
    """Return the JSON Schema of an annotation; one that names what is undefined allows anything.

    Raises TypeError for a type that pydantic does not know.
    """
    if (plain := _plain(annotation)) is not None:
        return plain
    # Only here: most annotations are plain, and the import takes longer than a call.
    from pydantic import PydanticUndefinedAnnotation, PydanticUserError, TypeAdapter

    try:
        adapter = TypeAdapter(annotation)
        return adapter.json_schema(
            by_alias=mode == "validation", mode=mode, schema_generator=_generator()
        )
    except (PydanticUndefinedAnnotation, NameError):
        return {}
    except Exception as error:
        code = error.code if isinstance(error, PydanticUserError) else None
        # Python 3.11 has TypedDicts that pydantic can write and not read.
        written = code == "typed-dict-version" and mode == "serialization"
        if written or code == "class-not-fully-defined":
            return {}
        raise TypeError(f"a type that pydantic knows, unlike `{show(annotation)}`") from error


@cache
def _generator() -> Any:
    from pydantic.json_schema import GenerateJsonSchema

    class TypeSchema(GenerateJsonSchema):
        """Write also what pydantic's own JSON Schema leaves out."""

        def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: FBT001 - pydantic's
            """Check whether a value always has a field: where it is written, a default stands."""
            written = self.mode == "serialization" and field["type"] != "typed-dict-field"
            return written or super().field_is_required(field, total)

        def timedelta_schema(self, schema: Any) -> Any:
            """Return the schema of a duration, which may be read from seconds."""
            return self._or_number(super().timedelta_schema(schema))

        def datetime_schema(self, schema: Any) -> Any:
            """Return the schema of a moment, which may be read from seconds."""
            return self._or_number(super().datetime_schema(schema))

        def is_instance_schema(self, schema: Any) -> Any:
            """Return the schema of a content part: an object stands in its place."""
            if issubclass(schema["cls"], File):
                return {"type": "object"}
            return super().is_instance_schema(schema)

        def _or_number(self, schema: Any) -> Any:
            read = self.mode == "validation"
            return {"anyOf": [schema, {"type": "number"}]} if read else schema

    return TypeSchema


_ARTICLES: Mapping[str, str] = {
    "string": "a string", "number": "a number", "integer": "an integer", "boolean": "a boolean",
    "object": "an object", "array": "an array", "null": "null",
}  # fmt: skip
_EVERY: Mapping[str, list[Any]] = {"boolean": [True, False], "null": [None]}
"""The types with few values."""
_FORMATS = frozenset({"date", "time", "date-time", "uuid"})
_BESIDE = frozenset({"message", "source"})
"""What a closed Returns need not name: it stands on the Result."""


class _Comparison:
    """What one schema gives, against what another takes; one of them is an annotation's."""

    def __init__(self, given: Json, taker: Json, *, of_python: bool) -> None:
        """With `of_python` an annotation gives: it names types, and no bounds of their values."""
        self._given = given
        self._taker = taker
        self._of_python = of_python
        self._defs = {**given.get("$defs", {}), **taker.get("$defs", {})}

    def unfit(self) -> Mismatch | None:
        return self._unfit(self._given, self._taker, 0)

    def _choices(self, schema: Any) -> Iterator[Json]:
        """Yield the alternatives of a schema; one without a type may be anything."""
        if schema is True or schema is False:
            schema = {}
        if "$ref" in schema:
            schema = self._defs[schema["$ref"].rpartition("/")[2]]
        if parts := schema.get("anyOf") or schema.get("oneOf"):
            for part in parts:
                yield from self._choices(part)
        elif "enum" in schema or "const" in schema:
            values = schema.get("enum", [schema.get("const")])
            for kind in dict.fromkeys(map(type_of, values)):
                yield {"type": kind, "enum": [v for v in values if type_of(v) == kind]}
        else:
            kinds = schema.get("type")
            for kind in kinds if isinstance(kinds, list) else (kinds,):
                yield {**schema, "type": kind}

    def _unfit(self, given: Json, taker: Json, depth: int) -> Mismatch | None:
        choices, takers = [*self._choices(given)], [*self._choices(taker)]
        if depth > MAX_DEPTH or any(one["type"] is None for one in (*choices, *takers)):
            return None
        wrong = [found for one in choices if (found := self._nearest(one, takers, depth))]
        if not wrong:
            return None
        some_fit = len(wrong) < len(choices) or any(found.partly for found in wrong)
        return wrong[0]._replace(partly=some_fit)

    def _nearest(self, given: Json, takers: Sequence[Json], depth: int) -> Mismatch | None:
        """Return why none of these takes the values of one type; None where one does."""
        alike = {given["type"]} | ({"number"} if given["type"] == "integer" else set())
        fitting = [one for one in takers if one["type"] in alike]
        if not fitting:
            wanted = " or ".join(dict.fromkeys(_ARTICLES[one["type"]] for one in takers))
            if given["type"] == "number" and "integer" in {one["type"] for one in takers}:
                return Mismatch("a number with a fraction, such as 2.5", wanted, partly=True)
            what = given.get("enum") and ", ".join(map(repr, given["enum"][:3]))
            return Mismatch(what or _ARTICLES[given["type"]], wanted)
        found = [self._alike(given, one, depth) for one in fitting]
        return None if None in found else max(filter(None, found), key=lambda one: one.partly)

    def _alike(self, given: Json, taker: Json, depth: int) -> Mismatch | None:
        """Compare two schemas of one type."""
        kind, most = given["type"], given.get("enum") or _EVERY.get(given["type"])
        if "enum" in taker:
            wanted = ", ".join(map(repr, taker["enum"]))
            if most is None:
                return None if self._of_python else Mismatch(f"every {kind}", wanted, partly=True)
            lacking = [value for value in most if value not in taker["enum"]]
            partly, what = len(lacking) < len(most), ", ".join(map(repr, lacking[:3]))
            return Mismatch(what, wanted, partly) if lacking else None
        if kind == "array" and "prefixItems" not in taker:
            return self._items(given, taker, depth)
        if kind == "object":
            found = [*self._object(given, taker, depth)]
            return min(found, key=lambda one: one.partly, default=None)
        own, other = given.get("format"), taker.get("format")
        if self._of_python and own != other and {own, other} <= _FORMATS:
            return Mismatch(f"a text of format {own}", f"format {other}")
        return None

    def _items(self, given: Json, taker: Json, depth: int) -> Mismatch | None:
        for item in given.get("prefixItems", [given.get("items", {})]):
            if found := self._unfit(item, taker.get("items", {}), depth + 1):
                return found._replace(what=f"{found.what} among the items")
        return None

    def _object(self, given: Json, taker: Json, depth: int) -> Iterator[Mismatch]:
        fields, wanted = given.get("properties", {}), taker.get("properties", {})
        rest, open_ = _rest(given), _rest(taker)
        certain = given.get("required", ())
        for name, field in fields.items():
            known = wanted.get(name, open_)
            optional = self._of_python and name not in certain
            if known is False:
                if not self._of_python or depth or name not in _BESIDE:
                    yield Mismatch(f"an object with `{name}`", "no such field", optional)
            elif found := self._unfit(field, known, depth + 1):
                yield _at(name, found._replace(partly=found.partly or optional))
        needed = [n for n in taker.get("required", ()) if "default" not in wanted.get(n, {})]
        if rest is False:
            for name in needed:
                if name not in certain and "default" not in fields.get(name, {}):
                    yield Mismatch(f"an object without `{name}`", f"`{name}`", name in fields)
        elif not wanted:
            if open_ is not False and (found := self._unfit(rest, open_, depth + 1)):
                yield found
        elif self._of_python:
            # One type stands for all the values: of each field it need hold something.
            for name in needed:
                found = self._unfit(rest, wanted[name], depth + 1)
                if found is not None and not found.partly:
                    yield _at(name, found)


def _rest(schema: Json) -> Any:
    """Return the schema of the fields that an object does not name; False where it has no other."""
    rest = schema.get("additionalProperties", "properties" not in schema)
    return {} if rest is True else rest


def _at(name: str, found: Mismatch) -> Mismatch:
    return found._replace(what=f"{found.what} as `{name}`")


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
            from pydantic import TypeAdapter

            self._validate = TypeAdapter(self._annotation).validate_python
        return self._validate(value)


def converter(shape: Schema, annotation: Any, *, fits: bool) -> Callable[[Any], Any] | None:
    """Return a function that converts values of `shape` to the annotation; None if not needed.

    `fits` says that the annotation holds all values of `shape`, as `mismatch` finds.
    """
    if annotation is float:
        # A whole number comes as an int, and an int lacks some methods of a float.
        return None if shape.types == ("integer",) else _as_float
    plain = _plain(annotation)
    as_it_is = plain is not None and "'type': 'number'" not in str(plain)
    return None if as_it_is and fits else Converter(annotation)


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
