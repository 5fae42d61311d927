"""Convert the words of a command: `key=value` by a definition's parameters, and times."""

import datetime as dt
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from toolmd._types.schema import Parameter, Schema
from toolmd._validation.strict_json import JsonError, read_json


def convert_arguments(words: Iterable[str], parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Return the arguments of `key=value …`.

    A value stays text if its parameter accepts text, or if it can't be read as its type; the
    check of the arguments then reports it. An array is JSON, items separated by commas, or the
    same key once for each item.

    Raises:
        ValueError: A word is not of the form `key=value`, or a key appears twice.
    """
    shapes = {parameter.name: parameter.shape for parameter in parameters}
    given: dict[str, Any] = {}
    for word in words:
        key, separator, text = word.partition("=")
        if not separator or not key:
            raise ValueError(f"{word!r} is not of the form key=value")
        value = convert(text, shapes.get(key, Schema(types=("string",))))
        if key not in given:
            given[key] = value
        elif isinstance(given[key], list) and isinstance(value, list):
            given[key] += value
        else:
            raise ValueError(f"{key!r} is given twice")
    return given


def convert(text: str, shape: Schema) -> Any:
    """Return one value of the command line as JSON, converted by its schema."""
    types = shape.types or ("string", "number", "boolean", "null", "array", "object")
    if "null" in types and text == "null":
        return None
    if "boolean" in types and text.casefold() in {"true", "false"}:
        return text.casefold() == "true"
    if {"number", "integer"} & set(types) and (number := _number(text)) is not None:
        return number
    if {"array", "object"} & set(types) and text.lstrip()[:1] in ("[", "{"):
        with suppress(JsonError):
            return read_json(text)
    if "array" in types and "string" not in types:
        items = shape.items or Schema(types=("string",))
        return [convert(item.strip(), items) for item in text.split(",")] if text else []
    return text


def _number(text: str) -> int | float | None:
    try:
        number = read_json(text)
    except JsonError:
        return None
    return None if isinstance(number, bool) or not isinstance(number, int | float) else number


def future(text: str) -> dt.datetime:
    """Return the time that `now`, `in 2h` or an ISO time means, in local time without a zone.

    Raises:
        ValueError: The text has another form, or names a time in the past.
    """
    from toolmd._parse.scalars import duration

    now, words = dt.datetime.now(dt.UTC).astimezone(), text.strip()
    at: dt.datetime | None = None
    with suppress(ValueError, OverflowError):
        if words == "now":
            at = now
        elif words.startswith("in "):
            later = duration(words.removeprefix("in "))
            at = None if later is None else now + dt.timedelta(seconds=later)
        else:
            at = dt.datetime.fromisoformat(words).astimezone()
    if at is None:
        raise ValueError(f"can't be read from '{text}'")
    if at < now:
        raise ValueError(f"names a time in the past: {at:%Y-%m-%d %H:%M:%S %z}")
    return at


def past(text: str) -> dt.datetime:
    """Return the time that `2h ago`, `2026-05-04` or an ISO time means.

    Raises:
        ValueError: The text has another form.
    """
    from toolmd._parse.scalars import duration

    words = text.strip()
    with suppress(ValueError, OverflowError):
        if words.endswith(" ago"):
            earlier = duration(words.removesuffix(" ago"))
            if earlier is not None:
                return dt.datetime.now(dt.UTC) - dt.timedelta(seconds=earlier)
        return dt.datetime.fromisoformat(words).astimezone()
    raise ValueError(f"can't be read from '{text}'")
