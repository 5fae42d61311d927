"""A run and its questions as rows of the database."""

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from toolmd._skills.engine.durable.record import answer_of, question_of, result_of
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, Order, Question


class KeptRun(NamedTuple):
    """A stored run, without its plan."""

    id: str
    skill: str
    inputs: dict[str, Any]
    began: dt.datetime
    segment: int
    """How often it was parked: the number of the current attempt's workflow."""
    parked: float
    """Since when it waits, in seconds since the epoch; 0.0 for a run that does not wait."""
    stuck: bool
    cancelled: bool
    result: SkillResult | None
    ended: dt.datetime | None

    @classmethod
    def new(cls, order: Order, began: dt.datetime) -> "KeptRun":
        """Return the run of an order whose first attempt begins."""
        return cls(order.id, order.plan.skill.name, order.inputs, began, 0, 0.0, stuck=False,
                   cancelled=False, result=None, ended=None)  # fmt: skip

    def waits_for(self, one: "KeptQuestion") -> bool:
        """Return whether the answer to one of its questions would continue it."""
        asks = not self.cancelled or one.question.undoes
        return self.result is None and one.answer is None and asks

    def asks(self, key: str, asked: "Sequence[KeptQuestion]") -> bool:
        """Return whether a person's answer to this question would continue it."""
        named = (one for one in asked if one.question.key == key and one.question.asks)
        return any(map(self.waits_for, named))

    def first_of(self, asked: "Sequence[KeptQuestion]") -> "KeptQuestion | None":
        """Return the first question that it waits for, if any: a person comes before a time."""
        waits = filter(self.waits_for, asked)
        return min(waits, key=lambda one: not one.question.asks, default=None)


class KeptQuestion(NamedTuple):
    """A stored question."""

    question: Question
    opened: float
    """When it was asked, in seconds since the epoch, as is `expires`."""
    expires: float | None
    answer: Answer | None
    answered: dt.datetime | None

    def is_over(self, now: dt.datetime) -> bool:
        """Return whether its time is up."""
        return self.expires is not None and self.expires <= now.timestamp()


def kept_run(row: Any) -> KeptRun:
    """Read a run without its plan."""
    result = None if row.result is None else result_of(row.result)
    ended = None if row.ended is None else dt.datetime.fromisoformat(row.ended)
    return KeptRun(row.id, row.skill, json.loads(row.inputs), dt.datetime.fromisoformat(row.began),
                   row.segment, row.parked, bool(row.stuck), bool(row.cancelled), result,
                   ended)  # fmt: skip


def kept_question(row: Any) -> KeptQuestion:
    """Read a question, answered or not."""
    answer = None if row.answer is None else answer_of(row.answer)
    answered = None if row.answered is None else dt.datetime.fromisoformat(row.answered)
    return KeptQuestion(question_of(row.question), row.opened, row.expires, answer, answered)
