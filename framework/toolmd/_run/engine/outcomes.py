"""What comes of runs and of answers to them, in the words of every engine."""

from toolmd._model.result import SkillResult
from toolmd._model.run import Answer, Question, RunState
from toolmd.errors import NotFoundError


class AnsweredError(NotFoundError):
    """Somebody was quicker: the question has its answer."""

    def __init__(self, run_id: str, key: str, answer: Answer) -> None:
        who = f" by {answer.by}" if answer.by else ""
        word = "yes" if answer.approved else "no"
        super().__init__(f"{_none_open(run_id, key)}: it was answered before{who}, with {word}")


class TooLateError(NotFoundError):
    """The question is open no more, or never was; `why` says since when, empty if unknown."""

    def __init__(self, run_id: str, key: str, why: str = "") -> None:
        super().__init__(f"{_none_open(run_id, key)}{why and ': '}{why}")


def unknown(run_id: str) -> NotFoundError:
    """Make the error of an id under which no run is kept."""
    return NotFoundError(f"there is no run {run_id!r}; `toolmd runs` lists them")


def taken(run_id: str) -> str:
    """Tell whoever orders under the id of another run; whose that is, is not theirs to know."""
    return f"{run_id} is the id of another run: of another skill, other inputs, or another user"


def waiting(question: Question) -> SkillResult:
    """Give the result of a run that waits for an answer."""
    return SkillResult(
        success=False,
        message=question.prompt,
        error=f"waiting: {question.skill} waits for an answer to {question.key}",
        run_id=question.run_id,
        code="waiting",
    )


def ended(result: SkillResult) -> RunState:
    """Tell the state of a run that came to this."""
    if result.success:
        return "done"
    return "cancelled" if result.code == "cancelled" else "failed"


def _none_open(run_id: str, key: str) -> str:
    return f"run {run_id} has no open question {key!r}"
