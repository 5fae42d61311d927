"""Tell where a run stands, to those who look on, wait for it, or come too late."""

import datetime as dt
from collections.abc import Sequence

from toolmark._model.result import SkillResult
from toolmark._model.run import Entry, Question, RunState, RunView
from toolmark._run.engine.durable.store import Asked, Row


def view(row: Row, asked: Sequence[Asked], entries: Sequence[Entry] = ()) -> RunView:
    """Give a run as others see it; answers stand among its steps."""
    going = row.result is None and not row.cancelled
    questions = tuple(one.question for one in asked if going and one.answer is None)
    answers = [_entry(one) for one in asked if one.answer is not None]
    steps = tuple(sorted((*entries, *answers), key=lambda entry: entry.at))
    return RunView(row.id, row.skill, _state(row, questions), row.inputs, row.began.isoformat(),
                   steps, questions, row.result)  # fmt: skip


def waiting(run_id: str, question: Question) -> SkillResult:
    """Give the result of a run that waits for an answer."""
    error = f"waiting: {question.skill} waits for an answer to {question.key}"
    return SkillResult(
        success=False, message=question.prompt, error=error, run_id=run_id, code="waiting"
    )


def stuck(row: Row) -> SkillResult:
    """Give the result of a run that is not taken up any more before somebody asks for it."""
    message = (
        f"run {row.id} was taken up several times and came no further; see what ends its "
        f"process, then: toolmark runs resume {row.id}"
    )
    return SkillResult(
        success=False, message=message, error=f"stuck: {message}", run_id=row.id, code="stuck"
    )


def too_late(row: Row, key: str, asked: Sequence[Asked]) -> str:
    """Say why an answer does not count."""
    none = f"run {row.id} has no open question {key!r}"
    one = next((one for one in asked if one.question.key == key), None)
    if one is None:
        return none
    if one.answer is not None and not one.answer.late:
        who = f" by {one.answer.by}" if one.answer.by else ""
        word = "yes" if one.answer.approved else "no"
        return f"{none}: it was answered before{who}, with {word}"
    if row.result is None and one.expires is not None:
        until = dt.datetime.fromtimestamp(one.expires, dt.UTC)
        return f"{none}: time was up at {until:%Y-%m-%d %H:%M:%S} UTC"
    return f"{none}: the run has ended"


def _state(row: Row, questions: Sequence[Question]) -> RunState:
    if row.result is not None:
        if row.result.success:
            return "done"
        return "cancelled" if row.result.code == "cancelled" else "failed"
    if row.stuck:
        return "stuck"
    return "waiting" if questions else "running"


def _entry(one: Asked) -> Entry:
    assert one.answer is not None
    assert one.answered is not None
    said = {name: value for name, value in one.answer._asdict().items() if value is not None}
    return Entry(one.question.key, said, one.answered.isoformat())
