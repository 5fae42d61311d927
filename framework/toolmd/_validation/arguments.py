"""Validate a call's arguments against a tool's parameters: strictly, with defaults filled."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from pydantic_core import SchemaValidator, ValidationError

from toolmd._types.schema import Parameter, Schema
from toolmd._types.verdict import Problem
from toolmd._validation.explain import argument_problems
from toolmd._validation.json_text import read_object
from toolmd._validation.shape import object_shape
from toolmd._validation.unknown_keys import without_unknown


class InvalidArgumentsError(ValueError):
    """The arguments do not fit; the errors are computed on demand."""

    def __init__(self, arguments: dict[str, Any], shape: Schema, error: ValidationError) -> None:
        super().__init__()
        self._arguments = arguments
        self._shape = shape
        self._error = error

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name the arguments that are missing, unknown or wrong."""
        found = self._error.errors(include_url=False, include_context=False, include_input=False)
        return tuple(dict.fromkeys(str(one["loc"][0]) for one in found if one["loc"]))

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """List the errors of the arguments, at most 32."""
        found = argument_problems(self._arguments, self._shape, self.names)
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
