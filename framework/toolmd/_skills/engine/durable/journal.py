"""The record of one run in DBOS: one step per effect, found by its name."""

import asyncio
import contextlib
import datetime as dt
import itertools
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from dbos import DBOS

from toolmd._skills.engine.durable.loop_bridge import FarExecutor, LoopBridge, in_thread
from toolmd._skills.engine.durable.store import Head, Store
from toolmd._skills.journal import (
    CancelledRunError,
    Effect,
    Executor,
    ParkedError,
    UncertainOutcome,
)
from toolmd._types.run import HAPPENED, Answer, Clock, JournalEntry, Question, RunEvent, RunListener

WAIT_S, LONGEST_WAIT_S = 0.5, 15.0
"""The first and the longest pause before a call that never started is sent again, in seconds."""
SUSPECT = 2
"""After how many tries an effect runs while no other such effect of this process does."""
MOST_WAITS = 24
"""How often it is sent again: for about five minutes."""


class LostRunError(BaseException):
    """This process may not continue the run: it ends, or another process has taken over.

    Not an Exception, so that neither DBOS nor a skill's Python treats it as the run's own failure.
    """


class StuckRunError(LostRunError):
    """Too many attempts ended within the same effect: the run waits for a person."""


class DurableJournal:
    """One attempt's view of its run: effects of earlier attempts count as done."""

    def __init__(  # noqa: PLR0913 - what an attempt brings
        self,
        head: Head,
        entries: Sequence[JournalEntry],
        store: Store,
        cancelled: set[str],
        clock: Clock,
        may_go_on: Callable[[], bool],
        *,
        suspects: asyncio.Lock,
    ) -> None:
        """Prepare it; `may_go_on` returns whether a new effect may begin in this process.

        `suspects` is for effects within which several processes ended.
        """
        self._run_id = head.row.id
        self._now = head.row.began
        self._entries = {entry.key: entry for entry in entries}
        self._asked = {one.question.key: one for one in head.asked}
        self._again = head.again
        self._turn: AbstractAsyncContextManager[Any] = contextlib.nullcontext()
        if head.tried >= SUSPECT:
            # If it kills its process, no other one must look guilty for it.
            self._turn = suspects
        self._store = store
        self._cancelled = cancelled
        self._clock = clock
        self._may_go_on = may_go_on
        self.bridge: LoopBridge | None = None
        """The loop of the tools; None for the loop that executes the run."""
        self.watch: RunListener | None = None
        self.told: set[tuple[str, str, str]] = set()
        """The events that `watch` received, including earlier attempts."""
        self.lost: BaseException | None = None
        """Why the run can't continue here, if it can't."""
        self.heard = False
        """Whether the run knows that it is cancelled."""

    def now(self) -> dt.datetime:
        """Return the time of the last recorded effect."""
        return self._now

    def reach(self, executor: Executor) -> Executor:
        """Return an executor that works from this loop."""
        return executor if self.bridge is None else FarExecutor(executor, self.bridge)

    def has(self, key: str) -> bool:
        """Return whether the effect is recorded."""
        return key in self._entries

    def begun(self, place: str) -> bool:
        """Return whether anything is recorded below a place, such as an item of a loop."""
        return any(key.startswith(f"{place}:") for key in self._entries)

    async def perform(
        self,
        key: str,
        effect: Effect,
        *,
        undoing: bool = False,
        uncertain: UncertainOutcome | None = None,
    ) -> Any:
        """Return the recorded value, or run the effect and record it."""
        entry = self._entries.get(key)
        if entry is None:
            if not undoing:
                await self.go_on()
            turn, self._turn = self._turn, contextlib.nullcontext()
            async with turn:
                await self._check()
                if uncertain is not None and await self._happened(key, uncertain):
                    value = uncertain.happened
                else:
                    value = await effect()
                entry = await self._record(key, value)
        self._now = max(self._now, dt.datetime.fromisoformat(entry.at))
        return entry.value

    async def answer(self, question: Question) -> Answer:
        """Return the recorded answer, or park."""
        asked = self._asked.get(question.key)
        if asked is not None and asked.answer is not None:
            if asked.answered is not None:
                self._now = max(self._now, asked.answered)
            return asked.answer
        if not question.undoes:
            await self.go_on()
        raise ParkedError(question)

    async def go_on(self) -> None:
        """Raise CancelledRunError in a cancelled run."""
        if self._run_id in self._cancelled:
            self.heard = True
            raise CancelledRunError

    async def wait(self, key: str, tried: int) -> bool:
        """Wait before a call that never started is sent again; False after some minutes.

        What it waits for is the store or a processor. A mark in the record shows that this process
        still has the run.
        """
        if tried >= MOST_WAITS:
            return False
        await asyncio.sleep(min(WAIT_S * 2**tried, LONGEST_WAIT_S))
        for _ in range(MOST_WAITS):
            if self._may_go_on():
                break
            # After an outage other processes see this one again a second later.
            await asyncio.sleep(WAIT_S)
        await self._check()
        marks = (f"{key}:wait{number}" for number in itertools.count(1))
        await self._record(next(mark for mark in marks if mark not in self._entries), value=True)
        return True

    def tell(self, event: RunEvent) -> None:
        """Report an event in the listener's loop."""
        if self.watch is None or event.mark in self.told:
            return
        self.told.add(event.mark)
        if self.bridge is None:
            self.watch(event)
            return
        with contextlib.suppress(RuntimeError):
            self.bridge.loop.call_soon_threadsafe(self.watch, event)

    async def _happened(self, key: str, uncertain: UncertainOutcome) -> bool:
        """Record that the call begins; if it began before, return a person's report of it."""
        for number in itertools.count(1):
            mark = f"{key}:begun{number}"
            if mark not in self._entries:
                await self._record(mark, value=True)
                return False
            answer = await self.answer(uncertain.question._replace(key=f"{mark}{HAPPENED}"))
            if answer.approved:
                return True
        raise AssertionError("counting does not end")

    async def _check(self) -> None:
        """Raise LostRunError where no new effect may begin."""
        if self.lost is not None or not self._may_go_on():
            raise self._lose(LostRunError("this process ends"))
        if self._again:
            self._again = False
            try:
                may_try = await in_thread(lambda: self._store.is_tried(self._run_id))
            except Exception as error:
                raise self._lose(error) from error
            if not may_try:
                raise self._lose(StuckRunError(self._run_id))

    async def _record(self, key: str, value: Any) -> JournalEntry:
        """Record a value as a step, in one thread, before anything else happens."""
        recorded = []

        def record() -> dict[str, Any]:
            recorded.append({"value": value, "at": self._clock().isoformat()})
            return recorded[0]

        try:
            kept = await DBOS.run_step_async({"name": key}, record)
        except Exception as error:
            # It could not be recorded, or another process owns the run by now.
            raise self._lose(error) from error
        if not recorded:
            raise self._lose(LostRunError("another process executes this run"))
        entry = self._entries[key] = JournalEntry(key, kept["value"], kept["at"])
        return entry

    def _lose(self, error: BaseException) -> LostRunError:
        self.lost = self.lost or error
        return error if isinstance(error, LostRunError) else LostRunError(str(error))
