"""Wait for the time that a step names."""

import datetime as dt
import re
from typing import Any

from toolmd._skills.frame import Frame, StepError
from toolmd._types.run import Question
from toolmd._types.skill import Step

_SECONDS = re.compile(r"-?[0-9]+(\.[0-9]+)?s")
"""A duration as expressions give it."""


async def waited(frame: Frame, step: Step, index: int | None = None) -> None:
    """Return when the time of a step's Wait has come; a time in the past is no wait.

    A duration counts from the last recorded effect, so it stays the same when the run resumes.
    Raises ParkedError before that time, StepError for a value that is not a time.
    """
    assert step.wait is not None
    now = frame.journal.now()
    value = step.wait if isinstance(step.wait, float) else frame.evaluate(step.wait)
    try:
        until = _until(value, now)
    except OverflowError:
        raise StepError("not_a_time", f"Wait: '{value}' is too far away") from None
    if until > now:
        at = f"{until:%Y-%m-%d %H:%M:%S} UTC"
        key = f"{frame.key(step, index)}:wait"
        question = Question(frame.order.id, key, frame.spec.name, step.title, f"Waits until {at}.",
                            kind="wait", until=until.isoformat())  # fmt: skip
        await frame.journal.answer(question)


def _until(value: Any, now: dt.datetime) -> dt.datetime:
    """Return the end of a wait for a time, a duration, or a number of seconds."""
    if isinstance(value, float):
        return now + dt.timedelta(seconds=value)
    if not isinstance(value, str):
        raise StepError("not_a_time", "Wait: its expression gives neither a time nor a duration")
    if _SECONDS.fullmatch(value):
        return now + dt.timedelta(seconds=float(value[:-1]))
    try:
        at = dt.datetime.fromisoformat(value)
    except ValueError:
        message = f"Wait: '{value[:60]}' is neither a time nor a duration"
        raise StepError("not_a_time", message) from None
    if at.tzinfo is None:
        message = f"Wait: '{value}' has no time zone; end it with Z or an offset such as +02:00"
        raise StepError("not_a_time", message)
    return at.astimezone(dt.UTC)
