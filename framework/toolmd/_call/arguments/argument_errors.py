"""The syntax and arguments checks and the Rules: each error says what would be valid."""

from collections.abc import Mapping
from typing import Any

from toolmd._call.denial import CallDenied, Explained, deny
from toolmd._expressions import EvaluationError, Program, compile_expression
from toolmd._types.call import Call
from toolmd._types.call_spec import Rule, ToolCallSpec
from toolmd._types.result import Failure
from toolmd._types.verdict import Problem
from toolmd._validation import (
    InvalidArgumentsError,
    MalformedError,
    read_object,
)

MAX_TOLD = 3
"""The most errors in the message; the details list all of them."""
_CODE = "invalid_arguments"


def read(call: Call) -> dict[str, Any]:
    """Parse one JSON object within bounds. Raises CallDenied."""
    try:
        return read_object(call.arguments)
    except MalformedError as error:
        raise CallDenied(mismatch(error)) from None


def mismatch(error: MalformedError | InvalidArgumentsError) -> Failure | Explained:
    """Return `malformed_call`, or `invalid_arguments` with every error."""
    if isinstance(error, MalformedError):
        return Failure("malformed_call", str(error))
    return Explained(_CODE, error.names, lambda: _explained(error))


def _explained(error: InvalidArgumentsError) -> Failure:
    problems = error.problems
    told = "; ".join([problem.message for problem in problems[:MAX_TOLD]])
    more = f"; and {len(problems) - MAX_TOLD} more" if len(problems) > MAX_TOLD else ""
    return Failure(_CODE, told + more, problems)


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
            message = f"{rule.message} (It can't be told: {why}.)"
            return Problem("rule_not_computable", "", message, rule.expression)
        if not isinstance(answer, bool):
            raise TypeError(f"`{rule.expression}` gave no boolean")
        return None if answer else Problem("rule_broken", "", rule.message, rule.expression)
