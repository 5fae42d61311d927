"""The record of one run in this process's memory."""

import asyncio
import datetime as dt
from dataclasses import dataclass, field
from typing import Any

from toolmd._skills.engine.outcomes import result_of
from toolmd._skills.journal import (
    CancelledRunError,
    Effect,
    Executor,
    ParkedError,
    UncertainOutcome,
)
from toolmd._types.result import SkillResult
from toolmd._types.run import (
    Answer,
    Clock,
    JournalEntry,
    Order,
    Question,
    RunEvent,
    RunListener,
    RunState,
    RunView,
)


@dataclass(slots=True)
class MemoryRun:
    """What is known of a run: what was done, asked and answered."""

    order: Order
    began: dt.datetime
    entries: dict[str, JournalEntry] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    questions: dict[str, Question] = field(default_factory=dict)
    opened: dict[str, dt.datetime] = field(default_factory=dict)
    deadlines: dict[str, dt.datetime] = field(default_factory=dict)
    told: set[tuple[str, str, str]] = field(default_factory=set)
    state: RunState = "running"
    result: SkillResult | None = None
    ended: dt.datetime | None = None
    cancelled: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    alarm: asyncio.TimerHandle | None = None
    """What ends its wait when the time is up."""

    @property
    def place(self) -> tuple[str, str]:
        """Where it stands in a list of runs."""
        return self.began.isoformat(), self.order.id

    def view(self) -> RunView:
        """Give what others may see of the run."""
        order, result = self.order, None
        if self.result is not None:
            took = (self.ended or self.began) - self.began
            result = result_of(order.id, order.plan.skill.name, self.result, took)
        entries, questions = tuple(self.entries.values()), tuple(self.questions.values())
        began = self.began.isoformat()
        return RunView(order.id, order.plan.skill.name, self.state, order.inputs, began, entries,
                       questions, result)  # fmt: skip


class MemoryJournal:
    """The record of one run while it is played."""

    def __init__(self, run: MemoryRun, clock: Clock, watch: RunListener | None) -> None:
        self._run = run
        self._clock = clock
        self._watch = watch
        self._now = run.began

    def now(self) -> dt.datetime:
        """Give the time of the last thing that was done."""
        return self._now

    def holds(self, key: str) -> bool:
        """Tell whether the thing is done."""
        return key in self._run.entries

    async def perform(
        self,
        key: str,
        effect: Effect,
        *,
        undoing: bool = False,
        uncertain: UncertainOutcome | None = None,
    ) -> Any:
        """Give the recorded value, or do it and record it; no process outlives its doubts."""
        del uncertain
        run = self._run
        entry = run.entries.get(key)
        if entry is None:
            if not undoing:
                await self.go_on()
            value = await effect()
            entry = JournalEntry(key, value, self._clock().isoformat())
            run.entries[key] = entry
        self._now = max(self._now, dt.datetime.fromisoformat(entry.at))
        return entry.value

    async def answer(self, question: Question) -> Answer:
        """Give the recorded answer, or park."""
        run = self._run
        if (answer := run.answers.get(question.key)) is not None:
            return answer
        if not question.undoes:
            await self.go_on()
        raise ParkedError(question)

    async def go_on(self) -> None:
        """Raise CancelledRunError in a run that was cancelled."""
        if self._run.cancelled:
            raise CancelledRunError

    def reach(self, executor: Executor) -> Executor:
        """Give the executor: the run is played where its tools live."""
        return executor

    def tell(self, event: RunEvent) -> None:
        """Hand an event on, unless it was told when the run was played before."""
        if self._watch is not None and event.mark not in self._run.told:
            self._run.told.add(event.mark)
            self._watch(event)
