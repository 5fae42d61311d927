"""The record of one run while an attempt executes it."""

import asyncio
import datetime as dt
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from toolmd._skills.engine.store import RunStore, StoredQuestion
from toolmd._skills.journal import (
    CancelledRunError,
    Effect,
    Journal,
    ParkedError,
    UncertainOutcome,
)
from toolmd._types.run import HAPPENED, Answer, Clock, JournalEntry, Order, Question, RunEvent

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


class Host(Protocol):
    """What an attempt needs of its engine."""

    store: RunStore
    own: str
    """The name of this process, the owner of the run."""
    keeps: bool
    """Whether the runs outlive the process."""
    clock: Clock

    def may_go_on(self) -> bool:
        """Return whether a new step may begin in this process."""

    async def do(self, work: Callable[[], T]) -> T:
        """Do work on the store that writes."""

    async def look(self, work: Callable[[], T]) -> T:
        """Do work on the store that only reads."""

    def progress(self, run_id: str) -> None:
        """Note that an attempt recorded a step."""


class RunJournal(Journal):
    """The record of a run, in which the steps of earlier attempts count as done."""

    def __init__(
        self,
        host: Host,
        run_id: str,
        began: dt.datetime,
        record: Record,
        tell: Callable[[RunEvent], None],
        *,
        again: bool,
    ) -> None:
        """Begin an attempt; `again` means that an earlier one may have ended within a step."""
        super().__init__(began, record.entries, tell)
        self._host = host
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
        if self._host.keeps and uncertain is not None and await self._happened(key, uncertain):
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
        host = self._host
        if self.lost is not None or not host.may_go_on():
            raise self._lose(LostRunError("this process ends"))
        try:
            goes = await host.look(lambda: host.store.may_go_on(self._run_id, host.own))
        except Exception as error:
            raise self._lose(error) from error
        if goes is None:
            self.heard = True
            raise CancelledRunError
        if not goes:
            raise self._lose(LostRunError("another process executes this run"))
        if self._again:
            self._again = False
            try_again = partial(host.store.try_again, self._run_id, host.own, len(self.entries))
            try:
                may_try = await host.do(try_again)
            except Exception as error:
                raise self._lose(error) from error
            if not may_try:
                raise self._lose(LostRunError("this run is stuck"))

    async def wait(self, key: str, tried: int) -> bool:
        """Wait before a call that never started is sent again; return False after some minutes."""
        if not self._host.keeps or tried >= MOST_WAITS:
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
        host = self._host
        entry = JournalEntry(key, value, host.clock().isoformat())
        number = len(self.entries)
        # Parallel steps take numbers of their own.
        self.entries[key] = entry
        try:
            recorded = await host.do(
                lambda: host.store.record(self._run_id, host.own, number, entry)
            )
        except Exception as error:
            raise self._lose(error) from error
        if not recorded:
            raise self._lose(LostRunError("another process executes this run"))
        host.progress(self._run_id)
        return entry

    def _lose(self, error: BaseException) -> LostRunError:
        self.lost = self.lost or error
        return error if isinstance(error, LostRunError) else LostRunError(str(error))
