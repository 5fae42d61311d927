"""Check an expression against the types of its names, down to the fields, without running it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolmd._expressions.environment import environment
from toolmd._expressions.error import ExpressionError
from toolmd._expressions.growth import growth_of
from toolmd._expressions.messages import compile_error
from toolmd._expressions.number_forms import form_error, forms, may_mix
from toolmd._expressions.rewrite import CLASHING, GIVEN, Rewritten, fold, rewrite
from toolmd._expressions.shapes import Shapes, at_path
from toolmd._types.schema import Schema
from toolmd.errors import did_you_mean

_OPTIONAL = "optional_type<"


@dataclass(frozen=True, slots=True)
class CheckedExpression:
    """The result type of an expression, and the names that it reads."""

    schema: Schema | None
    """The schema of the result, an optional unwrapped; None if only a run can show it."""
    optional: bool
    """Whether it may return no value (`slots.first()`)."""
    unguarded: frozenset[str]
    """Names that are read and never tested by `has()`."""
    names: frozenset[str]


class Checker:
    """A checker of expressions over the typed names of one scope.

    An object with known fields is closed: a field that it lacks is an error. With `functions`,
    `now()` and `next_days()` are available.
    """

    def __init__(self, names: Mapping[str, Schema], *, functions: bool = False) -> None:
        self._names = dict(names)
        self._functions = functions
        self._shapes = Shapes()
        self._environment: Any = None
        self._forms: tuple[Any, ...] | None = None
        """Environments in which numbers are whole or not, in all ways that matter."""

    def check(self, source: str) -> CheckedExpression:
        """Return the type of the result; raises ExpressionError with its position."""
        rewritten = rewrite(source, self._names)
        self._check_tested(rewritten)
        if self._environment is None:
            self._environment = self._make(self._shapes)
        try:
            compiled = self._environment.compile(rewritten.text)
            kind = compiled.return_type().name()
            growth_of(compiled)
        except (RuntimeError, ValueError, MemoryError, SystemError) as error:
            fields = self._shapes.fields()
            kinds = {"integer", "number"}
            numbers = [name for name, s in self._names.items() if kinds & {*s.types}]
            raise compile_error(
                str(error), rewritten, self._names, self._compiles, fields, numbers
            ) from None
        if may_mix(source, self._shapes.numbers):
            self._check_forms(rewritten)
        return self._checked(rewritten, kind)

    def _check_forms(self, rewritten: Rewritten) -> None:
        """Raise ExpressionError if the expression has no value where a number is whole, or not."""
        if self._forms is None:
            tried = forms(self._shapes.numbers)
            self._forms = tuple(self._make(Shapes(is_whole)) for is_whole in tried)
        for environment_ in self._forms:
            try:
                environment_.compile(rewritten.text)
            except (RuntimeError, ValueError, MemoryError, SystemError) as error:
                if (mixed := form_error(str(error), rewritten)) is not None:
                    raise mixed from None

    def _compiles(self, source: str) -> bool:
        """Return whether an expression that a message may propose passes this checker."""
        try:
            growth_of(self._environment.compile(rewrite(source, self._names).text))
        except (ExpressionError, RuntimeError, ValueError, MemoryError, SystemError):
            return False
        return True

    def _make(self, shapes: Shapes) -> Any:
        from cel_expr_python import cel

        variables = {_called(n): shapes.type_of(s) for n, s in self._names.items()}
        variables[GIVEN] = cel.Type.Map(cel.Type.STRING, cel.Type.BOOL)
        return environment(variables, functions=self._functions, pool=shapes.pool())

    def _check_tested(self, rewritten: Rewritten) -> None:
        for name in sorted(set(rewritten.tested.values()) - set(self._names)):
            line, column = rewritten.tested_at(name)
            raise ExpressionError(
                f"unknown name '{name}'", column, line=line, help=did_you_mean(name, self._names)
            )

    def _checked(self, rewritten: Rewritten, kind: str) -> CheckedExpression:
        if optional := kind.startswith(_OPTIONAL):
            kind = kind[len(_OPTIONAL) : -1]
        if _OPTIONAL in kind:
            message = "an optional lies inside the result"
            raise ExpressionError(message, help="unwrap it by `.orValue(…)`, or write `[?…]`")
        schema = self._shapes.schema_of(kind)
        if rewritten.path and not optional:
            root, *fields = rewritten.path
            schema = at_path(self._names.get(root), fields) or schema
        tested = set(rewritten.tested.values())
        used = {rewritten.aliases.get(_called(n), n) for n in rewritten.variables}
        used = {rewritten.aliases.get(n, n) for n in used} & set(self._names)
        return CheckedExpression(
            schema, optional, frozenset(used - tested), frozenset(used | tested)
        )


def _called(name: str) -> str:
    """Return the name of a variable in the compiled text."""
    return f"v_{name}" if name in CLASHING else fold(name)
