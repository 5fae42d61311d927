"""Execute one attempt of a run, which the database calls a segment.

An attempt begins at the start of the run over its record, and ends with the run or at a question.
"""

import asyncio
import datetime as dt
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from dbos import DBOS

from toolmd._skills.engine import Play
from toolmd._skills.engine.durable.journal import DurableJournal, LostRunError
from toolmd._skills.engine.durable.loop_bridge import LoopBridge
from toolmd._skills.engine.durable.process import Process
from toolmd._skills.engine.durable.rows import KeptRun
from toolmd._skills.engine.durable.store import Store
from toolmd._skills.journal import ParkedError
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, Clock, Question, RunEvent, RunListener
from toolmd.errors import UnreachableError, logged

T = TypeVar("T")
MAX_ATTEMPTS = 5
"""How often a run may resume without progress before it waits for a person."""
FRESH_S = 0.05
"""How long a check for a cancellation elsewhere stays valid, in seconds."""


class Unrecorded(NamedTuple):
    """A run whose effects could not be recorded; it is retried."""

    since: float
    """When it began, by the monotonic clock, in seconds."""
    error: UnreachableError


@dataclass(slots=True)
class RunWaiter:
    """A caller in this process that waits for a run."""

    bridge: LoopBridge
    watch: RunListener | None
    told: set[tuple[str, str, str]] = field(default_factory=set)
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    """Set after an attempt executed here; it belongs to the loop of the caller."""
    unrecorded: Unrecorded | None = None
    """The last failure to record, while the run does not execute."""

    def check(self, store_wait_s: float) -> None:
        """Raise UnreachableError after this many seconds in which nothing could be recorded."""
        lost = self.unrecorded
        if lost is not None and time.monotonic() - lost.since > store_wait_s:
            message = f"{lost.error}; the run resumes from its record when they can be reached"
            raise UnreachableError(message)

    def stir(self) -> None:
        """Wake the caller to check the run."""
        with suppress(RuntimeError):
            self.bridge.loop.call_soon_threadsafe(self.stirred.set)

    async def wait(self, longest: float) -> None:
        """Wait for a change of the run, at most this many seconds."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stirred.wait(), longest)
        self.stirred.clear()


async def in_thread(function: Callable[[], T]) -> T:
    """Run a blocking function in a thread, without DBOS's context of the current step."""
    return await asyncio.get_running_loop().run_in_executor(None, function)


class Attempts:
    """Executes the attempts that this process begins or gets from the queue."""

    def __init__(self, play: Play, store: Store, clock: Clock) -> None:
        self._play = play
        self._store = store
        self.clock = clock
        self.process: Process | None = None
        self.waiters: dict[str, RunWaiter] = {}
        self._cancelled: set[str] = set()
        self._looked: dict[str, float] = {}
        self.open = True
        """Whether a new effect may begin."""

    async def is_cancelled(self, run_id: str) -> bool:
        """Return whether the run was cancelled."""
        if run_id in self._cancelled:
            return True
        now = time.monotonic()
        if now - self._looked.get(run_id, -FRESH_S) < FRESH_S:
            return False
        self._looked[run_id] = now
        row = await in_thread(lambda: self._store.find(run_id))
        return row is not None and row.cancelled

    def cancel(self, run_id: str) -> None:
        """Mark a run as cancelled in this process."""
        self._cancelled.add(run_id)

    def may_go_on(self) -> bool:
        """Return whether a new effect may begin in this process."""
        return self.open

    def handed_back(self, run_id: str) -> None:
        """Clear the failure of a run that is in the queue again; a process will execute it."""
        if (waiter := self.waiters.get(run_id)) is not None:
            waiter.unrecorded = None

    async def play(self, run_id: str, number: int) -> str:
        """Execute an attempt; return how it left the run."""
        self._looked.pop(run_id, None)
        waiter, before = self.waiters.get(run_id), None
        if waiter is not None:
            before, waiter.unrecorded = waiter.unrecorded, None
        try:
            return await self._played(run_id, number)
        except UnreachableError as error:
            if waiter is not None:
                waiter.unrecorded = before or Unrecorded(time.monotonic(), error)
            raise
        finally:
            self._looked.pop(run_id, None)
            if (waiter := self.waiters.get(run_id)) is not None:
                waiter.stir()

    async def _played(self, run_id: str, number: int) -> str:
        process, store = self.process, self._store
        assert process is not None
        row = await in_thread(lambda: store.find(run_id))
        if row is None or row.result is not None:
            return "over"
        if row.cancelled:
            self.cancel(run_id)
            await in_thread(lambda: store.hear(run_id))
        if await process.exists(run_id, number + 1):
            # The attempt was interrupted after it had handed over; its successor continues.
            await self.hand_over(row.id, number)
            await self._handed(row, number)
            return "waiting"
        journal = await self._journal(row, number)
        if journal is None:
            return "stuck"
        order = await in_thread(lambda: store.order(run_id))
        try:
            result = await self._play(order, journal)
        except ParkedError as parked:
            if journal.lost is None:
                return await self._park(row, number, parked.questions, journal)
        except LostRunError:
            pass
        except Exception as error:  # noqa: BLE001 - the run's result reports it
            reference = logged(error, "run %s broke", run_id)
            message = f"the run failed inside; the log has the reason under {reference}."
            result = SkillResult(
                success=False, message=message, error=message, run_id=run_id, code="internal_error"
            )
        if journal.lost is not None:
            raise journal.lost if isinstance(journal.lost, Exception) else LostRunError
        now = self.clock()
        await in_thread(lambda: store.finish(run_id, result, now))
        self._cancelled.discard(run_id)
        return "over"

    async def hand_over(self, run_id: str, number: int) -> None:
        """Leave a run to the next attempt, which exists and may have been answered."""
        now = self.clock().timestamp()
        await in_thread(
            lambda: self._store.change(run_id, at=number, segment=number + 1, parked=now)
        )

    async def _journal(self, row: KeptRun, number: int) -> DurableJournal | None:
        """Return the record for the run; None where the run is stuck."""
        store, now = self._store, self.clock()
        entries, last = await in_thread(lambda: store.steps(row.id, number))
        tries = await in_thread(lambda: store.attempt(row.id, len(entries)))
        if tries > MAX_ATTEMPTS:
            await in_thread(lambda: store.change(row.id, stuck=1))
            return None
        await in_thread(lambda: store.change(row.id, segment=number, parked=0.0))
        await in_thread(lambda: self._expire(row.id, now))
        asked = await in_thread(lambda: store.heed(row.id, number))
        for _ in range(last):
            # DBOS numbers the steps; those of an interrupted attempt keep their numbers.
            DBOS.reserve_step()
        journal = DurableJournal(
            row.id, row.began, {entry.key: entry for entry in entries},
            {one.question.key: one for one in asked}, self, self.clock,
        )  # fmt: skip
        if (waiter := self.waiters.get(row.id)) is not None:
            journal.bridge, journal.watch, journal.told = waiter.bridge, waiter.watch, waiter.told
        return journal

    def _expire(self, run_id: str, now: dt.datetime) -> None:
        late = Answer(approved=False, late=True)
        for one in self._store.asked(run_id):
            if one.answer is None and one.expires is not None and one.expires <= now.timestamp():
                self._store.settle(run_id, one.question.key, late, now)

    async def _park(
        self, row: KeptRun, number: int, questions: tuple[Question, ...], journal: DurableJournal
    ) -> str:
        """Open the questions and leave the rest of the run to an attempt that waits for them."""
        assert self.process is not None
        store, now = self._store, self.clock().timestamp()
        await in_thread(lambda: store.ask(questions, now))
        asked = {one.question.key: one for one in await in_thread(lambda: store.asked(row.id))}
        expires = [one.expires for q in questions if (one := asked[q.key]).expires is not None]
        delay = max(0.0, min(expires) - now) if expires else None
        await self.process.follow(row.id, number + 1, delay)
        await in_thread(
            lambda: store.change(row.id, at=number, segment=number + 1, parked=now, attempts=0)
        )
        for question in questions:
            journal.tell(RunEvent.waiting(question))
        await self._handed(row, number)
        return "waiting"

    async def _handed(self, row: KeptRun, number: int) -> None:
        """Wake the successor where an answer came before the successor existed."""
        assert self.process is not None
        if (row.id, number + 1) in await in_thread(self._store.due):
            await self.process.wake(row.id, number + 1)
