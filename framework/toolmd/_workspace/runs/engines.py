"""The engines of a workspace's runs: one in memory, and one whose runs survive this process."""

import asyncio
import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from threading import Lock

from toolmd._skills.engine import Execute
from toolmd._skills.engine.engine import Engine
from toolmd._skills.engine.store import StoredQuestion
from toolmd._store import MEMORY
from toolmd._store.database import SqliteDatabase
from toolmd._store.store import Store
from toolmd._types.run import Clock, Order, RunQuery, RunState, RunView
from toolmd._types.skill import SkillSpec
from toolmd.errors import ToolmdError

SOME = 100
"""How many questions are read at once."""


class Engines:
    """Both engines of a workspace; which of them has a run is known here alone."""

    def __init__(self, execute: Execute, clock: Clock, store: Store) -> None:
        self._execute = execute
        self._clock = clock
        self._store = store
        self._memory = Engine(execute, SqliteDatabase(None), clock=clock)
        self._durable: Engine | None = None
        self._stopped = False
        self._lock = Lock()

    @property
    def keep(self) -> bool:
        """Whether runs outlive this process."""
        return self._store.setting != MEMORY

    @property
    def _any_kept(self) -> bool:
        """Whether there may be runs of other processes; this check opens nothing."""
        return self.keep and (self._durable is not None or self._store.may_hold_records)

    def holds_runs(self) -> bool:
        """Return whether the store has unfinished runs; it blocks."""
        return self._any_kept and bool(self.durable().unfinished())

    def durable(self) -> Engine:
        """Return the engine that keeps runs, opened on first use."""
        with self._lock:
            if self._stopped:
                raise ToolmdError("this process is ending; its runs continue at the next start")
            if self._durable is None:
                self._durable = Engine(self._execute, self._store.database, clock=self._clock)
            return self._durable

    def begin(self, skill: SkillSpec) -> Engine:
        """Return the engine of a run that begins."""
        return self.durable() if skill.durable and self.keep else self._memory

    async def of(self, run_id: str) -> Engine:
        """Return the engine that has this run, or would have it."""
        if self._memory.knows(run_id) or not self._any_kept:
            return self._memory
        return await asyncio.to_thread(self.durable)

    def order(self, run_id: str) -> Order | None:
        """Return the order of a run; None if there is no such run."""
        return self.orders([run_id]).get(run_id)

    def orders(self, ids: Collection[str]) -> dict[str, Order]:
        """Return the orders of runs by their ids, without missing runs."""
        found = list(self._memory.orders(ids))
        if self._any_kept and len(found) < len(ids):
            found += self.durable().orders(ids)
        return {order.id: order for order in found}

    def waiting(self, run_id: str) -> tuple[StoredQuestion, ...]:
        """Return the open questions of a run."""
        kept = self.durable().waiting(run_id) if self._any_kept else ()
        return (*self._memory.waiting(run_id), *kept)

    def each_waiting(self, after: tuple[float, str] | None) -> Iterator[StoredQuestion]:
        """Yield the open questions of all runs, the oldest first, as far as they are taken.

        `after` is the time and the id of the question after which to begin.
        """
        kept = self._each_kept(after)
        return heapq.merge(self._memory.waiting(None, after), kept, key=_place)

    def _each_kept(self, after: tuple[float, str] | None) -> Iterator[StoredQuestion]:
        while self._any_kept:
            some = self.durable().waiting(None, after, SOME)
            yield from some
            if len(some) < SOME:
                return
            after = _place(some[-1])

    def unfinished(self) -> Mapping[RunState, int]:
        """Return the number of unfinished runs by state, of both engines."""
        found = Counter(self._memory.unfinished())
        if self._any_kept:
            found.update(self.durable().unfinished())
        return found

    async def runs(self, query: RunQuery) -> tuple[RunView, ...]:
        """Return the runs that a query asks for, of both engines, the newest first."""
        found = [*await self._memory.runs(query)]
        if self._any_kept:
            found += await (await asyncio.to_thread(self.durable)).runs(query)
        found.sort(key=lambda view: (view.began, view.id), reverse=True)
        return tuple(found[: query.limit])

    def stop(
        self, timeout_s: float | None = None, on_hold: Callable[[], None] | None = None
    ) -> None:
        """Stop the stored runs at their next step; they continue at the next start.

        `on_hold` is called once no further step begins.
        """
        with self._lock:
            durable, self._durable = self._durable, None
            self._stopped = True
        if durable is not None:
            durable.hold()
        if on_hold is not None:
            on_hold()
        if durable is not None:
            durable.close(timeout_s)

    def close(self) -> None:
        """Stop the runs of this process; stored runs continue at the next start."""
        self._memory.close()
        self.stop()


def _place(one: StoredQuestion) -> tuple[float, str]:
    """Return what orders questions: when one was asked, and its id."""
    return one.opened, one.question.id
