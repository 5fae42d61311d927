"""The check intent: the user's own words ask for the call, and state its Verbatim arguments."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolmd._call.guards.intent import MAX_MESSAGE, asks_for, states
from toolmd._call.guards.policy_check import PolicyCheck
from toolmd._call.guards.said import Languages, Said, languages_with
from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.language import Language
from toolmd._types.schema import Schema
from toolmd._types.verdict import ALLOWED, Action, Problem, Verdict
from toolmd._validation import fitting_objects


def stated_checks(call_spec: ToolCallSpec, added: tuple[Language, ...]) -> Iterator[PolicyCheck]:
    """Yield the checks of a tool that search the user's message, in the pipeline's order."""
    if call_spec.safety.explicit_intent:
        yield _intent(call_spec, languages_with(added))
    if verbatim := {p.name: p.shape for p in call_spec.parameters if p.shape.holds_verbatim}:
        yield _verbatim(verbatim, languages_with(added))


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
