"""Refuse a call: a row of the ladder did not pass."""

from collections.abc import Callable

from toolmd._types.result import Failure
from toolmd._types.verdict import Problem, Verdict
from toolmd.config.state_files import EmptiedError
from toolmd.errors import logged


class CallDenied(Exception):  # noqa: N818 - a decision, not an error
    """Raised by a row of the ladder; becomes `outcome: denied`."""

    def __init__(self, failure: Failure | Callable[[], Failure]) -> None:
        super().__init__()
        self.failure = failure
        """What the model is told; a function where it is worked out when someone looks."""


def deny(
    code: str, message: str, details: tuple[Problem, ...] = (), retry_after_ms: int | None = None
) -> CallDenied:
    """Make a refusal of words that are ready."""
    return CallDenied(Failure(code, message, details, retry_after_ms))


def overruled(verdict: Verdict) -> CallDenied:
    """Make the refusal of a verdict that denies."""
    return deny(verdict.code, verdict.message, verdict.details, verdict.retry_after_ms)


def denial_of(tool: str, error: Exception) -> CallDenied:
    """Give what was raised on the ladder as a refusal: whatever breaks there refuses."""
    return error if isinstance(error, CallDenied) else guard_failed(tool, "gate", error)


def guard_failed(tool: str, guard: str, error: BaseException) -> CallDenied:
    """Refuse because a guard broke: fail closed, the crash logged under a reference.

    The message has the reason where a state file was emptied, since a person must act.
    """
    reference = logged(error, "the %s of %s failed", guard, tool)
    reason = f" {error}." if isinstance(error, EmptiedError) else ""
    return deny(
        "internal_guard_error",
        f"{tool} was not run: its {guard} could not be decided (reference {reference})."
        f"{reason} Nothing happened; the arguments need no change.",
    )
