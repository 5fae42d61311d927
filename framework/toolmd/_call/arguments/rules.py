"""The Rules of a tool: conditions over its arguments, each with a message for the model."""

from collections.abc import Mapping
from typing import Any

from toolmd._call.denial import deny
from toolmd._expressions import EvaluationError, Program, compile_expression
from toolmd._types.call_spec import Rule, ToolCallSpec
from toolmd._types.verdict import Problem


class Rules:
    """The compiled Rules of one tool."""

    def __init__(self, call_spec: ToolCallSpec) -> None:
        """Compile the rules. Raises ExpressionError: the tool can't be called then."""
        names = frozenset(parameter.name for parameter in call_spec.parameters)
        self._rules = [(compile_expression(r.expression, names), r) for r in call_spec.rules]

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raise CallDenied with each rule that is false or can't be computed.

        An exception in a rule goes on: the call is denied as well.
        """
        broken = [problem for p, r in self._rules if (problem := self._fault(p, r, arguments))]
        if broken:
            message = " ".join(problem.message for problem in broken)
            raise deny("invalid_arguments", message, tuple(broken))

    def _fault(self, program: Program, rule: Rule, values: Mapping[str, Any]) -> Problem | None:
        try:
            answer = program.evaluate(values)
        except EvaluationError:
            # The reason may quote a Sensitive value, so only absent arguments are named.
            absent = ", ".join(sorted(program.names - values.keys()))
            why = f"it needs {absent}" if absent else "it has no value for these arguments"
            message = f"{rule.message} (It could not be evaluated: {why}.)"
            return Problem("rule_not_computable", "", message, rule.expression)
        if not isinstance(answer, bool):
            raise TypeError(f"`{rule.expression}` gave no boolean")
        return None if answer else Problem("rule_broken", "", rule.message, rule.expression)
