"""The engines of runs: one in memory, and one whose runs survive this process."""

import asyncio
import heapq
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from toolmd._skills.engine import Engine, Execute, OpenQuestion
from toolmd._skills.engine.memory import MemoryEngine
from toolmd._store import STORE_FILE, is_postgres
from toolmd._types.registry import Bound
from toolmd._types.run import Clock, Order, RunQuery, RunState, RunView
from toolmd._types.settings import Settings
from toolmd._types.skill import SkillSpec
from toolmd._workspace.snapshot.live import Live
from toolmd.config import state_folder
from toolmd.config.state_files import EmptiedError, is_there
from toolmd.errors import ToolmdError

if TYPE_CHECKING:
    # Programs whose skills only read never import it.
    from toolmd._skills.engine.durable.engine import DurableEngine

SOME = 100
"""How many questions are read at once."""


class Engines:
    """Both engines of a workspace; which of them has a run is known here alone."""

    def __init__(self, execute: Execute, clock: Clock, settings: Settings) -> None:
        self._execute = execute
        self._clock = clock
        self._settings = settings
        self._memory = MemoryEngine(execute, clock=clock)
        self._durable: DurableEngine | None = None
        self._stopped = False
        self._lock = Lock()

    @property
    def keep(self) -> bool:
        """Whether runs outlive this process."""
        return self._settings.store != "memory"

    @property
    def _any_kept(self) -> bool:
        """Whether there may be runs of other processes; this check imports nothing."""
        if self._durable is not None or self._settings.store not in {"sqlite", "memory"}:
            return True
        return self.keep and has_runs(self._settings.state / STORE_FILE)

    def holds_runs(self) -> bool:
        """Return whether the store has tables of runs, or can't be read; it blocks."""
        if self._durable is None and self.keep and is_postgres(self._settings.store):
            from toolmd._store.schema import has_table

            return has_table(self._settings.store, "toolmd_run")
        return self._any_kept

    def durable(self) -> "DurableEngine":
        """Return the engine that keeps runs, opened on first use."""
        with self._lock:
            if self._stopped:
                raise ToolmdError("this process is ending; its runs continue at the next start")
            if self._durable is None:
                from toolmd._skills.engine.durable.engine import DurableEngine

                state = state_folder(self._settings.state)
                self._durable = DurableEngine(
                    self._execute, self._settings.store, state, clock=self._clock
                )
            return self._durable

    async def begin(self, skill: Bound[SkillSpec], live: Live) -> tuple[Engine, str]:
        """Return the engine of a run that begins, and the hash of the Python that it pinned."""
        if not (skill.spec.durable and self.keep):
            return self._memory, ""
        # Opening a database waits for a process that has locked it.
        engine = await asyncio.to_thread(self.durable)
        await asyncio.to_thread(lambda: engine.code.keep(*live.pin))
        return engine, live.pin.hash

    async def of(self, run_id: str) -> Engine:
        """Return the engine that has this run, or would have it."""
        if self._memory.knows(run_id) or not self._any_kept:
            return self._memory
        engine: Engine = await asyncio.to_thread(self.durable)
        return engine

    def order(self, run_id: str) -> Order | None:
        """Return the order of a run; None if there is no such run."""
        return self.orders([run_id]).get(run_id)

    def orders(self, ids: Collection[str]) -> dict[str, Order]:
        """Return the orders of runs by their ids, without missing runs."""
        found = list(self._memory.orders(ids))
        if self._any_kept and len(found) < len(ids):
            found += self.durable().orders(ids)
        return {order.id: order for order in found}

    def waiting(self, run_id: str) -> tuple[OpenQuestion, ...]:
        """Return the open questions of a run."""
        kept = self.durable().waiting(run_id) if self._any_kept else ()
        return (*self._memory.waiting(run_id), *kept)

    def each_waiting(self, after: tuple[float, str] | None) -> Iterator[OpenQuestion]:
        """Yield the open questions of all runs, the oldest first, as far as they are taken.

        `after` is the time and the id of the question after which to begin.
        """
        here = sorted(self._memory.waiting(), key=_place)
        own = [one for one in here if after is None or _place(one) > after]
        return heapq.merge(own, self._each_kept(after), key=_place)

    def _each_kept(self, after: tuple[float, str] | None) -> Iterator[OpenQuestion]:
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


def _place(one: OpenQuestion) -> tuple[float, str]:
    """Return what orders questions: when one was asked, and its id."""
    return one.opened, one.question.id


def has_runs(file: Path) -> bool:
    """Return whether a SQLite file has tables of runs; True also for one that can't be read."""
    try:
        if not is_there(file):
            return False
    except EmptiedError:
        return True
    import sqlite3

    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as store:
            question = "SELECT 1 FROM sqlite_master WHERE name = 'toolmd_run'"
            return store.execute(question).fetchone() is not None
    except sqlite3.Error:
        return True  # Opening it reports what is wrong.
