"""The checks of a call whose tool is known, in their order, as one table.

A new check is a function that builds it for a tool, and its row in `CHECKS`.
"""

import asyncio
import datetime as dt
import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import partial
from itertools import chain
from typing import Any, Literal, NamedTuple, cast
from zoneinfo import ZoneInfo

from toolmd._call.approvals import Approvals
from toolmd._call.arguments import Rules, has_handle, mismatch, read, with_results
from toolmd._call.denial import CallDenied, deny, guard_failed
from toolmd._call.limits import CallLimits
from toolmd._call.threads import AROUND, is_from_outside
from toolmd._call.words import Clarity, UserWords, states
from toolmd._expressions import CALLER, EvaluationError, Program, compile_expression
from toolmd._store.store import Store
from toolmd._types.approval import either
from toolmd._types.call import Call
from toolmd._types.call_spec import DEFAULT_TIMEOUT_S, Given, ToolCallSpec
from toolmd._types.confirmation import By
from toolmd._types.identity import values_of
from toolmd._types.result import EventListener, Result
from toolmd._types.schema import Schema, plain_numbers
from toolmd._types.settings import OnMissingConfidence, SafetySettings, Settings
from toolmd._types.verdict import ALLOWED, Action, Problem, Verdict
from toolmd._validation import (
    ArgumentsValidator,
    InvalidArgumentsError,
    MalformedError,
    fitting_objects,
)
from toolmd._validation.redact import hider
from toolmd.errors import hiding
from toolmd.hooks import Guard

Arguments = Mapping[str, Any]
MAX_CALL_DEPTH = 16
"""How deep calls may nest: tools that call tools must come to an end."""
UNNAMED = "denied"
"""The code of a verdict without one: a model always reads a code."""
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""The characters that not every store can hold."""
GUARD_TIMEOUT_S = 5.0
"""How long a guard may take, in seconds."""


class Passage:
    """A call on its way through the checks."""

    __slots__ = ("_now", "again", "arguments", "began", "by", "call", "notes", "on_event")

    def __init__(
        self,
        call: Call,
        began: float,
        on_event: EventListener | None = None,
        by: By | None = None,
        *,
        again: bool = False,
    ) -> None:
        """Begin with a call that began then (`perf_counter`).

        `by` is the approval by a person, if any. With `again`, a call whose process died runs
        once more under its key.
        """
        self.call = call
        self.began = began
        self.on_event = on_event
        self.by = by
        self.again = again
        self.arguments: dict[str, Any] = {}
        """The validated arguments with defaults, once they are checked."""
        self.notes: list[str] = []
        """What the check of the arguments left out."""
        self._now: dt.datetime | None = None

    def now(self, clock: Callable[[], float]) -> dt.datetime:
        """Return the time of the call's checks, the same for all of them."""
        self._now = self._now or dt.datetime.fromtimestamp(clock(), dt.UTC)
        return self._now


class Parts(NamedTuple):
    """What the checks of one tool are built of."""

    call_spec: ToolCallSpec
    settings: Settings
    """Those of the project."""
    default_min: float | None
    """The minimum confidence of the tool's package."""
    words: UserWords
    guards: Sequence[Guard]
    """Those of plugins."""
    limits: CallLimits
    validator: ArgumentsValidator
    store: Store
    clock: Callable[[], float]
    """Returns the seconds since the epoch."""
    call: Callable[[Call], Awaitable[Result]]
    """Makes another call, through the whole pipeline."""


Step = Callable[[Passage], Any]
"""Checks a call: in the part `read` it raises CallDenied, in `decide` it returns a verdict.

Both may be awaited.
"""


class Check(NamedTuple):
    """A row of the table."""

    name: str
    """The check, as behaviour.md names it."""
    part: Literal["read", "decide"]
    """Reads the call, or decides on it together with the others of this part."""
    build: Callable[[Parts], Step | None]
    """Builds the check of a tool; None for a tool that does not need it.

    Raises ExpressionError for a condition that can't be compiled: the tool can't be called then.
    """


def steps_of(part: str, parts: Parts, *, besides: str = "") -> tuple[Step, ...]:
    """Build the checks of one part of the table for a tool, in order, but those of one name."""
    rows = (check for check in CHECKS if check.part == part and check.name != besides)
    built = (check.build(parts) for check in rows)
    return tuple(step for step in built if step is not None)


async def verdict_of(steps: Sequence[Step], at: Passage) -> Verdict:
    """Return the strictest verdict: of those that are as strict, the first gives the code.

    The message and the details list all that fail for confidence and intent, or for review.
    """
    failed: list[Verdict] = []
    for check in steps:
        verdict = check(at)
        if not isinstance(verdict, Verdict):
            verdict = await verdict
        if verdict is not ALLOWED:
            failed.append(verdict)
    if not failed:
        return ALLOWED
    worst = max(failed, key=lambda one: one.action)
    codes = next((group for group in _GROUPS if worst.code in group), frozenset())
    told = sorted((one for one in failed if one.code in codes), key=lambda one: -one.action)
    if len(told) < 2:  # noqa: PLR2004 - several
        return worst
    listed = [one.details or (Problem(one.code, "", one.message),) for one in told]
    message = " ".join(one.message for one in told)
    return worst._replace(message=message, details=tuple(chain.from_iterable(listed)))


# Syntax: what stands beside the arguments


def check_call(call: Call) -> None:
    """Check the confidence, the depth, and that a store can hold each name of the caller.

    Raises CallDenied.
    """
    caller, stated = call.caller, call.confidence
    if stated is not None and (type(stated) not in {int, float} or not 0 <= stated <= 1):
        out = f", not {stated}" if type(stated) is float else ""
        raise deny("malformed_call", f"confidence must be a number from 0 to 1{out}")
    if call.depth > MAX_CALL_DEPTH:
        raise deny("malformed_call", f"more than {MAX_CALL_DEPTH} tools call one another")
    for name in (caller.user, caller.conversation, caller.via, call.id, *caller.roles):
        if name is not None and not (type(name) is str and name.isprintable()):
            _check_names(call)
    for fact in caller.context.values():
        if not (type(fact) is str and fact.isprintable()):
            _check_names(call)


def _check_names(call: Call) -> None:
    """Check that a store can hold each name of the caller. Raises CallDenied."""
    caller = call.caller
    names: list[tuple[str, Any]] = [
        ("user", caller.user), ("conversation", caller.conversation), ("via", caller.via),
        ("id", call.id),
    ]  # fmt: skip
    names += [("roles", role) for role in caller.roles]
    names += [one for one in caller.context.items() if isinstance(one[1], str)]
    for name, value in names:
        if value is not None and (not isinstance(value, str) or _UNSTORABLE.search(value)):
            message = f"{name}: the host must give a text without NUL and unpaired surrogates"
            raise deny("malformed_call", message)


# Context: what the host supplies


def _context(parts: Parts) -> Step | None:
    spec = parts.call_spec
    if not spec.requires_auth and not spec.requires_context and not spec.allowed_roles:
        return None
    roles = frozenset(spec.allowed_roles)

    def check(at: Passage) -> None:
        caller, lacking = at.call.caller, []
        if (spec.requires_auth or roles) and not caller.user:
            message = f"{spec.name} needs a signed-in user; the host names one."
            lacking.append(Problem("auth_required", "", message))
        for fact in spec.requires_context:
            if caller.context.get(fact) in (None, ""):
                message = f"{spec.name} needs the {fact} in the caller's context; the host supplies"
                lacking.append(Problem("context_required", "", f"{message} it."))
        if roles and roles.isdisjoint(caller.roles):
            message = f"{spec.name} is for {either(spec.allowed_roles)}."
            lacking.append(Problem("not_allowed", "", message))
        if lacking:
            read(at.call)
            details = tuple(lacking) if len(lacking) > 1 else ()
            raise deny(lacking[0].code, " ".join(one.message for one in lacking), details)

    return check


# Arguments: handles, types, rules


def _from_caller(parts: Parts) -> Step | None:
    """Fill what a call left out from the caller's facts, where the file says so."""
    shapes = {p.name: p.shape for p in parts.call_spec.parameters if p.shape.from_caller}
    if not shapes:
        return None

    def check(at: Passage) -> None:
        given, caller = read(at.call), values_of(at.call, {})[CALLER]
        filled = {
            name: caller[fact]
            for name, one in shapes.items()
            if (fact := one.from_caller) in caller
            and (name not in given or (given[name] is None and "null" not in one.types))
        }
        if filled:
            at.call = at.call._replace(arguments={**given, **filled})

    return check


def _handles(parts: Parts) -> Step | None:
    names = frozenset(p.name for p in parts.call_spec.parameters if p.shape.accepts_handle)
    if not names:
        return None

    async def check(at: Passage) -> None:
        call = at.call
        if has_handle(call.arguments, names):
            at.call = await AROUND.run(
                lambda: with_results(call, names, parts.store, parts.clock())
            )

    return check


def _arguments(parts: Parts) -> Step:
    validate = parts.validator.validate

    def check(at: Passage) -> None:
        try:
            at.arguments = validate(at.call.arguments, at.notes)
        except (MalformedError, InvalidArgumentsError) as error:
            raise CallDenied(mismatch(error)) from None

    return check


def _rules(parts: Parts) -> Step | None:
    return _checked(parts, Rules(parts.call_spec))


# Permission: the hours, and rules over the caller and the time


def _hours(parts: Parts) -> Step | None:
    if (said := parts.call_spec.limits.allowed_hours) is None:
        return None
    from toolmd._types.schedule import hours_of  # Few tools have hours.

    hours = hours_of(said)
    zone = ZoneInfo(hours.zone or parts.settings.time_zone or "UTC")

    def check(at: Passage) -> None:
        now = at.now(parts.clock).astimezone(zone)
        if not hours.is_open(now):
            message = f"Open {hours.text} ({zone.key}); next {hours.next(now)}."
            raise deny("not_allowed", message, (Problem("closed", "", message),))

    return check


def _permission(parts: Parts) -> Step | None:
    return _checked(parts, Rules(parts.call_spec, "caller"))


def _given(parts: Parts) -> Step | None:
    """Read what the conditions need of other tools, all at once, and check the rules over it."""
    spec, check_rules = parts.call_spec, _checked(parts, Rules(parts.call_spec, "given"))
    if not spec.given:
        return None
    names = frozenset(p.name for p in spec.parameters)
    lookups = [
        (one, [(name, compile_expression(cel, names)) for name, cel in one.arguments.items()])
        for one in spec.given
    ]

    async def read_one(at: Passage, one: Given, arguments: list[tuple[str, Program]]) -> Any:
        call, why = at.call, tuple[Problem, ...]()
        try:
            values, now = values_of(call, at.arguments), at.now(parts.clock)
            given = {name: program.evaluate(values, now=now) for name, program in arguments}
            # A dry run checks everything, and what it reads here changes nothing.
            read = Call(one.tool, given, None, call.confidence, call.caller, depth=call.depth + 1)
            with hiding(hider(at.arguments, parts.call_spec.parameters)):
                result = await parts.call(read)
            # Of a part, a rule could say what is false of the whole.
            if result.success and result.truncated is None:
                return result.data
            if result.error is not None:
                why = (Problem(result.error.code, one.name, result.error.message),)
        except EvaluationError:
            pass
        message = f"The {one.name} could not be read, so the rule can't be checked."
        raise deny("rule_unavailable", message, why)

    async def check(at: Passage) -> None:
        try:
            async with asyncio.timeout(spec.limits.timeout_s or DEFAULT_TIMEOUT_S):
                all_of_them = (read_one(at, *lookup) for lookup in lookups)
                read = await asyncio.gather(*all_of_them, return_exceptions=True)
        except TimeoutError:
            message = "What the rules read did not come in time, so they can't be checked."
            raise deny("rule_unavailable", message) from None
        for one in read:
            if isinstance(one, BaseException):
                raise one
        at.call = at.call._replace(given={one.name: data for one, data in
                                          zip(spec.given, read, strict=True)})  # fmt: skip
        if check_rules is not None:
            check_rules(at)

    return check


def _checked(parts: Parts, rules: Rules) -> Step | None:
    if not rules:
        return None

    def check(at: Passage) -> None:
        try:
            rules.check(values_of(at.call, at.arguments), at.now(parts.clock))
        except CallDenied:
            raise
        except Exception as error:  # noqa: BLE001 - an exception in a check denies
            with hiding(hider(at.arguments, parts.call_spec.parameters)):
                raise guard_failed(parts.call_spec.name, "rule", error) from None

    return check


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


def _confidence(parts: Parts) -> Step | None:
    least = threshold(parts.call_spec, parts.default_min, parts.settings.safety)
    if least is None:
        return None
    wanted = f"{parts.call_spec.name} needs a confidence of at least {plain_numbers(least)}"
    confirms = on_missing(parts.call_spec, parts.settings.safety) == "confirm"
    missing = Verdict(
        Action.CONFIRM if confirms else Action.DENY,
        "missing_confidence",
        f"{wanted}: state it (0 to 1) with the call.",
    )

    def check(at: Passage) -> Verdict:
        call = at.call
        if call.confidence is None:
            return missing
        if call.confidence >= least:
            return ALLOWED
        message = f"{wanted}, not {plain_numbers(call.confidence)}: ask the user instead."
        return Verdict(Action.DENY, "low_confidence", message)

    return check


# Intent: the user's own words


def _intent(parts: Parts) -> Step | None:
    name, safety = parts.call_spec.name, parts.call_spec.safety
    if not safety.explicit_intent:
        return None
    asks_anyway = _confirmation(parts)
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

    async def check(at: Passage) -> Verdict:
        clarity = await parts.words.assess("intent", safety.intent_keywords, at.call)
        if clarity == "clear":
            return ALLOWED
        return unclear if clarity == "unclear" or _asks(asks_anyway, at) else missing

    return check


def _verbatim(parts: Parts) -> Step | None:
    shapes = {p.name: p.shape for p in parts.call_spec.parameters if p.shape.holds_verbatim}
    if not shapes:
        return None
    asks_anyway = _confirmation(parts)

    async def check(at: Passage) -> Verdict:
        found: list[tuple[str, Clarity]] = []
        for name, shape in shapes.items():
            for path, value in _verbatim_values(at.arguments.get(name), shape, name):
                clarity = await parts.words.assess("verbatim", value, at.call)
                if clarity != "clear":
                    found.append((path, clarity))
        if not found:
            return ALLOWED
        verdict = _not_stated(found)
        return verdict._replace(action=Action.CONFIRM) if _asks(asks_anyway, at) else verdict

    return check


def _asks(confirmation: Step | None, at: Passage) -> bool:
    """Return whether a person confirms the call in any case."""
    return confirmation is not None and confirmation(at) is not ALLOWED


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


def _crisis(parts: Parts) -> Step | None:
    if parts.call_spec.read_only:
        return None
    return lambda at: _CRISIS if at.call.caller.crisis else ALLOWED


def escalation(parts: Parts) -> Step | None:
    """Return the check Crisis When of a tool, or None."""
    crisis_when = parts.call_spec.safety.crisis_when
    return None if crisis_when is None else _when(parts, crisis_when, _ESCALATED)


def _guards(parts: Parts) -> Step | None:
    if not parts.guards:
        return None
    guards = [(guard, takes_context(guard)) for guard in parts.guards]

    async def check(at: Passage) -> Verdict:
        worst = ALLOWED
        for guard, counts in guards:
            own: Any = guard
            if counts:
                own = partial(own, context=GuardContext(parts.limits, at))
            verdict = await ask_guard(own, at.call, at.arguments)
            if verdict is not None and verdict.action > worst.action:
                worst = verdict
        return worst

    return check


class GuardContext:
    """What a guard can count by, if it has a parameter `context`."""

    def __init__(self, limits: CallLimits, at: Passage) -> None:
        """Count for a call."""
        self._limits, self._at = limits, at

    async def quota(
        self, name: str, amount: int, *, key: str | int, per: str | float, needs: float = 1
    ) -> None:
        """Count the call when it starts, with all its quotas; deny it where too little is left.

        Args:
            name: What is counted, such as `refunds`.
            amount: The most in a window.
            key: For whom it is counted, such as the user.
            per: `minute`, `hour`, `day`, `week`, `month`, `year` or `ever` by the calendar of the
                project's time zone; or the seconds of a rolling window.
            needs: How much of it this call needs.
        """
        call = self._at.call
        one = await self._limits.quotas.count(name, amount, key, per, needs)
        self._at.call = call._replace(counts=(*call.counts, one))


def takes_context(guard: Guard) -> bool:
    """Return whether a guard has a parameter `context`."""
    try:
        return "context" in inspect.signature(guard).parameters
    except (TypeError, ValueError):
        return False


async def ask_guard(
    guard: Guard, call: Call, arguments: Arguments, timeout_s: float = GUARD_TIMEOUT_S
) -> Verdict | None:
    """Return a guard's verdict. Raises CallDenied for one that fails, is slow or is odd."""
    # A copy: a guard that changes it must not change what runs.
    shown = call._replace(arguments=deepcopy(dict(arguments)))
    try:
        async with asyncio.timeout(timeout_s):
            verdict = await _answer(guard, shown)
    except CallDenied:
        raise
    except BaseException as error:
        if is_from_outside(error):
            raise
        raise guard_failed(call.tool, "guard", error) from None
    return verdict if verdict is None or verdict.code else verdict._replace(code=UNNAMED)


async def _answer(guard: Guard, call: Call) -> Verdict | None:
    arguments = deepcopy(call.arguments)
    assert isinstance(arguments, dict)
    answer: Any
    if inspect.iscoroutinefunction(getattr(guard, "func", guard)):
        answer = await cast("Awaitable[Any]", guard(call, arguments))
    else:
        # In a thread, so that a slow one can be given up.
        answer = await AROUND.run(lambda: guard(call, arguments))
        if inspect.isawaitable(answer):
            answer = await answer
    if answer is None or (isinstance(answer, Verdict) and isinstance(answer.action, Action)):
        return answer
    raise TypeError(f"{guard!r} answered {type(answer).__name__}, not a Verdict with an Action")


def _approval(parts: Parts) -> Step | None:
    approvals = Approvals(parts.call_spec)
    if not approvals:
        return None

    def check(at: Passage) -> Verdict:
        asked = approvals.open(at.call, at.arguments, at.now(parts.clock))
        if not asked:
            return ALLOWED
        told = "; ".join(dict.fromkeys(f"{one.text or one.reason}" for one in asked))
        who = " and ".join(dict.fromkeys(one.whose for one in asked))
        end = "" if told.endswith((".", "!", "?")) else "."
        message = f"{parts.call_spec.name} waits for {who}: {told}{end} Do not call it again."
        return Verdict(Action.REVIEW, "approval_required", message)

    return check


# Confirmation: the caller's own word


def _confirmation(parts: Parts) -> Step | None:
    own = parts.call_spec.safety
    if own.requires_confirmation or own.sensitivity == "critical":
        return lambda _: _UNCONFIRMED
    return None if own.confirm_when is None else _when(parts, own.confirm_when, _UNCONFIRMED)


def _when(parts: Parts, expression: str, verdict: Verdict) -> Step:

    program = compile_expression(expression, frozenset(p.name for p in parts.call_spec.parameters))

    def check(at: Passage) -> Verdict:
        try:
            answer = program.evaluate(values_of(at.call, at.arguments), now=at.now(parts.clock))
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
_GROUPS = (
    OF_WORDS | {"low_confidence", "missing_confidence"},
    frozenset({"review_required", "approval_required"}),
)
"""The codes of checks that tell together what fails."""


CHECKS = (
    Check("context", "read", _context),
    Check("arguments", "read", _from_caller),
    Check("arguments", "read", _handles),
    Check("arguments", "read", _arguments),
    Check("arguments", "read", _rules),
    Check("permission", "read", _hours),
    Check("permission", "read", _permission),
    Check("permission", "read", _given),
    Check("confidence", "decide", _confidence),
    Check("intent", "decide", _intent),
    Check("intent", "decide", _verbatim),
    Check("review", "decide", _crisis),
    Check("review", "decide", escalation),
    Check("review", "decide", _guards),
    Check("review", "decide", _approval),
    Check("confirmation", "decide", _confirmation),
)
"""The checks, in the pipeline's order.

In `dispatch`, size, syntax and lookup come before them, limits and run after them.
"""
