"""Validate a call's arguments against a tool's parameters: strictly, with defaults filled."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pydantic_core import SchemaValidator, ValidationError

from toolmd._types.schema import Parameter, Schema
from toolmd._types.verdict import Problem
from toolmd._validation.explain import argument_problems
from toolmd._validation.one_of import objects_for
from toolmd._validation.shape import object_shape
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

    def __init__(self, parameters: tuple[Parameter, ...], *, ignore_unknown: bool = False) -> None:
        """Build the validator. Raises PatternError for a Pattern that is not an RE2 expression."""
        self._parameters = parameters
        # Constructed: validating what is typed would build validators for one call.
        self._shape = Schema(types=("object",), properties=parameters)
        self._ignore_unknown = ignore_unknown

    @cached_property
    def _guard(self) -> SchemaValidator:
        return SchemaValidator(object_shape(self._parameters))

    def validate(self, arguments: Mapping[str, Any] | str | bytes) -> dict[str, Any]:
        """Return the arguments with defaults filled, as a copy.

        Raises MalformedError where the text is not one JSON object, and InvalidArgumentsError
        where the object does not fit.
        """
        return self.check(read_object(arguments))

    def check(self, read: dict[str, Any]) -> dict[str, Any]:
        """Validate an object that `read_object` returned. Raises InvalidArgumentsError."""
        if self._ignore_unknown:
            read, _ = without_unknown(read, self._shape)
        try:
            checked: dict[str, Any] = self._guard.validate_python(read)
        except ValidationError as error:
            raise InvalidArgumentsError(read, self._shape, error) from None
        return checked

    def dropped(self, read: dict[str, Any]) -> tuple[str, ...]:
        """Return the paths of unknown keys that `check` drops; none unless they are ignored."""
        return without_unknown(read, self._shape)[1] if self._ignore_unknown else ()


def without_unknown(value: dict[str, Any], shape: Schema) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the object without unknown keys, and their paths."""
    dropped: list[str] = []
    kept: dict[str, Any] = _kept(value, (shape,), "", dropped)
    return kept, tuple(dropped)


def _kept(value: Any, shapes: tuple[Schema, ...], path: str, dropped: list[str]) -> Any:
    """Return a value that may have several shapes; a key that one of them knows is kept."""
    if not shapes:
        return value
    if isinstance(value, list):
        items = tuple(shape.items for shape in shapes if shape.items is not None)
        return [_kept(v, items, f"{path}[{i}]", dropped) for i, v in enumerate(value)]
    if not isinstance(value, dict):
        return value
    objects = [one for shape in shapes for one in objects_for(value, shape)]
    is_open = any(one.properties is None for one in objects)
    kept = {}
    for name, item in value.items():
        known = tuple(shape for one in objects for shape in one.of_field(name))
        if known or is_open:
            kept[name] = _kept(item, known, joined(path, name), dropped)
        else:
            dropped.append(joined(path, name))
    return kept
