"""Hold a call's arguments against a tool's parameters: strictly, with defaults filled."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

from pydantic_core import SchemaValidator, ValidationError

from toolmd._model.schema import Parameter, Schema
from toolmd._model.verdict import Problem
from toolmd._values.explain import argument_problems
from toolmd._values.json_text import count_texts, read_object
from toolmd._values.shape import is_plain, object_shape, picked_shape, value_shape
from toolmd._values.surplus import without_unknown


class InvalidArgumentsError(ValueError):
    """The arguments do not fit; what is wrong is worked out when someone looks."""

    def __init__(self, arguments: dict[str, Any], parameters: tuple[Parameter, ...]) -> None:
        super().__init__()
        self._arguments = arguments
        self._parameters = parameters

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """List each fault of the arguments, the first 32."""
        found = argument_problems(self._arguments, self._parameters)
        return found or (Problem("invalid_value", "", "the arguments do not fit the parameters"),)

    def __str__(self) -> str:
        return "; ".join(problem.message for problem in self.problems)


class ArgumentsValidator:
    """The one judge of a tool's arguments, built from its parameters."""

    def __init__(self, parameters: tuple[Parameter, ...], *, ignore_unknown: bool = False) -> None:
        """Build the validator; raises PatternError for a Pattern that is no RE2 expression."""
        self._parameters = parameters
        # Constructed: validating what is typed would build validators for one call.
        self._shape = Schema(types=("object",), properties=parameters)
        self._ignore_unknown = ignore_unknown
        self.defaults, given = _parted(parameters)
        """Names and values to be set in what `pick` gives, where they are absent."""
        shape = Schema(types=("object",), properties=given)
        self.is_quick = not ignore_unknown and is_plain(shape)
        """Whether `pick` and `quotes_in` can judge JSON text at once."""
        self.quotes_in = _quote_counter(given)
        # Looking for unknown keys costs a fifth, and the quotes tell of them too.
        quick = SchemaValidator(picked_shape(given)) if self.is_quick else self._judge
        self.pick = quick.validate_json

    @cached_property
    def _judge(self) -> SchemaValidator:
        return SchemaValidator(object_shape(self._parameters))

    def validate(self, arguments: Mapping[str, Any] | str | bytes) -> dict[str, Any]:
        """Give the arguments with defaults filled, as values of our own.

        Raises MalformedError for what is not one JSON object, InvalidArgumentsError for one
        that does not fit (behaviour.md, rows 1 and 3).
        """
        return self.check(read_object(arguments))

    def at_once(self, text: str) -> dict[str, Any] | None:
        """Read and judge JSON text in one go; None where `validate` must look step by step.

        Raises ValidationError for what `validate` refuses too, with the reason.
        """
        if not self.is_quick:
            return None
        checked: dict[str, Any] = self.pick(text)
        # Every quote but an escaped one begins or ends a key or a text, so equal counts say that
        # none was overwritten by a duplicate key, or left out as unknown.
        if text.count('"') != self.quotes_in(checked):
            return None
        for name, value in self.defaults:
            checked.setdefault(name, value)
        return checked

    def check(self, read: dict[str, Any]) -> dict[str, Any]:
        """Judge what `read_object` gave; raises InvalidArgumentsError."""
        if self._ignore_unknown:
            read, _ = without_unknown(read, self._shape)
        try:
            checked: dict[str, Any] = self._judge.validate_python(read)
        except ValidationError:
            raise InvalidArgumentsError(read, self._parameters) from None
        return checked

    def dropped(self, read: dict[str, Any]) -> tuple[str, ...]:
        """Give the paths of unknown keys that `check` leaves out; none unless they are ignored."""
        return without_unknown(read, self._shape)[1] if self._ignore_unknown else ()


def _parted(
    parameters: tuple[Parameter, ...],
) -> tuple[tuple[tuple[str, Any], ...], tuple[Parameter, ...]]:
    """Part plain Defaults, which can be set afterwards, from the parameters that are given."""
    defaults, given = [], []
    for parameter in parameters:
        shape, name = parameter.shape, parameter.name
        if shape.has_default and type(shape.default) in _SCALARS:
            bare = replace(shape, has_default=False, default=None)
            with suppress(ValidationError):
                value = SchemaValidator(value_shape(bare)).validate_python(shape.default)
                defaults.append((name, value))
                given.append(Parameter(name=name, shape=bare, required=False))
                continue
        given.append(parameter)
    return tuple(defaults), tuple(given)


_SCALARS = frozenset({str, int, float, bool, type(None)})


def _quote_counter(parameters: tuple[Parameter, ...]) -> Callable[[dict[str, Any]], int]:
    """Make what counts the quotes around the keys and texts of arguments that fit these."""
    texts = [p for p in parameters if p.shape.types == ("string",)]
    lists = [
        p.name
        for p in parameters
        if p.shape.types == ("array",) and p.shape.items and p.shape.items.types == ("string",)
    ]
    scalars = [p for p in parameters if not {"string", "array", "object"} & set(p.shape.types)]
    if len(texts) + len(lists) + len(scalars) < len(parameters):
        return lambda arguments: 2 * count_texts(arguments)
    if all(p.required for p in parameters):
        return _count_all(2 * (len(parameters) + len(texts)), lists)
    always = sum(p.required for p in texts)
    sometimes = [p.name for p in texts if not p.required]

    def count(arguments: dict[str, Any]) -> int:
        found = len(arguments) + always
        for name in sometimes:
            if name in arguments:
                found += 1
        for name in lists:
            if name in arguments:
                found += len(arguments[name])
        return 2 * found

    return count


def _count_all(always: int, lists: list[str]) -> Callable[[dict[str, Any]], int]:
    """Count where all arguments are there: the commonest shapes without a loop."""
    if not lists:
        return lambda _: always
    if len(lists) == 1:
        (only,) = lists
        return lambda arguments: always + 2 * len(arguments[only])
    return lambda arguments: always + 2 * sum(len(arguments[name]) for name in lists)
