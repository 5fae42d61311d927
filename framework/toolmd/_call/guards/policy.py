"""The checks confidence, intent, review and confirmation of a file and its project."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from toolmd._call.guards.intent import MAX_MESSAGE, asks_for, states
from toolmd._call.guards.said import Languages, Said, languages_with
from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.language import Language
from toolmd._types.schema import Schema
from toolmd._types.settings import OnMissingConfidence, SafetySettings
from toolmd._types.verdict import ALLOWED, Action, Problem, Verdict
from toolmd._validation import fitting_objects

PolicyCheck = Callable[[float | None, Caller, Mapping[str, Any]], Verdict]
"""Checks a call by its confidence, its caller and its validated arguments."""


def policy_checks(
    call_spec: ToolCallSpec,
    default_min: float | None,
    safety: SafetySettings,
    added: tuple[Language, ...] = (),
) -> tuple[PolicyCheck, ...]:
    """Return the checks that can stop a call of this tool, in the pipeline's order.

    `added` are the languages of plugins. A check that always allows is left out. Raises
    ExpressionError for a condition that can't be compiled: the tool can't be called then.
    """
    own = call_spec.safety
    stated: list[PolicyCheck] = []
    if (least := threshold(call_spec, default_min, safety)) is not None:
        stated.append(_confidence(call_spec.name, least, on_missing(call_spec, safety)))
    if own.explicit_intent:
        stated.append(_intent(call_spec, languages_with(added)))
    if verbatim := {p.name: p.shape for p in call_spec.parameters if p.shape.holds_verbatim}:
        stated.append(_verbatim(verbatim, languages_with(added)))
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


def _intent(call_spec: ToolCallSpec, languages: Languages) -> PolicyCheck:
    name, keywords = call_spec.name, call_spec.safety.intent_keywords
    missing = Verdict(
        Action.DENY,
        "no_explicit_intent",
        f"The user did not ask for {name} in words of their own: ask whether they want it.",
    )
    unsure = Verdict(
        Action.CONFIRM,
        "no_explicit_intent",
        f"It is not certain that the user asked for {name}: they must confirm it.",
    )

    def check(_stated: float | None, caller: Caller, _arguments: Mapping[str, Any]) -> Verdict:
        # An intent after so many words does not count.
        said = asks_for(caller.message[:MAX_MESSAGE], keywords, languages)
        return ALLOWED if said is Said.YES else unsure if said is Said.UNSURE else missing

    return check


def _verbatim(shapes: Mapping[str, Schema], languages: Languages) -> PolicyCheck:
    def check(_stated: float | None, caller: Caller, arguments: Mapping[str, Any]) -> Verdict:
        found = [
            (path, said)
            for name, shape in shapes.items()
            if name in arguments
            for path, said in _unsaid(arguments[name], shape, name, (caller.message, languages))
        ]
        return _not_stated(found) if found else ALLOWED

    return check


def not_stated(call: Call, path: str, value: Any) -> Verdict | None:
    """Return the verdict of Verbatim for a guard that checks a value, or a part of one, itself.

    Args:
        call: The call, with the user's message.
        path: The argument that the verdict names.
        value: The value whose words the user must have stated.

    Returns:
        A verdict with the code `not_stated_by_user`, or None if the user's message states the value
        and does not negate it.
    """
    said = states(value, call.caller.message)
    return None if said is Said.YES else _not_stated([(path, said)])


def _not_stated(found: Sequence[tuple[str, Said]]) -> Verdict:
    problems = tuple(
        Problem("not_stated_by_user", path, f"{path} {_LACKS[said]}") for path, said in found
    )
    message = "; ".join(problem.message for problem in problems)
    denied = any(said is Said.NO for _, said in found)
    action = Action.DENY if denied else Action.CONFIRM
    return Verdict(action, "not_stated_by_user", f"{message}: ask the user.", problems)


_LACKS = {
    Said.NO: "must be in the user's own words, and not negated",
    Said.UNSURE: "may not be what the user stated",
}


def _unsaid(
    value: Any, shape: Schema, path: str, heard: tuple[str, Languages]
) -> Iterator[tuple[str, Said]]:
    """Return the path of each Verbatim value that the message, `heard` in its languages, lacks."""
    if shape.verbatim:
        if (said := states(value, *heard)) is not Said.YES:
            yield path, said
        return
    if isinstance(value, list) and shape.items is not None:
        for index, item in enumerate(value):
            yield from _unsaid(item, shape.items, f"{path}[{index}]", heard)
    elif isinstance(value, dict):
        for one in fitting_objects(value, shape):
            for name, item in value.items():
                for inner in one.of_field(name):
                    yield from _unsaid(item, inner, f"{path}.{name}", heard)


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
