"""Play one segment of a run: from the beginning over its record, to its end or to a question."""

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
"""How often a run is taken up without getting a step further, before it waits for a person."""
FRESH_S = 0.05
"""How long a run is taken not to be cancelled elsewhere after a look, in seconds."""


class Unrecorded(NamedTuple):
    """What a run did could not be recorded, and it is tried again."""

    since: float
    """By the monotonic clock, in seconds."""
    error: UnreachableError


@dataclass(slots=True)
class RunWaiter:
    """Somebody in this process who waits for a run."""

    side: LoopBridge
    watch: RunListener | None
    told: set[tuple[str, str, str]] = field(default_factory=set)
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a segment of the run was played here; on the side of whoever waits."""
    unrecorded: Unrecorded | None = None
    """How the run was left when it was last played here, where it is not played now."""

    def check(self, lock_retry_s: float) -> None:
        """Raise UnreachableError where nothing could be recorded for so many seconds."""
        lost = self.unrecorded
        if lost is not None and time.monotonic() - lost.since > lock_retry_s:
            message = f"{lost.error}; the run goes on from what is recorded when they can"
            raise UnreachableError(message)

    def stir(self) -> None:
        """Have whoever waits look at the run."""
        with suppress(RuntimeError):
            self.side.loop.call_soon_threadsafe(self.stirred.set)

    async def wait(self, longest: float) -> None:
        """Wait until there may be something to see, so many seconds at most."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stirred.wait(), longest)
        self.stirred.clear()


async def in_thread(function: Callable[[], T]) -> T:
    """Give what a blocking function gives, without DBOS's idea of the step that it is in."""
    return await asyncio.get_running_loop().run_in_executor(None, function)


class Segments:
    """Plays the segments that this process begins, or takes from the queue."""

    def __init__(self, play: Play, store: Store, clock: Clock) -> None:
        self._play = play
        self._store = store
        self.clock = clock
        self.process: Process | None = None
        self.waiters: dict[str, RunWaiter] = {}
        self._cancelled: set[str] = set()
        self._looked: dict[str, float] = {}
        self.open = True
        """Whether anything new may begin."""

    async def is_cancelled(self, run_id: str) -> bool:
        """Tell whether somebody cancelled the run."""
        if run_id in self._cancelled:
            return True
        now = time.monotonic()
        if now - self._looked.get(run_id, -FRESH_S) < FRESH_S:
            return False
        self._looked[run_id] = now
        row = await in_thread(lambda: self._store.find(run_id))
        return row is not None and row.cancelled

    def cancel(self, run_id: str) -> None:
        """Hear at once of a run that is cancelled in this process."""
        self._cancelled.add(run_id)

    def may_go_on(self) -> bool:
        """Tell whether anything new may begin in this process."""
        return self.open

    def handed_back(self, run_id: str) -> None:
        """Hear that a run is in the queue again: somebody will play it, here or elsewhere."""
        if (waiter := self.waiters.get(run_id)) is not None:
            waiter.unrecorded = None

    async def play(self, run_id: str, number: int) -> str:
        """Play a segment; gives how it left the run."""
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
            # It was cut off after it had handed over: the rest is its successor's.
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
        except Exception as error:  # noqa: BLE001 - told by the run's result
            reference = logged(error, "run %s broke", run_id)
            message = f"the run broke inside; its operator finds the reason under {reference}."
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
        """Leave a run to the segment after this one, which is there and may have been answered."""
        now = self.clock().timestamp()
        await in_thread(
            lambda: self._store.change(run_id, at=number, segment=number + 1, parked=now)
        )

    async def _journal(self, row: KeptRun, number: int) -> DurableJournal | None:
        """Give the record over which to play; None where the run got stuck."""
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
            # DBOS numbers the steps; what this segment did before it was cut keeps its numbers.
            DBOS.reserve_step()
        journal = DurableJournal(
            row.id, row.began, {entry.key: entry for entry in entries},
            {one.question.key: one for one in asked}, self, self.clock,
        )  # fmt: skip
        if (waiter := self.waiters.get(row.id)) is not None:
            journal.side, journal.watch, journal.told = waiter.side, waiter.watch, waiter.told
        return journal

    def _expire(self, run_id: str, now: dt.datetime) -> None:
        late = Answer(approved=False, late=True)
        for one in self._store.asked(run_id):
            if one.answer is None and one.expires is not None and one.expires <= now.timestamp():
                self._store.settle(run_id, one.question.key, late, now)

    async def _park(
        self, row: KeptRun, number: int, questions: tuple[Question, ...], journal: DurableJournal
    ) -> str:
        """Open the questions and leave the rest of the run to a segment that waits for them."""
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
        """Wake the successor where an answer came before it was there to be woken."""
        assert self.process is not None
        if (row.id, number + 1) in await in_thread(self._store.due):
            await self.process.wake(row.id, number + 1)
