"""Results and errors of runs and answers, for every store."""

import datetime as dt

from toolmd._types.result import Failure, Outcome, Result, SkillResult
from toolmd._types.run import Answer, Question, RunState
from toolmd._types.verdict import DENIALS
from toolmd.errors import NotFoundError


class AnsweredError(NotFoundError):
    """Another answer came first."""

    def __init__(self, run_id: str, key: str, answer: Answer) -> None:
        who = f" by {answer.by}" if answer.by else ""
        word = "yes" if answer.approved else "no"
        super().__init__(f"{_none_open(run_id, key)}: it was answered before{who}, with {word}")


class TooLateError(NotFoundError):
    """The question is not open any more; `why` has the reason."""

    def __init__(self, run_id: str, key: str, why: str) -> None:
        super().__init__(f"{_none_open(run_id, key)}: {why}")


def no_question(run_id: str, key: str) -> NotFoundError:
    """Return the error for a question that the run never asked."""
    return NotFoundError(_none_open(run_id, key))


def unanswered(error: NotFoundError) -> str:
    """Return the code of an answer that does not count."""
    match error:
        case AnsweredError():
            return "confirmation_used"
        case TooLateError():
            return "confirmation_expired"
        case _:
            return "confirmation_not_found"


def unknown(run_id: str) -> NotFoundError:
    """Build the error for an id without a run."""
    return NotFoundError(f"there is no run {run_id!r}; `toolmd runs` lists them")


def taken(run_id: str) -> str:
    """Return the message for an id of another run; it does not reveal whose run it is."""
    return f"{run_id} is the id of another run: of another skill, other inputs, or another user"


def waiting(question: Question) -> SkillResult:
    """Return the result of a run that waits for an answer or a time."""
    what = f"an answer to {question.key}" if question.asks else question.until
    return SkillResult(
        success=False,
        message=question.prompt,
        error=f"waiting: {question.skill} waits for {what}",
        run_id=question.run_id,
        code="waiting",
    )


def result_of(
    run_id: str, skill: str, ended: SkillResult, took: dt.timedelta = dt.timedelta()
) -> Result:
    """Return the Result of a run that ended; `SkillResult` describes a waiting run.

    A run that is cancelled before its scheduled start took no time.
    """
    ms = max(0.0, took.total_seconds() * 1000)
    result = Result(success=ended.success, tool=skill, outcome="ok", message=ended.message,
                    data=ended.data, attempts=1, duration_ms=ms, run_id=run_id,
                    notes=tuple(ended.notes))  # fmt: skip
    if ended.success:
        return result
    code = ended.code or "skill_failed"
    failure = Failure(code, ended.message)
    return result._replace(outcome=_outcome(code), data=ended.data or None, error=failure)


def _outcome(code: str) -> Outcome:
    if code in DENIALS or code == "refused":
        return "denied"
    return "unknown" if code == "outcome_unknown" else "failed"


def ended(result: SkillResult) -> RunState:
    """Return the state of a run with this result."""
    if result.success:
        return "done"
    return "cancelled" if result.code == "cancelled" else "failed"


def _none_open(run_id: str, key: str) -> str:
    return f"run {run_id} has no open question {key!r}"
