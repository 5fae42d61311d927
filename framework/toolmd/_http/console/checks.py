"""Show the checks of a call, and where a call stopped (behaviour.md)."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from toolmd._call.checks import on_missing
from toolmd._http.console.policy import demands
from toolmd._types.registry import BoundTool
from toolmd._types.result import Result
from toolmd._types.settings import Settings

State = Literal["idle", "passed", "stopped", "pending", "unreached"]

CHECKS = (
    "size",
    "syntax",
    "lookup",
    "context",
    "arguments",
    "confidence",
    "intent",
    "review",
    "confirmation",
    "limits",
    "run",
)
"""The checks in their order."""
_FIXED = {
    "size": ("a reply of at most 256 KiB, 32 calls, 32 levels",),
    "syntax": ("one JSON object, no key twice",),
    "lookup": ("a tool of this snapshot",),
}
"""The requirements that are the same for every tool."""
_STOPS = {
    "malformed_call": "syntax",
    "unknown_tool": "lookup",
    "auth_required": "context",
    "context_required": "context",
    "invalid_arguments": "arguments",
    "missing_argument": "arguments",
    "low_confidence": "confidence",
    "missing_confidence": "confidence",
    "no_explicit_intent": "intent",
    "not_stated_by_user": "intent",
    "review_required": "review",
    "rejected": "confirmation",
    "rate_limited": "limits",
    "budget_exhausted": "limits",
    "domain_not_approved": "limits",
}
"""The codes of denials, each with the check that returns it."""


class CheckShown(NamedTuple):
    """A check: its requirements, and the state of a call at it."""

    name: str
    asks: tuple[str, ...]
    state: State = "idle"
    reason: str = ""
    """The reason why the call stopped here."""


def checks_of(
    bound: BoundTool,
    settings: Settings,
    result: Result | None = None,
    confidence: float | None = None,
) -> tuple[CheckShown, ...]:
    """Return the checks of a tool; with a result, also the state of that call at each.

    Args:
        bound: The tool.
        settings: The project's settings.
        result: The result of a call, if there was one.
        confidence: The confidence that the call stated.
    """
    asks: Mapping[str, tuple[str, ...]] = {**_FIXED, **demands(bound, settings)}
    checks = [CheckShown(name, asks.get(name, ())) for name in CHECKS]
    if result is None:
        return tuple(checks)
    unstated = confidence is None and on_missing(bound.spec, settings.safety) == "confirm"
    stop, state, reason = _stop(result, unstated=unstated)
    if stop == "":
        checks.insert(-2, CheckShown("guards", ("the rules of plugins and guards",)))
        stop = "guards"
    names = [check.name for check in checks]
    last = names.index(stop)
    return tuple(
        check._replace(
            state="passed" if place < last else state if place == last else "unreached",
            reason=reason if place == last else "",
        )
        for place, check in enumerate(checks)
    )


def _stop(result: Result, *, unstated: bool) -> tuple[str, State, str]:
    """Return the last check that the call reached, its state there, and the reason."""
    error = result.error
    reason = error.message if error is not None else result.message
    match result.outcome:
        case "ok":
            return "run", "passed", ""
        case "waiting":
            return "run", "pending", reason
        case "allowed":
            return "run", "unreached", "A dry run ends here: all checks before have passed."
        case "review":
            return "review", "pending", reason
        case "confirm":
            unsure = unstated and "confidence" in result.message
            return ("confidence" if unsure else "confirmation"), "pending", reason
        case "denied":
            return _STOPS.get(error.code if error else "", ""), "stopped", reason
        case _:
            return "run", "stopped", reason
