"""Deny a call: one of the pipeline's checks failed."""

from toolmd._types.result import Failure
from toolmd._types.verdict import Problem, Verdict
from toolmd.config.state_files import EmptiedError
from toolmd.errors import NotLoadedError, UnreachableError, logged

AGAIN_MS = 1000
"""When a call that did not run for want of the store or of a processor may be sent again."""


class CallDenied(Exception):  # noqa: N818 - a decision, not an error
    """Raised by a check of the call pipeline; becomes `outcome: denied`."""

    def __init__(self, failure: Failure) -> None:
        super().__init__()
        self.failure = failure
        """What the model reads."""


def deny(
    code: str, message: str, details: tuple[Problem, ...] = (), retry_after_ms: int | None = None
) -> CallDenied:
    """Return a denial with this code and message."""
    return CallDenied(Failure(code, message, details, retry_after_ms))


def denial_of(verdict: Verdict) -> CallDenied:
    """Return the denial of a verdict that denies."""
    return deny(verdict.code, verdict.message, verdict.details, verdict.retry_after_ms)


def guard_failed(tool: str, guard: str, error: BaseException) -> CallDenied:
    """Return the denial of a check that crashed; the crash is logged under a reference.

    Where a state file was emptied the message names the reason, since a person must act.
    """
    reference = logged(error, "the %s of %s failed", guard, tool)
    emptied = isinstance(error, EmptiedError)
    passes = isinstance(error, UnreachableError | NotLoadedError) and not emptied
    reason = f" {error}." if emptied else ""
    return deny(
        "internal_guard_error",
        f"{tool} was not run: its {guard} could not be decided (reference {reference})."
        f"{reason} Nothing happened; the arguments need no change.",
        retry_after_ms=AGAIN_MS if passes else None,
    )
