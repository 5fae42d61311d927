"""The record of one run while an attempt executes it."""

import asyncio
import datetime as dt
import itertools
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

from toolmd._skills.engine.process import Process
from toolmd._skills.engine.store import StoredQuestion
from toolmd._skills.journal import (
    CancelledRunError,
    Effect,
    Journal,
    ParkedError,
    UncertainOutcome,
)
from toolmd._types.run import HAPPENED, Answer, JournalEntry, Order, Question, RunEvent

T = TypeVar("T")
WAIT_S, LONGEST_WAIT_S = 0.5, 15.0
"""The first and the longest pause before a call that never started is sent again, in seconds."""
MOST_WAITS = 24
"""How often it is sent again: for about five minutes."""


class LostRunError(BaseException):
    """This process may not continue the run: it ends, or another process has taken over.

    Not an Exception, so that a skill's Python does not treat it as the run's own failure.
    """


class Record(NamedTuple):
    """What is stored of a run when an attempt begins."""

    order: Order
    entries: tuple[JournalEntry, ...]
    asked: tuple[StoredQuestion, ...]


class RunJournal(Journal):
    """The record of a run, in which the steps of earlier attempts count as done."""

    def __init__(
        self,
        process: Process,
        run_id: str,
        began: dt.datetime,
        record: Record,
        tell: Callable[[RunEvent], None],
        *,
        again: bool,
    ) -> None:
        """Begin an attempt; `again` means that an earlier one may have ended within a step."""
        super().__init__(began, record.entries, tell)
        self._process = process
        self._run_id = run_id
        self._asked = {one.question.key: one for one in record.asked}
        self._again = again
        self.lost: BaseException | None = None
        """Why this process can't continue the run."""
        self.heard = False
        """Whether the run knows that it is cancelled."""

    async def run(
        self, key: str, effect: Effect, uncertain: UncertainOutcome | None
    ) -> JournalEntry:
        """Run an effect and record its value; ask a person where an earlier run of it was cut."""
        if self._process.keeps and uncertain is not None and await self._happened(key, uncertain):
            return await self._record(key, uncertain.happened)
        return await self._record(key, await effect())

    async def answer(self, question: Question) -> Answer:
        """Return the recorded answer, or raise ParkedError."""
        one = self._asked.get(question.key)
        if one is not None and one.answer is not None:
            self.pass_time(one.answered or self.now())
            return one.answer
        if not question.undoes:
            await self.go_on()
        raise ParkedError(question)

    async def go_on(self) -> None:
        """Raise CancelledRunError in a cancelled run, LostRunError where another process has it."""
        await super().go_on()
        process = self._process
        if self.lost is not None or not process.may_go_on():
            raise self._lose(LostRunError("this process ends"))
        goes = await self._keep(
            process.look(lambda: process.store.may_go_on(self._run_id, process.own))
        )
        if goes is None:
            self.heard = True
            raise CancelledRunError
        if not goes:
            raise self._lose(LostRunError("another process executes this run"))
        if self._again:
            self._again = False
            held = len(self.entries)
            may_try = await self._keep(
                process.do(lambda: process.store.try_again(self._run_id, process.own, held))
            )
            if not may_try:
                raise self._lose(LostRunError("this run is stuck"))

    async def wait(self, key: str, tried: int) -> bool:
        """Wait before a call that never started is sent again; return False after some minutes."""
        if not self._process.keeps or tried >= MOST_WAITS:
            return False
        await asyncio.sleep(min(WAIT_S * 2**tried, LONGEST_WAIT_S))
        marks = (f"{key}:wait{number}" for number in itertools.count(1))
        await self._record(next(mark for mark in marks if mark not in self.entries), value=True)
        return True

    async def _happened(self, key: str, uncertain: UncertainOutcome) -> bool:
        """Record that the call begins; if it began before, return a person's report of it."""
        for number in itertools.count(1):
            mark = f"{key}:begun{number}"
            if mark not in self.entries:
                await self._record(mark, value=True)
                return False
            answer = await self.answer(uncertain.question._replace(key=f"{mark}{HAPPENED}"))
            if answer.approved:
                return True
        raise AssertionError("counting does not end")

    async def _record(self, key: str, value: Any) -> JournalEntry:
        """Record a value before anything else happens."""
        process = self._process
        entry = JournalEntry(key, value, process.clock().isoformat())
        number = len(self.entries)
        # Parallel steps take numbers of their own.
        self.entries[key] = entry
        recorded = await self._keep(
            process.do(lambda: process.store.record(self._run_id, process.own, number, entry))
        )
        if not recorded:
            raise self._lose(LostRunError("another process executes this run"))
        process.progress(self._run_id)
        return entry

    async def _keep(self, work: Awaitable[T]) -> T:
        """Return what the store says; raise LostRunError where it does not answer."""
        try:
            return await work
        except Exception as error:
            raise self._lose(error) from error

    def _lose(self, error: BaseException) -> LostRunError:
        self.lost = self.lost or error
        return error if isinstance(error, LostRunError) else LostRunError(str(error))
