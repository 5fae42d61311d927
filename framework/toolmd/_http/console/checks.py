"""Explain a call's verdict rung by rung (behaviour.md, "The checks of a call")."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from toolmd._call.guards.policy import on_missing
from toolmd._http.console.policy import demands
from toolmd._types.registry import BoundTool
from toolmd._types.result import Result
from toolmd._types.settings import Settings

State = Literal["idle", "passed", "stopped", "held", "unreached"]

_TITLES = {
    "0": "Of a size",
    "1": "Well formed",
    "2": "A known tool",
    "2a": "The right caller",
    "3": "Arguments that fit",
    "4": "Sure enough",
    "5": "Asked for",
    "6": "Nothing to review",
    "7": "A person's yes",
    "8": "Within limits",
    "9": "Runs",
}
_ASKED = {
    "0": ("a reply of at most 256 KiB, 32 calls, 32 levels",),
    "1": ("one JSON object, no key twice",),
    "2": ("in this snapshot",),
}
"""What is asked of every tool's calls."""
_STOPS = {
    "malformed_call": "1",
    "unknown_tool": "2",
    "auth_required": "2a",
    "context_required": "2a",
    "invalid_arguments": "3",
    "missing_argument": "3",
    "low_confidence": "4",
    "missing_confidence": "4",
    "no_explicit_intent": "5",
    "not_stated_by_user": "5",
    "held_for_review": "6",
    "rejected": "7",
    "rate_limited": "8",
    "budget_exhausted": "8",
    "domain_not_approved": "8",
}
"""The codes of a refusal, and the rung where it falls."""


class CheckShown(NamedTuple):
    """One rung: what it asks, and how a call passed it."""

    number: str
    title: str
    asks: tuple[str, ...]
    state: State = "idle"
    told: str = ""
    """Why the call stopped there."""


def checks_of(
    bound: BoundTool,
    settings: Settings,
    result: Result | None = None,
    confidence: float | None = None,
) -> tuple[CheckShown, ...]:
    """Give the rungs of a tool; with a result, where that call stands on them.

    `confidence` is what the call stated, by which a hold for want of it is known.
    """
    asks: Mapping[str, tuple[str, ...]] = {**_ASKED, **demands(bound, settings)}
    checks = [CheckShown(number, title, asks.get(number, ())) for number, title in _TITLES.items()]
    if result is None:
        return tuple(checks)
    unstated = confidence is None and on_missing(bound.spec, settings.safety) == "confirm"
    stop, state, told = _stop(result, unstated=unstated)
    if stop == "":
        checks.insert(-2, CheckShown("+", "Judges", ("what plugins and guards ask",)))
        stop = "+"
    numbers = [check.number for check in checks]
    last = numbers.index(stop)
    return tuple(
        check._replace(
            state="passed" if place < last else state if place == last else "unreached",
            told=told if place == last else "",
        )
        for place, check in enumerate(checks)
    )


def _stop(result: Result, *, unstated: bool) -> tuple[str, State, str]:
    """Give the last rung that the call came to, its state and what was said there."""
    error = result.error
    told = error.message if error is not None else result.message
    match result.outcome:
        case "ok":
            return "9", "passed", ""
        case "allowed":
            return "9", "unreached", "A dry run ends here: everything before has passed."
        case "review":
            return "6", "held", told
        case "confirm":
            unsure = unstated and "confidence" in result.message
            return ("4" if unsure else "7"), "held", told
        case "denied":
            return _STOPS.get(error.code if error else "", ""), "stopped", told
        case _:
            return "9", "stopped", told
