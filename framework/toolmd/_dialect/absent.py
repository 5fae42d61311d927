"""Read `null` as "not given" for an optional argument that does not allow null."""

from collections.abc import Iterable, Mapping
from typing import Any

from toolmd._types.schema import Parameter, Schema
from toolmd._validation import problems, shapes_for


def without_absent(
    arguments: Mapping[str, Any], parameters: Iterable[Parameter], absent: list[str], path: str = ""
) -> dict[str, Any]:
    """Remove each `null` of an optional parameter whose own shape has no null, at any depth.

    Args:
        arguments: The call's arguments.
        parameters: The tool's.
        absent: Receives the path of each argument that was removed.
        path: The path of the object.
    """
    known = {parameter.name: parameter for parameter in parameters}
    made: dict[str, Any] = {}
    for name, value in arguments.items():
        field = known.get(name)
        if field is None:
            made[name] = value
        elif value is None and not field.required and not _takes_null(field.shape):
            absent.append(f"{path}{name}")
        else:
            made[name] = _within(value, field.shape, absent, f"{path}{name}")
    return made


def _takes_null(shape: Schema) -> bool:
    if shape.enum is not None and None not in shape.enum:
        return False
    return not shape.types or "null" in shape.types


def _within(value: Any, shape: Schema, absent: list[str], path: str) -> Any:
    if isinstance(value, list) and shape.items is not None:
        items = shape.items
        return [_within(one, items, absent, f"{path}[{at}]") for at, one in enumerate(value)]
    if isinstance(value, dict):
        for each in shapes_for(value, shape):
            found: list[str] = []
            bare = without_absent(value, each.shape.properties or (), found, f"{path}.")
            if not problems(bare, each.shape):
                absent += found
                return bare
        if shape.properties is not None:
            return without_absent(value, shape.properties, absent, f"{path}.")
        if shape.values is not None:
            below = shape.values
            return {k: _within(one, below, absent, f"{path}.{k}") for k, one in value.items()}
    return value
