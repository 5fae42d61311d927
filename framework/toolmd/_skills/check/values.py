"""Check the arguments of a step against the parameters of the tool or skill that it calls."""

import re

from toolmd._skills.check.findings import StepFindings
from toolmd._skills.check.fit import excess, mismatch
from toolmd._skills.check.scope import ANYTHING, Scope
from toolmd._skills.text import ValueTextError, meant, read_text, takes_text
from toolmd._types.code import Code
from toolmd._types.diagnostic import Severity
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import Argument, Expression, Template, Value, Values
from toolmd._types.source import Position
from toolmd._validation import problems
from toolmd.errors import did_you_mean

_SPAN = re.compile(r"`(([^\W\d]\w*)[^`]*)`")


class ValueCheck:
    """Checks values in one scope; `tolerant` where the step's own When guards its names."""

    def __init__(self, scope: Scope, found: StepFindings, *, tolerant: bool) -> None:
        self._scope = scope
        self._found = found
        self._tolerant = tolerant

    def arguments(
        self,
        callee: str,
        parameters: tuple[Parameter, ...],
        written: tuple[Argument, ...],
        at: int | Position,
        file: str = "",
    ) -> None:
        """Check a call for unknown, missing and mismatched arguments; `file` declares them."""
        known = {parameter.name: parameter for parameter in parameters}
        for argument in written:
            parameter = known.get(argument.name)
            if parameter is None:
                self._found.error(
                    Code.UNKNOWN_ARGUMENT,
                    argument.place or at,
                    f"{callee} has no parameter '{argument.name}'",
                    did_you_mean(argument.name, known) or _known(list(known)),
                )
            else:
                self._argument(argument, parameter, argument.value_place or at)
                if not self._tolerant:
                    self._excess(argument, parameter, f"{callee} ({file})" if file else callee)
        given = {argument.name for argument in written}
        for name, parameter in known.items():
            if parameter.required and not parameter.shape.has_default and name not in given:
                self._found.error(
                    Code.MISSING_ARGUMENT,
                    at,
                    f"{callee} needs '{name}', which the step does not set",
                    f"add `- {name}: …` below **With**",
                )

    def _argument(self, argument: Argument, parameter: Parameter, at: int | Position) -> None:
        value = argument.value
        # A bare name without a value leaves an optional argument out.
        lone = not parameter.required and isinstance(value, Template) and _is_name(value)
        check = ValueCheck(self._scope, self._found, tolerant=True) if lone else self
        check.value(value, parameter.shape, argument.name, at)

    def _excess(self, argument: Argument, parameter: Parameter, callee: str) -> None:
        """Warn of a name that may have values which the parameter does not accept."""
        value = argument.value
        expression = value.expression if isinstance(value, Template) else None
        if expression is None:
            return
        checked = self._scope.check(expression, self._found, tolerant=True)
        if checked is not None and (found := excess(checked.schema, parameter.shape)):
            over, takes = found
            message = f"`{expression.cel}` may be {over}, but '{argument.name}' of {callee} {takes}"
            hint = "declare the same values in both places, or skip the step with When"
            self._found.at(expression, Code.ARGUMENT_MISMATCH, Severity.WARNING, message, hint)

    def value(self, value: Value, shape: Schema, name: str, at: int | Position) -> None:
        """Check one value for a parameter of this shape."""
        if isinstance(value, Values):
            self._nested(value, shape, name, at)
            return
        only = value.parts[0] if len(value.parts) == 1 else None
        if isinstance(only, Expression) and (value.code or not takes_text(shape)):
            self._expression(only, shape, name)
        elif all(isinstance(part, str) for part in value.parts):
            self._text("".join(str(part) for part in value.parts), shape, name, at)
        else:
            self.template(value, at)

    def template(self, template: Template | None, at: int | Position) -> None:
        """Check the expressions within text."""
        for part in template.parts if template is not None else ():
            if isinstance(part, Expression):
                self._scope.check(part, self._found, tolerant=self._tolerant)
            else:
                self._spans(part, at)

    def _spans(self, text: str, at: int | Position) -> None:
        """Report a code span within text that begins with a name: only braces give its value."""
        for span, name in _SPAN.findall(text):
            if name in self._scope.names:
                message = f"`{span}` stays as it is within text, although '{name}' is a name"
                hint = f"write `{{{span}}}` for its value"
                self._found.add(Code.WORD_OR_NAME, Severity.HINT, at, message, hint)

    def _expression(self, expression: Expression, shape: Schema, name: str) -> None:
        checked = self._scope.check(expression, self._found, tolerant=self._tolerant)
        if checked is None:
            return
        if reason := mismatch(checked.schema, shape):
            message = f"'{name}': {reason}"
            self._found.at(expression, Code.ARGUMENT_MISMATCH, Severity.ERROR, message)

    def _text(self, text: str, shape: Schema, name: str, at: int | Position) -> None:
        named = text in self._scope.names
        self._spans(text, at)
        hint = f"write `{text}` in a code span for the value of that name" if named else ""
        try:
            wrong = problems(read_text(text, shape), shape, path=name)
        except ValueTextError as error:
            self._found.error(Code.ARGUMENT_MISMATCH, at, f"'{name}': {error}", hint)
            return
        for problem in wrong:
            self._found.error(Code.ARGUMENT_MISMATCH, at, problem.message, hint)
        if named and not wrong:
            message = f"'{name}' has the text '{text}', which is also a name"
            keep = f'; write `"{text}"` in one for the word'
            self._found.add(Code.WORD_OR_NAME, Severity.HINT, at, message, hint + keep)

    def _nested(self, value: Values, shape: Schema, name: str, at: int | Position) -> None:
        kind = "object" if value.fields else "array"
        if shape.types and kind not in shape.types:
            message = f"'{name}': {kind} where {' or '.join(shape.types)} is needed"
            self._found.error(Code.ARGUMENT_MISMATCH, at, message, _way_of_writing(shape))
        elif value.fields and (properties := meant(value, shape).properties) is not None:
            self.arguments(f"'{name}'", properties, value.fields, at)
        else:
            for field in value.fields:
                inner = shape.values or ANYTHING
                self.value(field.value, inner, f"{name}.{field.name}", field.value_place or at)
            for item in value.items:
                self.value(item, shape.items or ANYTHING, f"{name}[]", at)


def _is_name(template: Template) -> bool:
    expression = template.expression
    return expression is not None and expression.cel.isidentifier()


def _known(names: list[str]) -> str:
    return f"its parameters: {', '.join(names[:12])}" if names else "it has no parameters"


def _way_of_writing(shape: Schema) -> str:
    if "object" in shape.types:
        return "write `- field: value` below it, one per line"
    if "array" in shape.types:
        return "write `- value` below it, one per line"
    return "write one value after its colon"
