"""Turn JSON values into the types that an implementation's annotations name."""

import datetime as dt
import decimal
import enum
import types
import typing
import uuid
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
)
from typing import Any, Literal

from toolmd._load.python.annotations import anything, bare, hints, is_typed_dict, members, show
from toolmd._load.python.fits import MAX_DEPTH, adapter, mismatch
from toolmd._types.schema import Schema
from toolmd._validation import MAX_PROBLEMS, joined

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
