"""Runs in this process's memory: for tests, embedding, and skills that only read."""

import asyncio
import datetime as dt
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from toolmark._model.result import SkillResult
from toolmark._model.run import (
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
from toolmark._run.engine import Ask, Play
from toolmark._run.engine.outcomes import (
    AnsweredError,
    TooLateError,
    ended,
    taken,
    unknown,
    waiting,
)
from toolmark._run.journal import CancelledRunError, Doubt, Effect, Executor, ParkedError
from toolmark.errors import ToolmarkError

MAX_RUNS = 1000
"""Finished runs beyond these are forgotten, the oldest first."""


def utc_now() -> dt.datetime:
    """Give the time in UTC."""
    return dt.datetime.now(dt.UTC)


class _Open(NamedTuple):
    """An OpenQuestion of this process's memory."""

    question: Question
    opened: float
    expires: float | None


@dataclass(slots=True)
class _Run:
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
    cancelled: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    def view(self) -> RunView:
        """Give what others may see of the run."""
        order = self.order
        entries, questions = tuple(self.entries.values()), tuple(self.questions.values())
        began = self.began.isoformat()
        return RunView(order.id, order.plan.skill.name, self.state, order.inputs, began, entries,
                       questions, self.result)  # fmt: skip


class MemoryJournal:
    """The record of one run while it is played."""

    def __init__(self, run: _Run, clock: Clock, watch: RunListener | None) -> None:
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
        self, key: str, effect: Effect, *, undoing: bool = False, doubt: Doubt | None = None
    ) -> Any:
        """Give the recorded value, or do it and record it; no process outlives its doubts."""
        del doubt
        run = self._run
        entry = run.entries.get(key)
        if entry is None:
            if run.cancelled and not undoing:
                raise CancelledRunError
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
        if run.cancelled:
            raise CancelledRunError
        raise ParkedError(question)

    def reach(self, executor: Executor) -> Executor:
        """Give the executor: the run is played where its tools live."""
        return executor

    def tell(self, event: RunEvent) -> None:
        """Hand an event on, unless it was told when the run was played before."""
        if self._watch is not None and event.mark not in self._run.told:
            self._run.told.add(event.mark)
            self._watch(event)


class MemoryEngine:
    """Keeps runs in memory; they end with the process."""

    def __init__(self, play: Play, *, clock: Clock = utc_now) -> None:
        self._play = play
        self._clock = clock
        self._runs: dict[str, _Run] = {}

    async def run(
        self, order: Order, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Run an order; one whose id is known is taken up, not begun again.

        Raises ToolmarkError where that id is another run's.
        """
        if (run := self._runs.get(order.id)) is None:
            self._forget()
            run = self._runs[order.id] = _Run(order, self._clock())
        elif not order.is_of(run.order):
            raise ToolmarkError(taken(order.id))
        return await self._drive(run, ask, watch)

    async def answer(
        self,
        run_id: str,
        key: str,
        answer: Answer,
        *,
        ask: Ask | None = None,
        watch: RunListener | None = None,
    ) -> SkillResult:
        """Answer an open question and run on."""
        run = self._found(run_id)
        self._expire(run)
        if key not in run.questions:
            if (before := run.answers.get(key)) is not None and not before.late:
                raise AnsweredError(run_id, key, before)
            raise TooLateError(run_id, key, "time is up" if before else "")
        self._settle(run, key, answer)
        return await self._drive(run, ask, watch)

    async def resume(
        self, run_id: str, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Take up a run that stands still."""
        run = self._found(run_id)
        self._expire(run)
        return await self._drive(run, ask, watch)

    async def cancel(self, run_id: str) -> SkillResult:
        """Stop a run before its next call, and undo what it did."""
        run = self._found(run_id)
        run.cancelled = True
        run.questions.clear()
        run.answered.set()
        return await self._drive(run, None, None)

    def knows(self, run_id: str) -> bool:
        """Tell whether there is such a run here."""
        return run_id in self._runs

    def order(self, run_id: str) -> Order:
        """Give what was ordered; raises NotFoundError."""
        return self._found(run_id).order

    def waiting(self, run_id: str | None = None) -> tuple[_Open, ...]:
        """Give the open questions of all runs, or of one, but for those past their time."""
        now = self._clock()
        return tuple(
            _Open(question, run.opened[key].timestamp(), None if ends is None else ends.timestamp())
            for run in list(self._runs.values())
            if run.result is None and run_id in {None, run.order.id}
            for key, question in list(run.questions.items())
            if (ends := run.deadlines.get(key)) is None or ends > now
        )

    async def runs(self) -> tuple[RunView, ...]:
        """Give the runs, the latest first."""
        return tuple(run.view() for run in reversed(self._runs.values()))

    async def show(self, run_id: str) -> RunView:
        """Give one run."""
        return self._found(run_id).view()

    def _found(self, run_id: str) -> _Run:
        try:
            return self._runs[run_id]
        except KeyError:
            raise unknown(run_id) from None

    async def _drive(self, run: _Run, ask: Ask | None, watch: RunListener | None) -> SkillResult:
        """Play the run again and again, until it ends or waits for somebody not at hand."""
        async with run.lock:
            while run.result is None:
                journal = MemoryJournal(run, self._clock, watch)
                run.state = "running"
                try:
                    result = await self._play(run.order, journal)
                except ParkedError as parked:
                    if not await self._asked(run, parked, journal, ask):
                        return waiting(parked.questions[0])
                else:
                    run.result = result
                    run.questions.clear()
                    run.state = ended(result)
            return run.result

    async def _asked(
        self, run: _Run, parked: ParkedError, journal: MemoryJournal, ask: Ask | None
    ) -> bool:
        """Open the questions and ask for one; tell whether the run can go on."""
        run.state = "waiting"
        run.questions = {question.key: question for question in parked.questions}
        run.answered.clear()
        for question in parked.questions:
            self._open(run, question, journal)
        if ask is None:
            return False
        question = parked.questions[0]
        answer = await _either(run, question, ask)
        if answer is not None and question.key in run.questions:
            self._settle(run, question.key, answer)
        return answer is not None or run.answered.is_set()

    def _open(self, run: _Run, question: Question, journal: MemoryJournal) -> None:
        journal.tell(RunEvent.waiting(question))
        run.opened.setdefault(question.key, self._clock())
        if question.timeout_s is not None and question.key not in run.deadlines:
            patience = dt.timedelta(seconds=question.timeout_s)
            run.deadlines[question.key] = self._clock() + patience

    def _settle(self, run: _Run, key: str, answer: Answer) -> None:
        run.answers[key] = answer
        run.entries[key] = JournalEntry(key, answer.to_dict(), self._clock().isoformat())
        del run.questions[key]
        run.answered.set()

    def _expire(self, run: _Run) -> None:
        now = self._clock()
        for key in [k for k in run.questions if run.deadlines.get(k, now) < now]:
            self._settle(run, key, Answer(approved=False, late=True))

    def _forget(self) -> None:
        finished = [name for name, run in self._runs.items() if run.result is not None]
        for name in finished[: max(0, len(finished) - MAX_RUNS)]:
            del self._runs[name]


async def _either(run: _Run, question: Question, ask: Ask) -> Answer | None:
    """Give the answer of the person at hand; None when another came first, or nobody is there."""
    elsewhere = asyncio.ensure_future(run.answered.wait())
    asked = asyncio.ensure_future(ask(question))
    try:
        await asyncio.wait(
            {elsewhere, asked}, timeout=question.timeout_s, return_when=asyncio.FIRST_COMPLETED
        )
        if asked.done():
            return asked.result()
        return None if elsewhere.done() else Answer(approved=False, late=True)
    finally:
        elsewhere.cancel()
        asked.cancel()
