"""The checks of one tool's policy, in their order: each decides on a call with valid arguments.

A new check is a function here and its line in `CHECKS`.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any, NamedTuple

from toolmd._call.denial import guard_failed
from toolmd._call.threads import AROUND, is_from_outside
from toolmd._call.words import Clarity, UserWords, states
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.schema import Schema
from toolmd._types.settings import OnMissingConfidence, SafetySettings
from toolmd._types.verdict import ALLOWED, Action, Problem, Verdict
from toolmd._validation import fitting_objects
from toolmd.hooks import Guard

Arguments = Mapping[str, Any]
Check = Callable[[Call, Arguments], Verdict | Awaitable[Verdict]]
"""Decides on a call by its validated arguments."""
UNNAMED = "denied"
"""The code of a verdict without one: a model always reads a code."""
GUARD_TIMEOUT_S = 5.0
"""How long a guard may take, in seconds."""


class Policy(NamedTuple):
    """What the checks of one tool are built of."""

    call_spec: ToolCallSpec
    safety: SafetySettings
    """The project's settings."""
    default_min: float | None
    """The minimum confidence of the tool's package."""
    words: UserWords
    guards: Sequence[Guard] = ()
    """Those of plugins."""


def checks_of(policy: Policy) -> tuple[Check, ...]:
    """Return the checks that can stop a call of a tool, in the pipeline's order.

    Raises ExpressionError for a condition that can't be compiled: the tool can't be called then.
    """
    return tuple(check for build in CHECKS if (check := build(policy)) is not None)


async def verdict_of(checks: Sequence[Check], call: Call, arguments: Arguments) -> Verdict:
    """Return the strictest verdict: of those that are as strict, the first gives the code.

    The message and the details list all that fail for confidence and intent, or for review.
    """
    failed = []
    for check in checks:
        verdict = check(call, arguments)
        if not isinstance(verdict, Verdict):
            verdict = await verdict
        if verdict is not ALLOWED:
            failed.append(verdict)
    worst = max(failed, key=lambda one: one.action, default=ALLOWED)
    codes = next((group for group in _GROUPS if worst.code in group), frozenset())
    told = sorted((one for one in failed if one.code in codes), key=lambda one: -one.action)
    if len(told) < 2:  # noqa: PLR2004 - several
        return worst
    listed = [one.details or (Problem(one.code, "", one.message),) for one in told]
    message = " ".join(one.message for one in told)
    return worst._replace(message=message, details=tuple(chain.from_iterable(listed)))


# Confidence


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


def _confidence(policy: Policy) -> Check | None:
    least = threshold(policy.call_spec, policy.default_min, policy.safety)
    if least is None:
        return None
    wanted = f"{policy.call_spec.name} needs a confidence of at least {least:g}"
    confirms = on_missing(policy.call_spec, policy.safety) == "confirm"
    missing = Verdict(
        Action.CONFIRM if confirms else Action.DENY,
        "missing_confidence",
        f"{wanted}: state it (0 to 1) with the call.",
    )

    def check(call: Call, _arguments: Arguments) -> Verdict:
        if call.confidence is None:
            return missing
        if call.confidence >= least:
            return ALLOWED
        message = f"{wanted}, not {call.confidence:g}: ask the user instead."
        return Verdict(Action.DENY, "low_confidence", message)

    return check


# Intent: the user's own words


def _intent(policy: Policy) -> Check | None:
    name, safety = policy.call_spec.name, policy.call_spec.safety
    if not safety.explicit_intent:
        return None
    asks_anyway = _confirmation(policy)
    missing = Verdict(
        Action.DENY,
        "no_explicit_intent",
        f"The user did not ask for {name} in words of their own: ask whether they want it.",
    )
    unclear = Verdict(
        Action.CONFIRM,
        "no_explicit_intent",
        f"It is not certain that the user asked for {name}: they must confirm it.",
    )

    async def check(call: Call, arguments: Arguments) -> Verdict:
        clarity = await policy.words.assess("intent", safety.intent_keywords, call)
        if clarity == "clear":
            return ALLOWED
        return unclear if clarity == "unclear" or _asks(asks_anyway, call, arguments) else missing

    return check


def _verbatim(policy: Policy) -> Check | None:
    shapes = {p.name: p.shape for p in policy.call_spec.parameters if p.shape.holds_verbatim}
    if not shapes:
        return None
    asks_anyway = _confirmation(policy)

    async def check(call: Call, arguments: Arguments) -> Verdict:
        found: list[tuple[str, Clarity]] = []
        for name, shape in shapes.items():
            for path, value in _verbatim_values(arguments.get(name), shape, name):
                clarity = await policy.words.assess("verbatim", value, call)
                if clarity != "clear":
                    found.append((path, clarity))
        if not found:
            return ALLOWED
        verdict = _not_stated(found)
        anyway = _asks(asks_anyway, call, arguments)
        return verdict._replace(action=Action.CONFIRM) if anyway else verdict

    return check


def _asks(confirmation: Check | None, call: Call, arguments: Arguments) -> bool:
    """Return whether a person confirms the call in any case."""
    return confirmation is not None and confirmation(call, arguments) is not ALLOWED


def not_stated(call: Call, path: str, value: Any) -> Verdict | None:
    """Return the verdict of Verbatim for a guard that checks a value, or a part of one, itself.

    Args:
        call: The call, with the user's words.
        path: The argument that the verdict names.
        value: The value whose words the user must have stated.

    Returns:
        A verdict with the code `not_stated_by_user`: it asks the person where the user's words are
        in doubt, and denies where they lack the value. None if they state the value.
    """
    clarity = states(value, (*call.caller.earlier, call.caller.message))
    return None if clarity == "clear" else _not_stated([(path, clarity)])


def _not_stated(found: Sequence[tuple[str, Clarity]]) -> Verdict:
    problems = tuple(
        Problem("not_stated_by_user", path, f"{path} {_LACKS[clarity]}") for path, clarity in found
    )
    message = "; ".join(problem.message for problem in problems)
    denied = any(clarity == "absent" for _, clarity in found)
    action = Action.DENY if denied else Action.CONFIRM
    return Verdict(action, "not_stated_by_user", f"{message}: ask the user.", problems)


_LACKS = {
    "absent": "must be in the user's own words",
    "unclear": "may not be what the user stated",
}


def _verbatim_values(value: Any, shape: Schema, path: str) -> Iterator[tuple[str, Any]]:
    """Yield each Verbatim value with its path; an absent one states nothing."""
    if value is None:
        return
    if shape.verbatim:
        yield path, value
    elif isinstance(value, list) and shape.items is not None:
        for index, item in enumerate(value):
            yield from _verbatim_values(item, shape.items, f"{path}[{index}]")
    elif isinstance(value, dict):
        for one in fitting_objects(value, shape):
            for name, item in value.items():
                for inner in one.of_field(name):
                    yield from _verbatim_values(item, inner, f"{path}.{name}")


# Review: another person


def _crisis(policy: Policy) -> Check | None:
    if policy.call_spec.read_only:
        return None
    return lambda call, _arguments: _CRISIS if call.caller.crisis else ALLOWED


def escalation(policy: Policy) -> Check | None:
    """Return the check Escalate When of a tool, or None."""
    escalate_when = policy.call_spec.safety.escalate_when
    return None if escalate_when is None else _when(policy, escalate_when, _ESCALATED)


def _guards(policy: Policy) -> Check | None:
    if not policy.guards:
        return None

    async def check(call: Call, arguments: Arguments) -> Verdict:
        worst = ALLOWED
        for guard in policy.guards:
            verdict = await ask_guard(guard, call, arguments)
            if verdict is not None and verdict.action > worst.action:
                worst = verdict
        return worst

    return check


async def ask_guard(
    guard: Guard, call: Call, arguments: Arguments, timeout_s: float = GUARD_TIMEOUT_S
) -> Verdict | None:
    """Return a guard's verdict. Raises CallDenied for one that fails, is slow or is odd."""
    # A copy: a guard that changes it must not change what runs.
    shown = call._replace(arguments=deepcopy(dict(arguments)))
    try:
        async with asyncio.timeout(timeout_s):
            verdict = await _answer(guard, shown)
    except (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError) as error:
        if is_from_outside(error):
            raise
        raise guard_failed(call.tool, "guard", error) from None
    return verdict if verdict is None or verdict.code else verdict._replace(code=UNNAMED)


async def _answer(guard: Guard, call: Call) -> Verdict | None:
    arguments = deepcopy(call.arguments)
    assert isinstance(arguments, dict)
    answer: Any
    if inspect.iscoroutinefunction(guard):
        answer = await guard(call, arguments)
    else:
        # In a thread, so that a slow one can be given up.
        answer = await AROUND.run(lambda: guard(call, arguments))
        if inspect.isawaitable(answer):
            answer = await answer
    if answer is None or (isinstance(answer, Verdict) and _is_sound(answer)):
        return answer
    raise TypeError(f"{guard!r} answered {type(answer).__name__}, not a Verdict with its types")


def _is_sound(verdict: Any) -> bool:
    """Return whether each part of a verdict has its type; results and records contain them."""
    texts = [verdict.code, verdict.message, *(text for one in verdict.details for text in one)]
    return (
        isinstance(verdict.action, Action)
        and all(isinstance(one, Problem) for one in verdict.details)
        and all(isinstance(text, str) for text in texts)
        and isinstance(verdict.retry_after_ms, int | None)
    )


# Confirmation: the caller's own word


def _confirmation(policy: Policy) -> Check | None:
    own = policy.call_spec.safety
    if own.requires_confirmation or own.sensitivity == "critical":
        return lambda _call, _arguments: _UNCONFIRMED
    return None if own.confirm_when is None else _when(policy, own.confirm_when, _UNCONFIRMED)


def _when(policy: Policy, expression: str, verdict: Verdict) -> Check:
    # Imported here: most tools have no expression, and the import costs a thousand calls.
    from toolmd._expressions import EvaluationError, compile_expression

    program = compile_expression(expression, frozenset(p.name for p in policy.call_spec.parameters))

    def check(_call: Call, arguments: Arguments) -> Verdict:
        try:
            answer = program.evaluate(arguments)
        except EvaluationError:
            return verdict
        # Only a plain false lets the call pass; anything odd counts as true.
        return ALLOWED if answer is False else verdict

    return check


_ESCALATED = Verdict(
    Action.REVIEW, "review_required", "An operator must review this call before it runs."
)
_CRISIS = Verdict(
    Action.REVIEW,
    "review_required",
    "The conversation may be about a crisis, so an operator must review this call before it runs.",
)
_UNCONFIRMED = Verdict(Action.CONFIRM, "confirmation_required", "The user must confirm it.")
OF_WORDS = frozenset({"no_explicit_intent", "not_stated_by_user"})
"""The codes of calls whose prompt shows the user's words."""
_GROUPS = (OF_WORDS | {"low_confidence", "missing_confidence"}, frozenset({"review_required"}))
"""The codes of checks that tell together what fails."""
CHECKS: tuple[Callable[[Policy], Check | None], ...] = (
    _confidence,
    _intent,
    _verbatim,
    _crisis,
    escalation,
    _guards,
    _confirmation,
)
"""The checks, in the pipeline's order."""
