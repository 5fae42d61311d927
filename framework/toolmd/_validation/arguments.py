"""Validate a call's arguments against a tool's parameters: strictly, with defaults filled."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from pydantic_core import SchemaValidator, ValidationError

from toolmd._types.schema import Parameter, Schema
from toolmd._types.verdict import Problem
from toolmd._validation.explain import argument_problems, problems
from toolmd._validation.shape import object_shape, objects_for, shapes_for
from toolmd._validation.strict_json import read_object
from toolmd._validation.words import joined


class InvalidArgumentsError(ValueError):
    """The arguments do not fit; the errors are computed on demand."""

    def __init__(self, arguments: dict[str, Any], shape: Schema, error: ValidationError) -> None:
        super().__init__()
        self._arguments = arguments
        self._shape = shape
        self._error = error
        self._names: tuple[str, ...] | None = None

    def names(self) -> tuple[str, ...]:
        """Name the arguments that are missing, unknown or wrong."""
        if self._names is None:
            found = self._error.errors(
                include_url=False, include_context=False, include_input=False
            )
            self._names = tuple(dict.fromkeys(str(one["loc"][0]) for one in found if one["loc"]))
        return self._names

    @property
    def problems(self) -> tuple[Problem, ...]:
        """List the errors of the arguments, at most 32."""
        found = argument_problems(self._arguments, self._shape, self.names())
        return found or (Problem("invalid_value", "", "the arguments do not fit the parameters"),)

    def __str__(self) -> str:
        return "; ".join(problem.message for problem in self.problems)


class ArgumentsValidator:
    """The validator of a tool's arguments, built from its parameters."""

    def __init__(
        self,
        parameters: tuple[Parameter, ...],
        *,
        ignore_unknown: bool = False,
        fill: bool = True,
    ) -> None:
        """Build the validator; without `fill` an absent argument stays absent.

        Raises PatternError for a Pattern that is not an RE2 expression.
        """
        # Constructed: validating what is typed would build validators for one call.
        shape = Schema(types=("object",), properties=parameters)
        self._shape = shape if fill else shape.with_inner(_without_default)
        self._ignore_unknown = ignore_unknown

    @cached_property
    def _guard(self) -> SchemaValidator:
        return SchemaValidator(object_shape(self._shape.properties or ()))

    def validate(
        self, arguments: Mapping[str, Any] | str | bytes, notes: list[str] | None = None
    ) -> dict[str, Any]:
        """Return the arguments with defaults filled, as a copy.

        Args:
            arguments: The object, or its JSON text.
            notes: Receives a sentence on unknown keys that were dropped, and on each null of an
                optional argument, which counts as missing.

        Raises:
            MalformedError: The text is not one JSON object.
            InvalidArgumentsError: The object does not fit.
        """
        read = read_object(arguments)
        absent: list[str] = []
        dropped: tuple[str, ...] = ()
        if self._ignore_unknown:
            read, dropped = without_unknown(read, self._shape)
        try:
            checked: dict[str, Any] = self._guard.validate_python(read)
        except ValidationError as first:
            read = without_absent(read, self._shape.properties or (), absent)
            if not absent:
                raise InvalidArgumentsError(read, self._shape, first) from None
            try:
                checked = self._guard.validate_python(read)
            except ValidationError as error:
                raise InvalidArgumentsError(read, self._shape, error) from None
        if notes is not None and dropped:
            names = ", ".join(dropped)
            notes.append(f"Ignored, because the tool does not know them: {names}.")
        if notes is not None and absent:
            notes.append(f"null counts as missing: {', '.join(absent)}")
        return checked


def _without_default(shape: Schema) -> Schema:
    """Return a shape without defaults, at any depth."""
    return replace(shape.with_inner(_without_default), has_default=False, default=None)


def without_absent(
    arguments: Mapping[str, Any], parameters: Iterable[Parameter], absent: list[str], path: str = ""
) -> dict[str, Any]:
    """Remove each null of an optional field whose own shape has no null, at any depth.

    Args:
        arguments: An object of a call.
        parameters: Its known fields.
        absent: Receives the path of each null that was removed.
        path: The path of the object.
    """
    known = {parameter.name: parameter for parameter in parameters}
    rest: dict[str, Any] = {}
    for name, value in arguments.items():
        field, at = known.get(name), joined(path, name)
        if field is None:
            rest[name] = value
        elif value is None and not field.required and not _takes_null(field.shape):
            absent.append(at)
        else:
            rest[name] = _present(value, field.shape, absent, at)
    return rest


def _takes_null(shape: Schema) -> bool:
    if shape.enum is not None and None not in shape.enum:
        return False
    return not shape.types or "null" in shape.types


def _present(value: Any, shape: Schema, absent: list[str], path: str) -> Any:
    """Return a value without the nulls below it that count as missing."""
    if isinstance(value, list) and shape.items is not None:
        items = shape.items
        return [_present(one, items, absent, f"{path}[{at}]") for at, one in enumerate(value)]
    if not isinstance(value, dict):
        return value
    for each in shapes_for(value, shape):
        found: list[str] = []
        bare = without_absent(value, each.shape.properties or (), found, path)
        if not problems(bare, each.shape):
            absent += found
            return bare
    if shape.properties is not None:
        return without_absent(value, shape.properties, absent, path)
    if shape.values is not None:
        below = shape.values
        return {k: _present(one, below, absent, joined(path, k)) for k, one in value.items()}
    return value


def without_unknown(value: dict[str, Any], shape: Schema) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the object without unknown keys, and their paths."""
    dropped: list[str] = []
    rest: dict[str, Any] = _without_unknown(value, (shape,), "", dropped)
    return rest, tuple(dropped)


def _without_unknown(value: Any, shapes: tuple[Schema, ...], path: str, dropped: list[str]) -> Any:
    """Return a value that may have several shapes; a key that one of them knows stays."""
    if not shapes:
        return value
    if isinstance(value, list):
        items = tuple(shape.items for shape in shapes if shape.items is not None)
        return [_without_unknown(v, items, f"{path}[{i}]", dropped) for i, v in enumerate(value)]
    if not isinstance(value, dict):
        return value
    objects = [one for shape in shapes for one in objects_for(value, shape)]
    is_open = any(one.properties is None for one in objects)
    rest = {}
    for name, item in value.items():
        known = tuple(shape for one in objects for shape in one.of_field(name))
        if known or is_open:
            rest[name] = _without_unknown(item, known, joined(path, name), dropped)
        else:
            dropped.append(joined(path, name))
    return rest
