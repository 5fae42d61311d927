"""Convert an author's text: templates to text, text to a parameter's type or to a time."""

import datetime as dt
import json
import re
from collections.abc import Callable
from typing import Any

from toolmd._types.schema import Schema
from toolmd._types.skill import Expression, Template, Value, Values

Evaluate = Callable[[Expression], Any]
_SECONDS = re.compile(r"-?[0-9]+(\.[0-9]+)?s")
"""A duration as expressions give it."""
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ANY = Schema()
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
_EXACT = 2**53
"""A double represents every integer below it exactly."""
_LONGEST = 20
"""Number of digits of a 64-bit integer."""
MISSING = object()
"""Marks an argument that has no value and is left out."""


class ValueTextError(ValueError):
    """Text that can't be read as the wanted type; the message names the type."""


def as_text(value: Any) -> str:
    """Format a value as text: lists joined by commas, integers without a decimal point."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < _EXACT else repr(value)
        case list():
            return ", ".join(as_text(item) for item in value)
        case dict():
            return json.dumps(value, ensure_ascii=False)
        case _:
            return str(value)


def sentence(text: str) -> str:
    """Return the text with a full stop where it ends without punctuation."""
    return text if not text or text.endswith((".", "!", "?", "…", ":")) else f"{text}."


def text_of(template: Template, evaluate: Evaluate, write: Callable[[Any], str] = as_text) -> str:
    """Return the template's text with the value of each expression, as `write` formats it."""
    return "".join(p if isinstance(p, str) else write(evaluate(p)) for p in template.parts)


def value_of(value: Value, shape: Schema, evaluate: Evaluate) -> Any:
    """Return an author's value converted for a parameter of this shape.

    An expression keeps the type of its result; text is read as the wanted type. Raises
    ValueTextError.
    """
    if isinstance(value, Values):
        return _nested(value, shape, evaluate)
    if value.code and value.expression is not None:
        return as_whole(evaluate(value.expression), shape)
    only = value.parts[0] if len(value.parts) == 1 else None
    if isinstance(only, Expression) and not takes_text(shape):
        return as_whole(evaluate(only), shape)
    return read_text(text_of(value, evaluate), shape)


def _nested(value: Values, shape: Schema, evaluate: Evaluate) -> Any:
    if value.items and not value.fields:
        return [value_of(item, shape.items or _ANY, evaluate) for item in value.items]
    one = shape_for(value, shape)
    return {
        a.name: value_of(a.value, (one.of_field(a.name) or (_ANY,))[0], evaluate)
        for a in value.fields
    }


def shape_for(value: Values, shape: Schema) -> Schema:
    """Return the object that written fields mean: of One Of, the shape that they fit best."""
    names = {a.name for a in value.fields}

    def strange(one: Schema) -> tuple[bool, int]:
        other = any(_contradicts(a.value, s) for a in value.fields for s in one.of_field(a.name))
        return other, len(names.symmetric_difference(p.name for p in one.properties or ()))

    return min(shape.objects, key=strange)


def _contradicts(value: Value, shape: Schema) -> bool:
    """Return whether a plain text is not the one value that a field may have."""
    match value:
        case Template(parts=(str() as text,)) if shape.enum is not None and len(shape.enum) == 1:
            return text.strip() != str(shape.enum[0])
        case _:
            return False


def takes_text(shape: Schema) -> bool:
    """Return whether a parameter accepts text unchanged."""
    return not shape.types or "string" in shape.types


def as_whole(value: Any, shape: Schema) -> Any:
    """Return a whole double as an integer if only integers fit: CEL's division returns doubles."""
    whole = isinstance(value, float) and value.is_integer()
    if whole and "integer" in shape.types and "number" not in shape.types:
        return int(value)
    return value


def read_text(text: str, shape: Schema) -> Any:
    """Read bare text as the first of the shape's types that fits; raises ValueTextError."""
    if takes_text(shape):
        return text
    stripped = text.strip()
    for kind in shape.types:
        read = _READERS[kind](stripped, shape)
        if read is not MISSING:
            return read
    raise ValueTextError(f"'{text[:60]}' is no {' or '.join(shape.types)}")


def _read_integer(text: str, _shape: Schema) -> Any:
    return int(text) if _WHOLE.fullmatch(text) and len(text) < _LONGEST else MISSING


def _read_number(text: str, shape: Schema) -> Any:
    if (whole := _read_integer(text, shape)) is not MISSING:
        return whole
    return float(text) if _NUMBER.fullmatch(text) else MISSING


def _read_json(text: str, opening: str) -> Any:
    if not text.startswith(opening):
        return MISSING
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return MISSING


def _read_array(text: str, shape: Schema) -> Any:
    if (read := _read_json(text, "[")) is not MISSING:
        return read
    items = shape.items or _ANY
    return [read_text(part.strip(), items) for part in text.split(",")] if text else []


_READERS: dict[str, Callable[[str, Schema], Any]] = {
    "integer": _read_integer,
    "number": _read_number,
    "boolean": lambda text, _: _BOOLEANS.get(text.lower(), MISSING),
    "array": _read_array,
    "object": lambda text, _: _read_json(text, "{"),
    "null": lambda text, _: None if text.lower() in ("null", "none") else MISSING,
}


def moment_of(value: Any, now: dt.datetime) -> dt.datetime:
    """Return the end of a wait for a time, a duration, or a number of seconds.

    Raises ValueTextError.
    """
    if not isinstance(value, float | str):
        raise ValueTextError("its expression gives neither a time nor a duration")
    try:
        if isinstance(value, float):
            return now + dt.timedelta(seconds=value)
        if _SECONDS.fullmatch(value):
            return now + dt.timedelta(seconds=float(value[:-1]))
        at = dt.datetime.fromisoformat(value)
        if at.tzinfo is not None:
            return at.astimezone(dt.UTC)
    except OverflowError:
        raise ValueTextError(f"'{value}' is too far away") from None
    except ValueError:
        raise ValueTextError(f"'{str(value)[:60]}' is neither a time nor a duration") from None
    raise ValueTextError(f"'{value}' has no time zone; end it with Z or an offset such as +02:00")
