"""Describe a value and its shape, short enough for a model to act on, and build samples."""

import json
from collections.abc import Collection, Iterator, Mapping
from json.encoder import encode_basestring
from typing import Any

from toolmd._types.field import JsonType
from toolmd._types.schema import KEYWORDS, UPPER, Parameter, Schema, plain_numbers
from toolmd._validation.keywords import FORMATS

HIDDEN = "(hidden)"
"""Stands for a value that is Sensitive."""
MAX_SHOWN = 60
"""How many characters of a value are quoted."""
MAX_CHOICES = 12
MAX_BITS = 200
"""A larger integer has more than 60 digits."""

_ARTICLED: dict[JsonType, str] = {
    "string": "text",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}


def type_of(value: Any) -> JsonType:
    """Name the JSON type of a value; an integral number is an integer."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def fits_type(value: Any, shape: Schema) -> bool:
    """Return whether a value has one of the types of its shape; without types, any has."""
    kind = type_of(value)
    return not shape.types or kind in shape.types or (kind == "integer" and "number" in shape.types)


def types_of(shape: Schema) -> str:
    """Name the types that fit: `text or an array`."""
    words = [_ARTICLED[kind] for kind in shape.types]
    return " or ".join(words) if words else "any value"


def type_words(shape: Schema, joint: str) -> str:
    """Return the types, as definitions name them: `array of string | null`."""
    words = [
        f"array of {type_words(shape.items, joint)}" if name == "array" and shape.items else name
        for name in shape.types
    ]
    return joint.join(words) or "anything"


def choices_of(shape: Schema) -> str:
    """List what an Enum allows: `"exam", "cleaning"`."""
    allowed = shape.enum or ()
    shown = ", ".join(shown_value(value) for value in allowed[:MAX_CHOICES])
    more = len(allowed) - MAX_CHOICES
    return f"{shown} and {more} more" if more > 0 else shown


def limits_of(shape: Schema, *, without: Collection[str] = ()) -> Iterator[str]:
    """Describe each keyword of a value by a phrase: `1 to 5 items`, `format date`."""
    shown = {*without}
    for name, row in KEYWORDS.items():
        value, high = getattr(shape, name), UPPER.get(name, "")
        if value is None or value is False or name in shown:
            continue
        if (most := getattr(shape, high, None)) is not None:
            shown.add(high)
            yield row.size(most) if value == most else f"{plain_numbers(value)} to {row.size(most)}"
        elif row.compared in ("least", "most"):
            yield f"at {row.compared} {row.size(value)}"
        elif row.phrase:
            yield row.phrase.replace("{}", str(value))


def shown_value(value: Any, *, sensitive: bool = False) -> str:
    """Quote a value as JSON, bounded; a large one by its kind, a Sensitive one not at all."""
    if sensitive:
        return HIDDEN
    if isinstance(value, str):
        cut = value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + "…"
        return encode_basestring(cut)
    if isinstance(value, list):
        return f"an array of {len(value)}" if value else "[]"
    if isinstance(value, dict):
        return f"an object of {len(value)}" if value else "{}"
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return "a number of more than 60 digits"
    return json.dumps(value)


def joined(path: str, name: str) -> str:
    """Return the path of a field: `items[0].name`; an odd name stands in brackets."""
    if not name.replace("-", "_").isidentifier():
        return f"{path}[{shown_value(name)}]"
    short = name if len(name) <= MAX_SHOWN else name[:MAX_SHOWN] + "…"
    return f"{path}.{short}" if path else short


_PLAIN: Mapping[str, Any] = {
    "number": 1,
    "integer": 1,
    "boolean": True,
    "object": {},
    "null": None,
}


def sample(shape: Schema, text: str = "text") -> Any:
    """Return the author's own example, default or first choice; else a plain value of the type.

    `text` is the sample of a plain text. Patterns and lengths are ignored.
    """
    if shape.has_example:
        return shape.example
    if shape.has_default:
        return shape.default
    if shape.enum:
        return shape.enum[0]
    match shape.types[0] if shape.types else "string":
        case "object":
            return sample_arguments(shape.objects[0].properties or (), text)
        case "array":
            item = text if shape.items is None else sample(shape.items, text)
            return [item] * (shape.min_items or int(shape.items is not None))
        case "number" | "integer" if shape.minimum is not None or shape.maximum is not None:
            return shape.minimum if shape.minimum is not None else shape.maximum
        case "string":
            return FORMATS.get(shape.format or "", ("", "", text))[2]
        case kind:
            return _PLAIN[kind]


def sample_arguments(parameters: tuple[Parameter, ...], text: str = "text") -> dict[str, Any]:
    """Return a sample of each parameter that is required."""
    return {p.name: sample(p.shape, text) for p in parameters if p.required}
