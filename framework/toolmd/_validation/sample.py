"""Build a sample value of a Schema, to show a call or a result."""

from collections.abc import Mapping
from typing import Any

from toolmd._types.schema import Parameter, Schema

_PLAIN: Mapping[str, Any] = {
    "number": 1,
    "integer": 1,
    "boolean": True,
    "object": {},
    "null": None,
}
_FORMATS: Mapping[str, str] = {
    "date": "2026-01-31",
    "time": "09:00:00",
    "date-time": "2026-01-31T09:00:00Z",
    "email": "name@example.org",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
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
            return _FORMATS.get(shape.format or "", text)
        case kind:
            return _PLAIN[kind]


def sample_arguments(parameters: tuple[Parameter, ...], text: str = "text") -> dict[str, Any]:
    """Return a sample of each parameter that is required."""
    return {p.name: sample(p.shape, text) for p in parameters if p.required}
