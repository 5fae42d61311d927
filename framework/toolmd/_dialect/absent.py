"""Read `null` as "not given" where OpenAI's strict mode could not leave an argument out."""

from collections.abc import Iterable, Mapping
from typing import Any

from toolmd._types.schema import Parameter, Schema
from toolmd._validation import problems, shapes_for


def without_absent(arguments: Mapping[str, Any], parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Remove each `null` of an optional parameter whose own shape has no null, at any depth."""
    known = {parameter.name: parameter for parameter in parameters}
    return {
        name: value if (field := known.get(name)) is None else _within(value, field.shape)
        for name, value in arguments.items()
        if not (value is None and name in known and _may_be_absent(known[name]))
    }


def _may_be_absent(parameter: Parameter) -> bool:
    return not parameter.required and not _takes_null(parameter.shape)


def _takes_null(shape: Schema) -> bool:
    if shape.enum is not None and None not in shape.enum:
        return False
    return not shape.types or "null" in shape.types


def _within(value: Any, shape: Schema) -> Any:
    if isinstance(value, list) and shape.items is not None:
        return [_within(item, shape.items) for item in value]
    if isinstance(value, dict):
        for each in shapes_for(value, shape):
            bare = without_absent(value, each.shape.properties or ())
            if not problems(bare, each.shape):
                return bare
        if shape.properties is not None:
            return without_absent(value, shape.properties)
        if shape.values is not None:
            return {name: _within(item, shape.values) for name, item in value.items()}
    return value
