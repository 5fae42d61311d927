"""The checks confidence, review and confirmation of a file and its project, and all in order."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from toolmd._call.guards.policy_check import PolicyCheck
from toolmd._types.call import Caller
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.settings import OnMissingConfidence, SafetySettings
from toolmd._types.verdict import ALLOWED, Action, Problem, Verdict

if TYPE_CHECKING:
    from toolmd._types.language import Language


def policy_checks(
    call_spec: ToolCallSpec,
    default_min: float | None,
    safety: SafetySettings,
    added: "tuple[Language, ...]" = (),
) -> tuple[PolicyCheck, ...]:
    """Return the checks that can stop a call of this tool, in the pipeline's order.

    `added` are the languages of plugins. A check that always allows is left out. Raises
    ExpressionError for a condition that can't be compiled: the tool can't be called then.
    """
    own = call_spec.safety
    stated: list[PolicyCheck] = []
    if (least := threshold(call_spec, default_min, safety)) is not None:
        stated.append(_confidence(call_spec.name, least, on_missing(call_spec, safety)))
    if own.explicit_intent or any(p.shape.holds_verbatim for p in call_spec.parameters):
        # Most tools search no messages, and the import costs a hundred calls.
        from toolmd._call.guards.stated import stated_checks

        stated += stated_checks(call_spec, added)
    checks = [*_combined(stated)]
    reviews: list[PolicyCheck] = []
    if not call_spec.read_only:
        reviews.append(_crisis)
    if (escalates := escalation_of(call_spec)) is not None:
        reviews.append(escalates)
    checks += _combined(reviews)
    if own.requires_confirmation or own.sensitivity == "critical":
        checks.append(lambda _stated, _caller, _arguments: _UNCONFIRMED)
    elif own.confirm_when is not None:
        checks.append(_when(call_spec, own.confirm_when, _UNCONFIRMED))
    return tuple(checks)


def escalation_of(call_spec: ToolCallSpec) -> PolicyCheck | None:
    """Return the check Escalate When of a tool, or None."""
    escalate_when = call_spec.safety.escalate_when
    return None if escalate_when is None else _when(call_spec, escalate_when, _ESCALATED)


def threshold(
    call_spec: ToolCallSpec, default_min: float | None, safety: SafetySettings
) -> float | None:
    """Return the confidence (0..1) that a call of the tool needs; None where it needs none."""
    own = call_spec.safety.min_confidence
    if own is None:
        own = safety.default_min if default_min is None else default_min
    return max((least for least in (own, safety.floor) if least is not None), default=None)


def on_missing(call_spec: ToolCallSpec, safety: SafetySettings) -> OnMissingConfidence:
    """Return the action for a call without a confidence, where the tool needs one."""
    return call_spec.safety.on_missing_confidence or safety.on_missing_confidence


def _combined(checks: Sequence[PolicyCheck]) -> Sequence[PolicyCheck]:
    """Combine checks into one: the first of the strictest that fail gives the code.

    The message and the details list all that fail.
    """
    if len(checks) < 2:  # noqa: PLR2004 - several
        return checks

    def combined(stated: float | None, caller: Caller, arguments: Mapping[str, Any]) -> Verdict:
        failed = [v for check in checks if (v := check(stated, caller, arguments)) is not ALLOWED]
        if len(failed) < 2:  # noqa: PLR2004 - as above
            return failed[0] if failed else ALLOWED
        failed.sort(key=lambda verdict: -verdict.action)
        message = " ".join(verdict.message for verdict in failed)
        listed = [v.details or (Problem(v.code, "", v.message),) for v in failed]
        return failed[0]._replace(message=message, details=tuple(chain.from_iterable(listed)))

    return (combined,)


_ESCALATED = Verdict(
    Action.REVIEW, "review_required", "An operator must review this call before it runs."
)
_CRISIS = Verdict(
    Action.REVIEW,
    "review_required",
    "The conversation may be about a crisis, so an operator must review this call before it runs.",
)
_UNCONFIRMED = Verdict(Action.CONFIRM, "confirmation_required", "The user must confirm it.")


def _confidence(name: str, least: float, unstated: OnMissingConfidence) -> PolicyCheck:
    wanted = f"{name} needs a confidence of at least {least:g}"
    action = Action.CONFIRM if unstated == "confirm" else Action.DENY
    missing = Verdict(action, "missing_confidence", f"{wanted}: state it (0 to 1) with the call.")

    def check(stated: float | None, _caller: Caller, _arguments: Mapping[str, Any]) -> Verdict:
        if stated is None:
            return missing
        if stated >= least:
            return ALLOWED
        message = f"{wanted}, not {stated:g}: ask the user instead."
        return Verdict(Action.DENY, "low_confidence", message)

    return check


def _crisis(_stated: float | None, caller: Caller, _arguments: Mapping[str, Any]) -> Verdict:
    return _CRISIS if caller.crisis else ALLOWED


def _when(call_spec: ToolCallSpec, expression: str, verdict: Verdict) -> PolicyCheck:
    # Imported here: most tools have no expression, and the import costs a thousand calls.
    from toolmd._expressions import EvaluationError, compile_expression

    program = compile_expression(expression, frozenset(p.name for p in call_spec.parameters))

    def check(_stated: float | None, _caller: Caller, arguments: Mapping[str, Any]) -> Verdict:
        try:
            answer = program.evaluate(arguments)
        except EvaluationError:
            return verdict
        # Only a plain false lets the call pass; anything odd counts as true.
        return ALLOWED if answer is False else verdict

    return check
