"""Execute one attempt of a run, which the database calls a segment.

An attempt begins at the start of the run over its record, and ends with the run or at a question.
"""

import asyncio
import datetime as dt
from collections.abc import Callable
from typing import Any

from dbos import DBOS

from toolmd._skills.engine import Execute
from toolmd._skills.engine.durable.journal import DurableJournal, LostRunError, StuckRunError
from toolmd._skills.engine.durable.loop_bridge import in_thread
from toolmd._skills.engine.durable.rows import KeptRun
from toolmd._skills.engine.durable.store import Head, Store
from toolmd._skills.engine.durable.waiters import Waiters
from toolmd._skills.journal import ParkedError
from toolmd._types.result import SkillResult
from toolmd._types.run import Clock, JournalEntry, Order, Question, RunEvent
from toolmd.errors import UnreachableError, logged


class Attempts:
    """Executes the attempts that this process begins or gets from the queue."""

    def __init__(
        self,
        execute: Execute,
        store: Store,
        waiters: Waiters,
        lives: Callable[[], bool],
        clock: Clock,
    ) -> None:
        """Prepare it; `lives` returns whether other processes can see this one as alive."""
        self._execute = execute
        self._store = store
        self._waiters = waiters
        self._lives = lives
        self._clock = clock
        self._suspects = asyncio.Lock()
        self.orders: dict[str, Order] = {}
        """The orders of this process's callers, which need not be read."""
        self.open = True
        """Whether a new effect may begin."""

    def may_go_on(self) -> bool:
        """Return whether a new effect may begin: others may have taken over a frozen process."""
        return self.open and self._lives()

    async def execute(self, run_id: str, number: int, begun: dict[str, Any] | None) -> str:
        """Execute an attempt; return how it left the run."""
        try:
            return await self._attempted(run_id, number, begun)
        except UnreachableError as error:
            self._waiters.lose(run_id, error)
            raise

    async def _attempted(self, run_id: str, number: int, begun: dict[str, Any] | None) -> str:
        head, entries, last = await in_thread(lambda: self._begin(run_id, number, begun))
        if head is None:
            return "over"
        self._waiters.recover(run_id)
        if head.row.stuck:
            self._waiters.come(head.row)
            return "stuck"
        if head.row.cancelled:
            self._waiters.cancelled.add(run_id)
        for _ in range(last):
            # DBOS numbers the steps; those of an interrupted attempt keep their numbers.
            DBOS.reserve_step()
        journal = self._journal(head, entries)
        result = await self._interpreted(head.order, journal)
        if isinstance(journal.lost, StuckRunError):
            self._waiters.come(head.row._replace(stuck=True))
            return "stuck"
        if journal.lost is not None:
            raise journal.lost
        if isinstance(result, ParkedError):
            return await self._park(head.row, result.questions, journal)
        assert isinstance(result, SkillResult)
        now, done = self._clock(), result
        await in_thread(lambda: self._store.finish(head.row, done, now))
        self._waiters.cancelled.discard(run_id)
        self._waiters.come(head.row._replace(result=done, ended=now))
        return "over"

    def _begin(
        self, run_id: str, number: int, begun: dict[str, Any] | None
    ) -> tuple[Head | None, tuple[JournalEntry, ...], int]:
        """Begin an attempt over its record; a run without one has nothing to read."""
        known = self.orders.pop(run_id, None)
        if begun is not None and self._store.begin(begun):
            order = known or self._store.reader.order(run_id)
            began = dt.datetime.fromisoformat(begun["began"])
            return Head(KeptRun.new(order, began), order), (), 0
        entries, last = self._store.steps(run_id, number)
        return self._store.head(run_id, number, len(entries)), entries, last

    def _journal(self, head: Head, entries: tuple[JournalEntry, ...]) -> DurableJournal:
        journal = DurableJournal(
            head, entries, self._store, self._waiters.cancelled, self._clock, self.may_go_on,
            suspects=self._suspects,
        )  # fmt: skip
        if waiters := self._waiters.of(head.row.id):
            journal.bridge, journal.watch = waiters[-1].bridge, waiters[-1].watch
            journal.told = waiters[-1].told
        return journal

    async def _interpreted(
        self, order: Order, journal: DurableJournal
    ) -> SkillResult | ParkedError | LostRunError | UnreachableError:
        try:
            return await self._execute(order, journal)
        except ParkedError as parked:
            return parked
        except (LostRunError, UnreachableError) as lost:
            # A store that does not answer is no failure of the run.
            journal.lost = journal.lost or lost
            return lost
        except Exception as error:  # noqa: BLE001 - the run's result reports it
            reference = logged(error, "run %s broke", order.id)
            message = f"the run raised an error; its log reference is {reference}."
            return SkillResult(
                success=False, message=message, error=message, run_id=order.id,
                code="internal_error",
            )  # fmt: skip

    async def _park(
        self, row: KeptRun, questions: tuple[Question, ...], journal: DurableJournal
    ) -> str:
        """Open the questions, and leave the rest of the run to an attempt after their answer."""
        now = self._clock().timestamp()
        parked = await in_thread(lambda: self._store.park(row, questions, now, heard=journal.heard))
        if parked is not None:
            for question in questions if parked.parked else ():
                journal.tell(RunEvent.waiting(question))
            self._waiters.come(parked)
        return "waiting"
