"""Check what one place of a skill reads: its names, the values of arguments, and their types."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from toolmd._expressions import CheckedExpression, Checker, ExpressionError
from toolmd._skills.text import ValueTextError, read_text, shape_for, takes_text
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Position, Severity, Source, Span
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import Argument, Expression, Template, Value, Values
from toolmd._validation import problems
from toolmd.errors import did_you_mean

ANYTHING = Schema()
_LINE = 60
"""How much of an expression a message shows."""
_SPAN = re.compile(r"`(([^\W\d]\w*)[^`]*)`")


class StepFindings:
    """Diagnostics of one file, without duplicates."""

    def __init__(self, source: Source, caller: Schema, roles: tuple[str, ...] = ()) -> None:
        self._source = source
        self.roles = roles
        """The roles that the settings list; empty where they list none."""
        self.caller = caller
        """The type of `caller` in its expressions."""
        self._found: dict[Diagnostic, None] = {}
        self.scopes: dict[tuple[int, int], Mapping[str, Schema]] = {}
        """The names that each expression can read, by its line and column."""

    def report(
        self,
        code: Code,
        at: int | Position | Expression,
        message: str,
        hint: str = "",
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Add a finding at a line, a position or an expression; line 0 is the title."""
        if isinstance(at, Expression):
            start = max(at.column, 1)
            at = Position(at.line, start, start + len(at.cel))
        line, column, end = (at, 1, 0) if isinstance(at, int) else at
        line, column = line or self._source.line, max(column, 1)
        span = Span(self._source.path, line, column, line, max(end, column + 1))
        self._found[Diagnostic(span, code, severity, message, hint)] = None

    def report_broken(self, expression: Expression, error: ExpressionError) -> None:
        """Add an expression's syntax error at its place in the file."""
        line = expression.line + error.line - 1 if expression.line else 0
        first = error.line == 1
        column = error.column + (max(expression.column, 1) - 1 if first else 0)
        cel = expression.cel
        shown = cel if len(cel) <= _LINE else f"{cel[: _LINE - 1]}…"
        at, message = Position(line, column, column + 1), f"`{shown}`: {error.message}"
        self.report(Code.of(error.code), at, message, error.help)

    def sorted(self) -> tuple[Diagnostic, ...]:
        """Return the findings in the file's order."""
        return tuple(sorted(self._found, key=lambda d: (d.span.line, d.span.column, d.code)))


@dataclass(frozen=True)
class Scope:
    """The names at one point of the workflow, and the check of what reads them."""

    found: StepFindings
    names: Mapping[str, Schema]
    unsure: frozenset[str]
    """The names that may have no value."""
    tolerant: bool = False
    """Whether something guards the names, such as the step's own When."""
    of_approver: bool = False
    """Whether its expressions may read the person who decides."""

    @classmethod
    def of(cls, parameters: tuple[Parameter, ...], found: StepFindings) -> "Scope":
        """Return a scope with the inputs; an optional one without a default is unsure."""
        unsure = {p.name for p in parameters if not p.required and not p.shape.has_default}
        return cls(found, {p.name: p.shape for p in parameters}, frozenset(unsure))

    def also(self, name: str, shape: Schema | None, *, sure: bool = True) -> "Scope":
        """Return this scope with one more name."""
        unsure = self.unsure - {name} if sure else self.unsure | {name}
        return replace(self, names={**self.names, name: shape or ANYTHING}, unsure=unsure)

    def met(self, other: "Scope") -> "Scope":
        """Return the scope where two paths meet: a name of only one path is unsure."""
        names = {**self.names, **other.names}
        for name in self.names.keys() & other.names.keys():
            if self.names[name] != other.names[name]:
                names[name] = ANYTHING
        lone = self.names.keys() ^ other.names.keys()
        return replace(self, names=names, unsure=self.unsure | other.unsure | lone)

    def guarded(self, tolerant: bool = True) -> "Scope":  # noqa: FBT001, FBT002 - one flag
        """Return this scope without reports of names that may have no value, if `tolerant`."""
        return replace(self, tolerant=True) if tolerant and not self.tolerant else self

    @cached_property
    def _checker(self) -> Checker:
        return Checker(self.names, self.found.caller, of_approver=self.of_approver)

    def check(self, expression: Expression) -> CheckedExpression | None:
        """Check an expression and report its errors; return None where it can't be compiled."""
        self.found.scopes[expression.line, expression.column] = self.names
        try:
            checked = self._checker.check(expression.cel)
        except ExpressionError as error:
            self.found.report_broken(expression, error)
            return None
        for name in sorted(checked.program.unguarded & self.unsure) if not self.tolerant else ():
            message = f"'{name}' may have no value here"
            hint = f"guard it: `has({name}) ? … : …`, or give the step a **When**: `has({name})`"
            self.found.report(Code.MAY_BE_UNSET, expression, message, hint, Severity.WARNING)
        return checked

    def arguments(
        self,
        callee: str,
        parameters: tuple[Parameter, ...],
        written: tuple[Argument, ...],
        at: int | Position,
        *,
        of: str = "the step",
        below: str = "**With**",
    ) -> None:
        """Check a call for unknown, missing and mismatched arguments."""
        known = {parameter.name: parameter for parameter in parameters}
        for argument in written:
            parameter = known.get(argument.name)
            if parameter is None:
                names = ", ".join([*known][:12])
                every = f"its parameters: {names}" if known else "it has no parameters"
                hint = did_you_mean(argument.name, known) or every
                message = f"{callee} has no parameter '{argument.name}'"
                self.found.report(Code.UNKNOWN_ARGUMENT, argument.place or at, message, hint)
                continue
            value, place = argument.value, argument.value_place or at
            only = value.expression if isinstance(value, Template) else None
            # A bare name without a value leaves an optional argument out.
            lone = not parameter.required and only is not None and only.cel.isidentifier()
            self.guarded(lone).value(value, parameter.shape, argument.name, place)
        given = {argument.name for argument in written}
        for name, parameter in known.items():
            if parameter.required and not parameter.shape.has_default and name not in given:
                message = f"{callee} needs '{name}', which {of} does not set"
                hint = f"add `- {name}: …` below {below}"
                self.found.report(Code.MISSING_ARGUMENT, at, message, hint)

    def value(self, value: Value, shape: Schema, name: str, at: int | Position) -> None:
        """Check one value for a parameter of this shape."""
        if isinstance(value, Values):
            self._nested(value, shape, name, at)
            return
        only = value.parts[0] if len(value.parts) == 1 else None
        if isinstance(only, Expression) and (value.code or not takes_text(shape)):
            checked = self.check(only)
            if checked is not None and (reason := mismatch(checked.schema, shape)):
                hint = "write an expression that gives a value of that type"
                self.found.report(Code.ARGUMENT_MISMATCH, only, f"'{name}': {reason}", hint)
        elif all(isinstance(part, str) for part in value.parts):
            self._text("".join(str(part) for part in value.parts), shape, name, at)
        else:
            self.template(value, at)

    def template(self, template: Template | None, at: int | Position) -> None:
        """Check the expressions within text."""
        for part in template.parts if template is not None else ():
            if isinstance(part, Expression):
                self.check(part)
            else:
                self._spans(part, at)

    def _spans(self, text: str, at: int | Position) -> None:
        """Report a code span within text that begins with a name: only braces give its value."""
        for span, name in _SPAN.findall(text):
            if name in self.names:
                message = f"`{span}` stays as it is within text, although '{name}' is a name"
                hint = f"write `{{{span}}}` for its value"
                self.found.report(Code.WORD_OR_NAME, at, message, hint, Severity.HINT)

    def _text(self, text: str, shape: Schema, name: str, at: int | Position) -> None:
        named = text in self.names
        self._spans(text, at)
        hint = "write a value that the parameter takes, or the name of one in a code span"
        hint = f"write `{text}` in a code span for the value of that name" if named else hint
        try:
            wrong = [one.message for one in problems(read_text(text, shape), shape, path=name)]
        except ValueTextError as error:
            wrong = [f"'{name}': {error}"]
        for message in wrong:
            self.found.report(Code.ARGUMENT_MISMATCH, at, message, hint)
        if named and not wrong:
            message = f"'{name}' has the text '{text}', which is also a name"
            keep = f'; write `"{text}"` in one for the word'
            self.found.report(Code.WORD_OR_NAME, at, message, hint + keep, Severity.HINT)

    def _nested(self, value: Values, shape: Schema, name: str, at: int | Position) -> None:
        kind = "object" if value.fields else "array"
        if shape.types and kind not in shape.types:
            message = f"'{name}': {kind} where {' or '.join(shape.types)} is needed"
            hint = "write one value after its colon"
            if "object" in shape.types or "array" in shape.types:
                line = "field: value" if "object" in shape.types else "value"
                hint = f"write `- {line}` below it, one per line"
            self.found.report(Code.ARGUMENT_MISMATCH, at, message, hint)
        elif value.fields and (properties := shape_for(value, shape).properties) is not None:
            self.arguments(f"'{name}'", properties, value.fields, at)
        else:
            inner = shape.values or ANYTHING
            for field in value.fields:
                self.value(field.value, inner, f"{name}.{field.name}", field.value_place or at)
            for item in value.items:
                self.value(item, shape.items or ANYTHING, f"{name}[]", at)


def mismatch(got: Schema | None, want: Schema, path: str = "") -> str:
    """Return why no value of `got` fits `want`; empty where one may fit.

    Undecidable cases pass, such as a JSON number for an integer: the call checks the value.
    """
    if got is None or not got.types or not want.types:
        return ""
    # A number may be whole at run time, so the call checks it.
    alike = {"integer": "number", "number": "integer"}
    shared = [one for one in got.types if one in want.types or alike.get(one) in want.types]
    where = f"{path} is " if path else ""
    if not shared:
        return f"{where}{' or '.join(got.types)} where {' or '.join(want.types)} is needed"
    if got.enum and want.enum and not any(value in want.enum for value in got.enum):
        return f"{where}none of {', '.join(map(str, want.enum))}"
    if shared == ["array"] and got.items is not None and want.items is not None:
        return mismatch(got.items, want.items, f"{path}[]")
    if shared == ["object"]:
        pairs = [(one, other) for one in got.objects for other in want.objects]
        reasons = [_object_mismatch(one, other, path) for one, other in pairs]
        return "" if "" in reasons else reasons[0]
    return ""


def _object_mismatch(got: Schema, want: Schema, path: str) -> str:
    if got.properties is None or want.properties is None:
        return ""
    given = {one.name: one for one in got.properties}
    wanted = {one.name: one for one in want.properties}
    dot = f"{path}." if path else ""
    for name, one in wanted.items():
        if name not in given:
            if one.required:
                return f"the field '{dot}{name}' is required but missing"
            continue
        if reason := mismatch(given[name].shape, one.shape, f"{dot}{name}"):
            return reason
    if want.values is None:
        for name, one in given.items():
            if name not in wanted and one.required:
                return f"the field '{dot}{name}' is not accepted"
    return ""
