"""Runs in the memory of this process: for tests, embedding, and read-only skills."""

import asyncio
import datetime as dt
from asyncio import FIRST_COMPLETED
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from toolmd._skills.engine import ALL_RUNS, Ask, Execute, utc_now
from toolmd._skills.engine.memory_run import MemoryJournal, MemoryRun
from toolmd._skills.engine.outcomes import (
    AnsweredError,
    TooLateError,
    ended,
    no_question,
    taken,
    unknown,
    waiting,
)
from toolmd._skills.journal import ParkedError
from toolmd._types.result import SkillResult
from toolmd._types.run import (
    START,
    Answer,
    Clock,
    JournalEntry,
    Order,
    Question,
    RunEvent,
    RunListener,
    RunQuery,
    RunState,
    RunView,
)
from toolmd.errors import ToolmdError

LOOK_S = 0.2
"""How often the clock is read while a person is being asked, in seconds."""
MAX_RUNS = 1000
"""How many finished runs are kept; the oldest ones beyond it are dropped."""


class _Open(NamedTuple):
    """An OpenQuestion in this process's memory."""

    question: Question
    opened: float
    expires: float | None


class MemoryEngine:
    """Keeps runs in memory; they end with the process."""

    def __init__(self, execute: Execute, *, clock: Clock = utc_now) -> None:
        self._execute = execute
        self._clock = clock
        self._runs: dict[str, MemoryRun] = {}
        self._woken: set[asyncio.Task[None]] = set()

    async def run(
        self, order: Order, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Run an order; one with a known id is resumed.

        Raises ToolmdError where the id belongs to another run.
        """
        if (run := self._runs.get(order.id)) is None:
            self._forget()
            run = self._runs[order.id] = MemoryRun(order, self._clock())
        elif not order.is_of(run.order):
            raise ToolmdError(taken(order.id))
        return await self._drive(run, ask, watch)

    async def schedule(self, order: Order, at: dt.datetime) -> SkillResult:
        """Keep an order that starts at a time; a known one stays as it is."""
        if (run := self._runs.get(order.id)) is None:
            run = self._runs[order.id] = MemoryRun(order, at, state="scheduled")
            run.questions[START] = Question.start(order, at)
            run.opened[START], run.deadlines[START] = self._clock(), at
            self._set_alarm(run)
        elif not order.is_of(run.order):
            raise ToolmdError(taken(order.id))
        return waiting(Question.start(order, run.began))

    async def answer(
        self,
        run_id: str,
        key: str,
        answer: Answer,
        *,
        ask: Ask | None = None,
        watch: RunListener | None = None,
    ) -> SkillResult:
        """Answer an open question and continue the run."""
        run = self._found(run_id)
        self._expire(run)
        asked = run.questions.get(key)
        if asked is None or not asked.asks:
            if (before := run.answers.get(key)) is not None and not before.late:
                raise AnsweredError(run_id, key, before)
            if before is None:
                raise no_question(run_id, key)
            raise TooLateError(run_id, key, "time is up")
        self._settle(run, key, answer)
        return await self._drive(run, ask, watch)

    async def resume(
        self, run_id: str, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Resume a run that stands still."""
        run = self._found(run_id)
        self._expire(run)
        return await self._drive(run, ask, watch)

    async def cancel(self, run_id: str) -> SkillResult:
        """Stop a run before its next call, and undo its steps."""
        run = self._found(run_id)
        run.cancelled = True
        run.questions.clear()
        run.answered.set()
        return await self._drive(run, None, None)

    def knows(self, run_id: str) -> bool:
        """Return whether this engine has the run."""
        return run_id in self._runs

    def orders(self, ids: Iterable[str]) -> tuple[Order, ...]:
        """Return the orders of these runs, without missing ones."""
        return tuple(self._runs[one].order for one in ids if one in self._runs)

    def waiting(self, run_id: str | None = None) -> tuple[_Open, ...]:
        """Return the open questions of all runs, or of one, without expired ones."""
        now = self._clock()
        return tuple(
            _Open(question, run.opened[key].timestamp(), None if ends is None else ends.timestamp())
            for run in list(self._runs.values())
            if run.result is None and run_id in {None, run.order.id}
            for key, question in list(run.questions.items())
            if (ends := run.deadlines.get(key)) is None or ends > now
        )

    async def runs(self, query: RunQuery = ALL_RUNS) -> tuple[RunView, ...]:
        """Return the runs that match a query, the newest first."""
        for run in list(self._runs.values()):
            await self._catch_up(run)
        asked = [r for r in self._runs.values() if query.user in {None, r.order.caller.user}]
        asked = [r for r in asked if query.after is None or r.place < query.after]
        asked.sort(key=lambda run: run.place, reverse=True)
        return tuple(run.view() for run in asked[: query.limit])

    async def show(self, run_id: str) -> RunView:
        """Return one run; raises NotFoundError."""
        run = self._found(run_id)
        await self._catch_up(run)
        return run.view()

    def close(self) -> None:
        """Cancel the alarms; waiting runs stand still."""
        for run in self._runs.values():
            if run.alarm is not None:
                run.alarm.cancel()

    def _found(self, run_id: str) -> MemoryRun:
        try:
            return self._runs[run_id]
        except KeyError:
            raise unknown(run_id) from None

    async def _drive(
        self, run: MemoryRun, ask: Ask | None, watch: RunListener | None
    ) -> SkillResult:
        """Execute the run repeatedly until it ends or waits for somebody who is not available."""
        async with run.lock:
            if START in run.questions:
                return waiting(run.questions[START])
            while run.result is None:
                journal = MemoryJournal(run, self._clock, watch)
                run.state = "running"
                try:
                    result = await self._execute(run.order, journal)
                except ParkedError as parked:
                    if not await self._asked(run, parked, journal, ask):
                        self._set_alarm(run)
                        return waiting(parked.questions[0])
                else:
                    run.result, run.ended = result, self._clock()
                    run.questions.clear()
                    run.state = ended(result)
            return run.result

    async def _asked(
        self, run: MemoryRun, parked: ParkedError, journal: MemoryJournal, ask: Ask | None
    ) -> bool:
        """Open the questions and ask one of them; return whether the run can continue."""
        run.state = "waiting"
        run.questions = {question.key: question for question in parked.questions}
        run.answered.clear()
        for question in parked.questions:
            self._open(run, question, journal)
        question = parked.questions[0]
        if ask is None or not question.asks:
            return False
        answer = await self._either(run, question, ask)
        if answer is not None and question.key in run.questions:
            self._settle(run, question.key, answer)
        return answer is not None or run.answered.is_set()

    def _open(self, run: MemoryRun, question: Question, journal: MemoryJournal) -> None:
        journal.tell(RunEvent.waiting(question))
        run.opened.setdefault(question.key, self._clock())
        ends = question.ends(self._clock())
        if ends is not None and question.key not in run.deadlines:
            run.deadlines[question.key] = ends

    def unfinished(self) -> dict[RunState, int]:
        """Return the number of unfinished runs by state."""
        return dict(Counter(run.state for run in self._runs.values() if run.result is None))

    def _settle(self, run: MemoryRun, key: str, answer: Answer) -> None:
        run.answers[key] = answer
        run.entries[key] = JournalEntry(key, answer.to_dict(), self._clock().isoformat())
        del run.questions[key]
        run.answered.set()

    def _expire(self, run: MemoryRun) -> None:
        if run.result is None and run.deadlines:
            for key in [key for key in run.questions if self._is_over(run, key)]:
                self._settle(run, key, Answer(approved=False, late=True))

    def _is_over(self, run: MemoryRun, key: str) -> bool:
        return key in run.deadlines and run.deadlines[key] <= self._clock()

    async def _catch_up(self, run: MemoryRun) -> None:
        """Continue a run whose question expired while nobody was available."""
        self._expire(run)
        if run.is_parked and run.answered.is_set() and not run.lock.locked():
            await self._drive(run, None, None)

    def _set_alarm(self, run: MemoryRun) -> None:
        """Schedule the end of the wait in this loop; without the loop, the next look-up ends it."""
        ends = [run.deadlines[key] for key in run.questions if key in run.deadlines]
        if run.alarm is not None:
            run.alarm.cancel()
        if ends:
            left = (min(ends) - self._clock()).total_seconds()
            run.alarm = asyncio.get_running_loop().call_later(max(left, LOOK_S), self._wake, run)

    def _wake(self, run: MemoryRun) -> None:
        async def wake() -> None:
            await self._catch_up(run)
            if run.is_parked and not run.lock.locked():
                self._set_alarm(run)

        task = asyncio.ensure_future(wake())
        self._woken.add(task)
        task.add_done_callback(self._woken.discard)

    def _forget(self) -> None:
        finished = [name for name, run in self._runs.items() if run.result is not None]
        for name in finished[: max(0, len(finished) - MAX_RUNS)]:
            del self._runs[name]

    async def _either(self, run: MemoryRun, question: Question, ask: Ask) -> Answer | None:
        """Return the available person's answer; None if another came first or nobody answered."""
        elsewhere = asyncio.ensure_future(run.answered.wait())
        asked = asyncio.ensure_future(ask(question))
        both = {elsewhere, asked}
        try:
            while not (await asyncio.wait(both, timeout=LOOK_S, return_when=FIRST_COMPLETED))[0]:
                if self._is_over(run, question.key):
                    return Answer(approved=False, late=True)
            return asked.result() if asked.done() else None
        finally:
            elsewhere.cancel()
            asked.cancel()
