"""Make Results of calls that did not run, and add what the door has to say."""

from time import perf_counter

from toolmd._call.refusal import Refusal
from toolmd._model.call import Call
from toolmd._model.result import Failure, Held, Result
from toolmd._model.verdict import Ruling, Verdict


def denied(call: Call, refusal: Refusal, began: float) -> Result:
    """Give the Result of a call that a row refused."""
    return Result(
        success=False,
        tool=call.tool,
        outcome="denied",
        error=refusal.failure,  # type: ignore[arg-type]  # worked out when someone looks
        tool_call_id=call.id,
        duration_ms=_ms(began),
    )


def allowed(call: Call, began: float) -> Result:
    """Give the Result of a dry run that nothing stopped."""
    return Result(
        success=True,
        tool=call.tool,
        outcome="allowed",
        tool_call_id=call.id,
        duration_ms=_ms(began),
    )


def held_back(call: Call, held: Held, verdict: Verdict, began: float) -> Result:
    """Give the Result of a call that waits for a person."""
    review = verdict.ruling is Ruling.REVIEW
    return Result(
        success=False,
        tool=call.tool,
        outcome="review" if review else "confirm",
        message=verdict.message,
        tool_call_id=call.id,
        duration_ms=_ms(began),
        confirmation=held,
    )


def stale(call: Call, held: Held, verdict: Verdict, began: float) -> Result:
    """Give the Result of an approval that came too late: what it approved has changed."""
    error = Failure(verdict.code, verdict.message)
    return held_back(call, held, verdict, began)._replace(message="", error=error)


def answered(call: Call, text: str) -> Result:
    """Give the Result of a call that a person answered in the tool's stead."""
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
    """Say which parameters were left out; empty where none was."""
    if not dropped:
        return ""
    return f"Ignored, because the tool does not know them: {', '.join(dropped)}."


def _ms(began: float) -> float:
    return (perf_counter() - began) * 1000
