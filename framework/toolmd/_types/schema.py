"""The allowed values of a parameter, a field or a result."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

JsonType = Literal["string", "number", "integer", "boolean", "object", "array", "null"]
JSON_TYPES: tuple[JsonType, ...] = (
    "string",
    "number",
    "integer",
    "boolean",
    "object",
    "array",
    "null",
)


@dataclass(frozen=True)
class Schema:
    """The shape of one value: format.md, "Parameter fields"."""

    types: tuple[JsonType, ...] = ()
    """The allowed types; empty allows any."""
    description: str = ""
    enum: tuple[Any, ...] | None = None
    has_default: bool = False
    """Whether a default is set: `null` may be a default."""
    default: Any = None
    items: "Schema | None" = None
    properties: "tuple[Parameter, ...] | None" = None
    """The fields of a closed object; None for an open one."""
    values: "Schema | None" = None
    """The shape of every value of an open object (`dict[str, int]`)."""
    minimum: int | float | None = None
    maximum: int | float | None = None
    min_length: int | None = None
    """In code points."""
    max_length: int | None = None
    pattern: str | None = None
    """RE2, matched against the whole string."""
    format: str | None = None
    min_items: int | None = None
    max_items: int | None = None
    unique: bool = False
    unit: str | None = None
    has_example: bool = False
    """Whether an example is set: `null` may be an example."""
    example: Any = None
    sensitive: bool = False
    """Redacted in logs, spans and records."""
    verbatim: bool = False
    """Must be words of the user's own messages."""

    @cached_property
    def json_schema(self) -> dict[str, Any]:
        """Return JSON Schema 2020-12; fields without a keyword of it use `x-` keys."""
        return _json_schema(self)

    @property
    def inner(self) -> "tuple[Schema, ...]":
        """The shapes of the direct fields, items and values."""
        fields = tuple(field.shape for field in self.properties or ())
        return (*fields, *(s for s in (self.items, self.values) if s is not None))

    @property
    def holds_sensitive(self) -> bool:
        """Whether such a value may contain Sensitive values, at any depth."""
        return self.sensitive or any(shape.holds_sensitive for shape in self.inner)

    @property
    def holds_verbatim(self) -> bool:
        """Whether such a value may contain Verbatim values, at any depth."""
        return self.verbatim or any(shape.holds_verbatim for shape in self.inner)


@dataclass(frozen=True)
class Parameter:
    """A named value of a tool, a skill or an object."""

    name: str
    """As the author wrote it."""
    shape: Schema
    """The allowed values."""
    required: bool = False


def object_schema(parameters: tuple[Parameter, ...], *, open_: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of an object with these fields, closed unless `open_`."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {p.name: p.shape.json_schema for p in parameters},
    }
    if required := [p.name for p in parameters if p.required]:
        schema["required"] = required
    if not open_:
        schema["additionalProperties"] = False
    return schema


_EXACT = 2**53
"""Up to this value a float represents every whole number exactly."""


def plain_numbers(value: Any) -> Any:
    """Convert whole floats to integers, at any depth, so that `1.0` and `1` are equal in JSON."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _EXACT else value
    if not isinstance(value, list | tuple | dict):
        return value
    try:  # A round trip through JSON: it nests deeper than Python's recursion limit.
        return json.loads(json.dumps(value), parse_float=lambda text: plain_numbers(float(text)))
    except RecursionError:
        return value


_KEYWORDS: Mapping[str, str] = {
    "minimum": "minimum",
    "maximum": "maximum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
    "format": "format",
    "min_items": "minItems",
    "max_items": "maxItems",
    "unit": "x-unit",
}


def _json_schema(shape: Schema) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    if shape.types:
        schema["type"] = shape.types[0] if len(shape.types) == 1 else list(shape.types)
    if shape.description:
        schema["description"] = shape.description
    if shape.enum is not None:
        schema["enum"] = plain_numbers(list(shape.enum))
    if shape.has_default:
        schema["default"] = plain_numbers(shape.default)
    if shape.items is not None:
        schema["items"] = shape.items.json_schema
    if shape.properties is not None:
        schema |= {k: v for k, v in object_schema(shape.properties).items() if k != "type"}
    if shape.values is not None:
        schema["additionalProperties"] = shape.values.json_schema
    for field, keyword in _KEYWORDS.items():
        if (value := getattr(shape, field)) is not None:
            schema[keyword] = plain_numbers(value)
    if shape.unique:
        schema["uniqueItems"] = True
    if shape.has_example:
        schema["examples"] = [plain_numbers(shape.example)]
    if shape.sensitive:
        schema["x-sensitive"] = True
    if shape.verbatim:
        schema["x-verbatim"] = True
    return schema
