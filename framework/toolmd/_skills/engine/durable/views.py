"""Views of a run for its listeners, waiting callers, and late answers."""

import datetime as dt
from collections.abc import Sequence

from toolmd._skills.engine.durable.rows import KeptQuestion, KeptRun
from toolmd._skills.engine.outcomes import (
    AnsweredError,
    TooLateError,
    ended,
    no_question,
    result_of,
)
from toolmd._types.result import SkillResult
from toolmd._types.run import JournalEntry, RunState, RunView
from toolmd.errors import NotFoundError


def view(
    row: KeptRun, asked: Sequence[KeptQuestion], entries: Sequence[JournalEntry] = ()
) -> RunView:
    """Return a run as others see it; answers are among its steps."""
    questions = tuple(one.question for one in asked if row.waits_for(one))
    answers = [_entry(one) for one in asked if one.answer is not None]
    steps = tuple(sorted((*entries, *answers), key=lambda entry: entry.at))
    result = None
    if row.result is not None:
        took = (row.ended or row.began) - row.began
        result = result_of(row.id, row.skill, row.result, took)
    state = state_of(row, waits=bool(questions))
    return RunView(row.id, row.skill, state, row.inputs, row.began.isoformat(),
                   steps, questions, result)  # fmt: skip


def stuck(row: KeptRun) -> SkillResult:
    """Return the result of a run that resumes only on request."""
    message = (
        f"run {row.id} was taken up several times and came no further; see what ends its "
        f"process, then: toolmd runs resume {row.id}"
    )
    return SkillResult(
        success=False, message=message, error=f"stuck: {message}", run_id=row.id, code="stuck"
    )


def too_late(row: KeptRun, key: str, asked: Sequence[KeptQuestion]) -> NotFoundError:
    """Build the error for an answer that does not count, with the reason."""
    one = next((one for one in asked if one.question.key == key), None)
    if one is None:
        return no_question(row.id, key)
    if one.answer is not None and not one.answer.late:
        return AnsweredError(row.id, key, one.answer)
    if row.result is None and not one.question.asks:
        return TooLateError(row.id, key, f"it waits until {one.question.until}, not for an answer")
    if row.result is None and one.expires is not None:
        until = dt.datetime.fromtimestamp(one.expires, dt.UTC)
        return TooLateError(row.id, key, f"time was up at {until:%Y-%m-%d %H:%M:%S} UTC")
    return TooLateError(row.id, key, "the run has ended")


def state_of(row: KeptRun, *, waits: bool) -> RunState:
    """Return the state of a run; `waits` is whether it has an open question."""
    if row.result is not None:
        return ended(row.result)
    if row.stuck:
        return "stuck"
    if row.parked and not row.segment:
        return "scheduled"
    return "waiting" if waits else "running"


def _entry(one: KeptQuestion) -> JournalEntry:
    assert one.answer is not None
    assert one.answered is not None
    return JournalEntry(one.question.key, one.answer.to_dict(), one.answered.isoformat())
