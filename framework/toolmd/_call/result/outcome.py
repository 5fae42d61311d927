"""Build the Results of calls that did not run, and the notes of the pipeline."""

from time import perf_counter

from toolmd._call.denial import CallDenied
from toolmd._types.call import Call
from toolmd._types.result import ConfirmationRequest, Failure, Result
from toolmd._types.verdict import Action, Verdict

REPLACES = "It replaces the pending call {}, which it corrects."


def denied(call: Call, denial: CallDenied, began: float) -> Result:
    """Return the Result of a call that a check denied."""
    return Result(
        success=False,
        tool=call.tool,
        outcome="denied",
        error=denial.unread,  # type: ignore[arg-type]  # computed on demand
        tool_call_id=call.id,
        duration_ms=_ms(began),
    )


def allowed(call: Call, began: float) -> Result:
    """Return the Result of a dry run that every check allowed."""
    return Result(
        success=True,
        tool=call.tool,
        outcome="allowed",
        tool_call_id=call.id,
        duration_ms=_ms(began),
    )


def stopped(
    call: Call, confirmation: ConfirmationRequest, verdict: Verdict, began: float
) -> Result:
    """Return the Result of a call that waits for a person."""
    review = verdict.action is Action.REVIEW
    return Result(
        success=False,
        tool=call.tool,
        outcome="review" if review else "confirm",
        message=verdict.message,
        tool_call_id=call.id,
        duration_ms=_ms(began),
        confirmation=confirmation,
        notes=tuple(map(REPLACES.format, confirmation.replaces)),
    )


def stale(call: Call, confirmation: ConfirmationRequest, verdict: Verdict, began: float) -> Result:
    """Return the Result of a stale approval: the call or its tool changed."""
    error = Failure(verdict.code, verdict.message)
    return stopped(call, confirmation, verdict, began)._replace(message="", error=error)


def answered(call: Call, text: str) -> Result:
    """Return the Result of a call that a person answered in place of the tool."""
    return Result(
        success=True,
        tool=call.tool,
        outcome="ok",
        message=text,
        data=text,
        tool_call_id=call.id,
        notes=("A person answered; the tool did not run.",),
    )


def ignored(dropped: tuple[str, ...]) -> str:
    """Return a note on dropped parameters; empty where none was dropped."""
    if not dropped:
        return ""
    return f"Ignored, because the tool does not know them: {', '.join(dropped)}."


def _ms(began: float) -> float:
    return (perf_counter() - began) * 1000
