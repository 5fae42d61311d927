"""`key=value` on the command line to JSON, typed by the parameters of a tool or skill."""

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from toolmd._types.schema import Parameter, Schema


class ArgumentFormError(ValueError):
    """An argument on the command line is not of the form `key=value`."""


def typed_arguments(words: Iterable[str], parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Give the arguments that `key=value …` say.

    Text stays text where the tool takes text. A value that does not read as its type stays text
    too, so that the one door says what is wrong with it. An array is JSON, or its items with
    commas between them, or the same key again for each. Raises ArgumentFormError.
    """
    shapes = {parameter.name: parameter.shape for parameter in parameters}
    given: dict[str, Any] = {}
    for word in words:
        key, separator, text = word.partition("=")
        if not separator or not key:
            raise ArgumentFormError(f"{word!r} is not of the form key=value")
        value = typed(text, shapes.get(key, Schema(types=("string",))))
        if key not in given:
            given[key] = value
        elif isinstance(given[key], list) and isinstance(value, list):
            given[key] += value
        else:
            raise ArgumentFormError(f"{key!r} is given twice")
    return given


def typed(text: str, shape: Schema) -> Any:
    """Give one value of the command line as JSON, the way its schema reads it."""
    types = shape.types or ("string", "number", "boolean", "null", "array", "object")
    if "null" in types and text == "null":
        return None
    if "boolean" in types and text.casefold() in {"true", "false"}:
        return text.casefold() == "true"
    if {"number", "integer"} & set(types) and (number := _number(text)) is not None:
        return number
    if {"array", "object"} & set(types) and text.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError):
            return json.loads(text)
    if "array" in types and "string" not in types:
        items = shape.items or Schema(types=("string",))
        return [typed(item.strip(), items) for item in text.split(",")] if text else []
    return text


def _number(text: str) -> int | float | None:
    try:
        number = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    # `Infinity` and `NaN` are words of Python's reader, not of JSON.
    return number if abs(number) != float("inf") and number == number else None  # noqa: PLR0124  # NaN differs from itself
