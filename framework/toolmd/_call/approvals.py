"""Which approvals a call needs, who may give them, and what an approver is asked."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from toolmd._call.denial import CallDenied, deny
from toolmd._expressions import EvaluationError, ExpressionError, Program, compile_expression
from toolmd._expressions.syntax import fill
from toolmd._types.approval import (
    ALWAYS,
    OPERATOR_GROUP,
    Approval,
    Approved,
    OpenApproval,
    either,
)
from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.confirmation import Confirmation
from toolmd._types.decision import Approver
from toolmd._types.identity import caller_values, values_of

APPROVER = "approver"
"""The name under which By reads the person who decides."""


class Approvals:
    """The approvals of one tool."""

    def __init__(self, call_spec: ToolCallSpec) -> None:
        """Compile the conditions. Raises ExpressionError: the tool can't be called then."""
        self._names = frozenset(parameter.name for parameter in call_spec.parameters)
        own = call_spec.safety
        always = own.requires_confirmation or own.sensitivity == "critical"
        self._confirm_when = None if always else own.confirm_when
        self._groups = [
            (one, None if one.when == ALWAYS else self._program(one.when))
            for one in call_spec.approvals
        ]
        for one in call_spec.approvals:
            if isinstance(one.by, str):
                self._program(one.by)

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
            for number, (one, when) in enumerate(self._groups)
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

    def why(
        self, opened: tuple[OpenApproval, ...], values: Mapping[str, Any], now: dt.datetime
    ) -> str:
        """Return the sentence that names the conditions for which a call waits.

        Args:
            opened: The approvals that the call needs; without any, it waits for its caller.
            values: What the conditions read.
            now: The time.

        Returns:
            Such as ` A person decides because the condition `amount > 100` holds.`; empty where
            every call waits.
        """
        whens = [self._groups[one.number][0].when for one in opened if one.number >= 0]
        sources = whens if opened else [self._confirm_when]
        reasons = []
        for source in dict.fromkeys(sources):
            if source is not None and source != ALWAYS:
                value = _value(self._program(source), values, now)
                state = "holds" if value is True else "can't be computed"
                reasons += [f"the condition `{source}` {state}"] if value is not False else []
        return f" A person decides because {' and '.join(reasons)}." if reasons else ""

    def expires_s(self, opened: tuple[OpenApproval, ...]) -> float | None:
        """Return how long a call waits for these approvals, in seconds; None for no limit."""
        own = [self._groups[one.number][0].expires_s for one in opened if one.number >= 0]
        return min(own, default=None)


def yes_of(one: Confirmation, who: Approver, now: dt.datetime) -> Approved:
    """Return the yes of a person, with the approvals of a call that it may count for.

    The person needs a role or fact by now. Raises CallDenied where they may give none.
    """
    at = now.timestamp()
    mine = tuple(each.number for each in one.approvals if _may_give(each, one.call, who, now))
    needed = " and ".join(dict.fromkeys(who_may(each, at) for each in one.approvals))
    if who.user is not None and who.user == one.call.caller.user:
        raise deny("not_allowed", f"Nobody approves their own call: it waits for {needed}.")
    if who.user is not None and who.user in one.proposed_by:
        raise deny("not_allowed", f"You edited this call, so another {needed} approves it.")
    if not mine:
        whose = "; name the person who decides, and a role" if who.user is None else ""
        raise deny("not_allowed", f"This call is for {needed} to approve{whose}.")
    if who.user is not None and who.user in {each.user for each in one.approved}:
        message = f"You approved this call; it needs another person: {needed}."
        raise deny("not_allowed", message)
    return Approved(who.user, who.roles, who.via, at, mine)


def may_approve(one: Confirmation, who: Approver, now: dt.datetime) -> bool:
    """Return whether a yes of a person who may decide on a call would count by now."""
    if one.kind != "review":
        return True
    if not one.approvals:
        return who.user is None or who.user != one.call.caller.user
    try:
        yes_of(one, who, now)
    except CallDenied:
        return False
    return True


def roles_by_escalation(one: Confirmation, who: Approver, now: float) -> tuple[str, ...]:
    """Return the roles by which a person may approve only because nobody did for a time."""
    roles = {role for each in one.approvals for role in each.roles(now)} & {*who.roles}
    first = {role for each in one.approvals for role in each.roles(0)}
    return () if roles & first else tuple(sorted(roles))


def who_may(one: OpenApproval, now: float) -> str:
    """Return who may give an approval by now, in words."""
    return one.whose if isinstance(one.by, str) else either(one.roles(now))


def _may_give(one: OpenApproval, call: Call, who: Approver, now: dt.datetime) -> bool:
    if one.number == OPERATOR_GROUP:
        return who.user is None
    if who.user is None:
        return False
    if not set(one.roles(now.timestamp())).isdisjoint(who.roles):
        return True
    if not isinstance(one.by, str):
        return False
    assert isinstance(call.arguments, Mapping)
    decider = Caller(who.user, who.context, roles=who.roles, via=who.via)
    values = {**values_of(call, call.arguments), APPROVER: caller_values(decider)}
    try:
        program = compile_expression(one.by, values)
    except ExpressionError:
        return False
    return _value(program, values, now) is True


def _value(program: Program, values: Mapping[str, Any], now: dt.datetime | None) -> Any:
    try:
        return program.evaluate(values, now=now)
    except EvaluationError:
        return None
