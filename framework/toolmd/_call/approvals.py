"""Which approvals a call needs, who may give them, and what an approver is asked."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from toolmd._expressions import CALLER, EvaluationError, Program, compile_expression
from toolmd._expressions.templates import fill
from toolmd._types.approval import ALWAYS, OPERATOR_GROUP, Approval, OpenApproval
from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.decision import Approver
from toolmd._types.identity import caller_values, values_of

APPROVER = "approver"
"""The name under which By reads the person who decides."""


class Approvals:
    """The approvals of one tool."""

    def __init__(self, call_spec: ToolCallSpec) -> None:
        """Compile the conditions. Raises ExpressionError: the tool can't be called then."""
        self._names = frozenset(parameter.name for parameter in call_spec.parameters)
        self._groups = [
            (one, None if one.when == ALWAYS else self._program(one.when),
             self._program(one.by) if isinstance(one.by, str) else None)
            for one in call_spec.approvals
        ]  # fmt: skip

    def __bool__(self) -> bool:
        return bool(self._groups)

    def _program(self, source: str) -> Program:
        return compile_expression(source, self._names)

    def open(
        self, call: Call, arguments: Mapping[str, Any], now: dt.datetime
    ) -> tuple[OpenApproval, ...]:
        """Return the approvals that a call needs from now on; in doubt, it needs one."""
        values = values_of(call, arguments)
        return tuple(
            self._open(number, one, values, now)
            for number, (one, when, _) in enumerate(self._groups)
            if when is None or _value(when, values, now) is not False
        )

    def _open(
        self, number: int, one: Approval, values: Mapping[str, Any], now: dt.datetime
    ) -> OpenApproval:
        text, began = self.fill(one.text, values, now), now.timestamp()
        escalate = tuple((began + each.after_s, each.to) for each in one.escalate)
        return OpenApproval(number, one.title or one.when, one.by, text, escalate)

    def fill(self, text: str, values: Mapping[str, Any], now: dt.datetime | None = None) -> str:
        """Return a text for a person with the value of each `{expression}`."""
        return fill(text, lambda cel: _value(self._program(cel), values, now))

    def expires_s(self, opened: tuple[OpenApproval, ...]) -> float | None:
        """Return how long a call waits for these approvals, in seconds; None for no limit."""
        own = [self._groups[one.number][0].expires_s for one in opened if one.number >= 0]
        return min(own, default=None)

    def may_give(
        self,
        one: OpenApproval,
        who: Approver,
        arguments: Mapping[str, Any],
        caller: Caller,
        now: dt.datetime,
    ) -> bool:
        """Return whether a person may give an approval, by the person's identity of now."""
        if one.number == OPERATOR_GROUP:
            return who.user is None
        if who.user is None:
            return False
        if not set(one.roles(now.timestamp())).isdisjoint(who.roles):
            return True
        program = self._groups[one.number][2]
        if program is None:
            return False
        decider = Caller(who.user, who.context, roles=who.roles, via=who.via)
        values = {**arguments, CALLER: caller_values(caller), APPROVER: caller_values(decider)}
        return _value(program, values, now) is True


def _value(program: Program, values: Mapping[str, Any], now: dt.datetime | None) -> Any:
    try:
        return program.evaluate(values, now=now)
    except EvaluationError:
        return None
