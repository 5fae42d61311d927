"""Build the Results of runs that did not begin, crashed, were late, or wait for a person."""

from toolmd._types.call import Budget, Call
from toolmd._types.result import ConfirmationRequest, Failure, Outcome, Result, SkillResult
from toolmd._types.run import Question
from toolmd._workspace.runs.questions import pending_of
from toolmd.errors import logged


def denied(call: Call, failure: Failure) -> Result:
    """Return the Result of a run that did not begin, or of a decision that does not count."""
    return Result(success=False, tool=call.tool, outcome="denied", error=failure)


def crashed(call: Call, error: Exception) -> Result:
    """Return the Result of a run that crashed; the log has the reason."""
    reference = logged(error, "the run of %s failed", call.tool)
    message = f"{call.tool} raised an error; its log reference is {reference}."
    failure = Failure("tool_error", message)
    return Result(success=False, tool=call.tool, outcome="failed", error=failure, attempts=1)


def late(run_id: str, call: Call, budget: Budget, *, repeatable: bool) -> Result:
    """Return the Result of a run that did not end within the budget of its plan."""
    message = (
        f"{call.tool} did not end within {budget.timeout_ms / 1000:g} s: its run {run_id} is"
        f" stopped before its next call, and what it did is undone."
    )
    outcome: Outcome = "failed" if repeatable else "unknown"
    failure = Failure("timeout" if repeatable else "outcome_unknown", message)
    return Result(success=False, tool=call.tool, outcome=outcome, error=failure, attempts=1,
                  run_id=run_id)  # fmt: skip


def waits(run_id: str, call: Call, ended: SkillResult, questions: tuple[Question, ...]) -> Result:
    """Return the Result of a run that waits for a person, or for a time."""
    asked = tuple(question for question in questions if question.asks)
    outcome: Outcome = "confirm" if asked or not questions else "waiting"
    message, held = ended.message, None
    if asked:
        first = asked[0]
        held = ConfirmationRequest(first.id, first.prompt, first.sensitivity, form=first.form)
        message = "The user must confirm it."
        if first.kind == "review":
            outcome, message = "review", "An operator must review one of its calls first."
    waiting = tuple(pending_of(question, call) for question in asked)
    return Result(success=False, tool=call.tool, outcome=outcome, message=message, attempts=1,
                  confirmation=held, run_id=run_id, waiting=waiting)  # fmt: skip
