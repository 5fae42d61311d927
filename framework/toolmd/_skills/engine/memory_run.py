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
    """The effects, questions and answers of a run."""

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
    """Ends the wait when the question expires."""

    @property
    def is_parked(self) -> bool:
        """Whether it waits, for its start too."""
        return self.state in {"scheduled", "waiting"}

    @property
    def place(self) -> tuple[str, str]:
        """Its place in a list of runs."""
        return self.began.isoformat(), self.order.id

    def view(self) -> RunView:
        """Return the public view of the run."""
        order, result = self.order, None
        if self.result is not None:
            took = (self.ended or self.began) - self.began
            result = result_of(order.id, order.plan.skill.name, self.result, took)
        entries, questions = tuple(self.entries.values()), tuple(self.questions.values())
        began = self.began.isoformat()
        return RunView(order.id, order.plan.skill.name, self.state, order.inputs, began, entries,
                       questions, result)  # fmt: skip


class MemoryJournal:
    """The record of one run while it executes."""

    def __init__(self, run: MemoryRun, clock: Clock, watch: RunListener | None) -> None:
        self._run = run
        self._clock = clock
        self._watch = watch
        self._now = run.began

    def now(self) -> dt.datetime:
        """Return the time of the last recorded effect."""
        return self._now

    def has(self, key: str) -> bool:
        """Return whether the effect is recorded."""
        return key in self._run.entries

    def begun(self, place: str) -> bool:
        """Return whether anything is recorded below a place, such as an item of a loop."""
        return any(key.startswith(f"{place}:") for key in self._run.entries)

    async def perform(
        self,
        key: str,
        effect: Effect,
        *,
        undoing: bool = False,
        uncertain: UncertainOutcome | None = None,
    ) -> Any:
        """Return the recorded value, or run the effect and record it; `uncertain` never applies."""
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

    async def wait(self, key: str, tried: int) -> bool:
        """Return False: a run in memory is not worth a wait of minutes."""
        del key, tried
        return False

    async def answer(self, question: Question) -> Answer:
        """Return the recorded answer, or park."""
        run = self._run
        if (answer := run.answers.get(question.key)) is not None:
            at = dt.datetime.fromisoformat(run.entries[question.key].at)
            self._now = max(self._now, at)
            return answer
        if not question.undoes:
            await self.go_on()
        raise ParkedError(question)

    async def go_on(self) -> None:
        """Raise CancelledRunError in a cancelled run."""
        if self._run.cancelled:
            raise CancelledRunError

    def reach(self, executor: Executor) -> Executor:
        """Return the executor: the run executes in the loop of its tools."""
        return executor

    def tell(self, event: RunEvent) -> None:
        """Report an event unless an earlier execution of the run has reported it."""
        if self._watch is not None and event.mark not in self._run.told:
            self._run.told.add(event.mark)
            self._watch(event)
