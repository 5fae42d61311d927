"""Track the names that a step can read, with their types, and whether they surely have a value."""

from dataclasses import dataclass, field
from functools import cached_property

from toolmd._expressions import CheckedExpression, Checker, ExpressionError
from toolmd._skills.check.findings import StepFindings
from toolmd._types.code import Code
from toolmd._types.diagnostic import Severity
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import Expression

ANYTHING = Schema()


@dataclass(frozen=True)
class Scope:
    """The names at one point of the workflow."""

    names: dict[str, Schema] = field(default_factory=dict)
    unsure: frozenset[str] = frozenset()
    """The names that may have no value."""

    @classmethod
    def of(cls, parameters: tuple[Parameter, ...]) -> "Scope":
        """Return a scope with the inputs; an optional one without a default is unsure."""
        unsure = {p.name for p in parameters if not p.required and not p.shape.has_default}
        return cls({p.name: p.shape for p in parameters}, frozenset(unsure))

    def also(self, name: str, shape: Schema | None, *, sure: bool = True) -> "Scope":
        """Return this scope with one more name."""
        unsure = self.unsure - {name} if sure else self.unsure | {name}
        return Scope({**self.names, name: shape or ANYTHING}, unsure)

    def met(self, other: "Scope") -> "Scope":
        """Return the scope where two paths meet: a name of only one path is unsure."""
        names = {**self.names, **other.names}
        for name in self.names.keys() & other.names.keys():
            if self.names[name] != other.names[name]:
                names[name] = ANYTHING
        lone = self.names.keys() ^ other.names.keys()
        return Scope(names, self.unsure | other.unsure | lone)

    @cached_property
    def checker(self) -> Checker:
        """Return the checker of expressions over these names."""
        return Checker(self.names, functions=True)

    def check(
        self, expression: Expression, found: StepFindings, *, tolerant: bool = False
    ) -> CheckedExpression | None:
        """Check an expression and report its errors; return None where it can't be compiled.

        With `tolerant`, a name that may have no value is not reported.
        """
        found.scopes[expression.line, expression.column] = self.names
        try:
            checked = self.checker.check(expression.cel)
        except ExpressionError as error:
            found.broken(expression, error)
            return None
        for name in sorted(checked.unguarded & self.unsure) if not tolerant else ():
            found.at(
                expression,
                Code.MAY_BE_UNSET,
                Severity.WARNING,
                f"'{name}' may have no value here",
                f"guard it: `has({name}) ? … : …`, or give the step a **When**: `has({name})`",
            )
        return checked
