"""Build a form from a schema: a control for each value, nested ones too."""

from typing import Any, Literal, NamedTuple

from toolmd._types.schema import Parameter, Schema
from toolmd._validation import limits_of, type_words

Control = Literal[
    "text", "long", "number", "boolean", "enum", "date", "time", "date-time", "object",
    "array", "json",
]  # fmt: skip
DEEPEST = 6
"""The number of nested levels with controls; deeper values are written as JSON."""
LONG = 160
"""The length from which a text gets several lines, in characters."""


class FormField(NamedTuple):
    """A control, and those within it."""

    key: str
    """The name of the value in its object; empty for an item of a list."""
    control: Control
    required: bool
    description: str = ""
    hint: str = ""
    """The allowed values in words."""
    options: tuple[Any, ...] = ()
    default: Any = None
    has_default: bool = False
    example: Any = None
    fields: "tuple[FormField, ...]" = ()
    """The controls of an object."""
    item: "FormField | None" = None
    """The control of a list's items."""
    sensitive: bool = False
    words: str = ""
    """The type in the notation of definitions."""


def fields_of(parameters: tuple[Parameter, ...], depth: int = 0) -> tuple[FormField, ...]:
    """Return the controls of these parameters, in the file's order."""
    return tuple(_field(p.name, p.shape, required=p.required, depth=depth) for p in parameters)


def _field(key: str, shape: Schema, *, required: bool, depth: int) -> FormField:
    control = _control(shape) if depth < DEEPEST else "json"
    return FormField(
        key,
        control,
        required,
        shape.description,
        " · ".join(limits_of(shape, without=("format",) if control == shape.format else ())),
        shape.enum or (),
        shape.default,
        shape.has_default,
        shape.example if shape.has_example else None,
        fields_of(shape.properties, depth + 1) if control == "object" and shape.properties else (),
        _item(shape, depth) if control == "array" else None,
        shape.sensitive,
        type_words(shape, " | "),
    )


def _item(shape: Schema, depth: int) -> FormField:
    return _field("", shape.items or Schema(), required=True, depth=depth + 1)


def _control(shape: Schema) -> Control:
    if shape.enum is not None:
        return "enum"
    if len(shape.types) != 1:
        return "json"
    match shape.types[0]:
        case "boolean":
            return "boolean"
        case "integer" | "number":
            return "number"
        case "array":
            return "array"
        case "object":
            return "object" if shape.properties and shape.values is None else "json"
        case "string":
            return _text_control(shape)
        case _:
            return "json"


def _text_control(shape: Schema) -> Control:
    if shape.format in ("date", "time", "date-time"):
        return shape.format  # type: ignore[return-value]
    return "long" if shape.max_length is not None and shape.max_length > LONG else "text"
