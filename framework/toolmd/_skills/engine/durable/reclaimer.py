"""Reclaim runs every second: those of dead processes, answered ones, and old ones."""

import datetime as dt
import itertools
import logging
import threading
from collections import Counter
from functools import partial

from toolmd._skills.engine.durable.attempt import Attempts, in_thread
from toolmd._skills.engine.durable.heartbeat import Heartbeat
from toolmd._skills.engine.durable.liveness import Locks
from toolmd._skills.engine.durable.outage import Outage
from toolmd._skills.engine.durable.process import VERSION, Process
from toolmd._skills.engine.durable.store import Store
from toolmd.errors import UnreachableError

KEEP = dt.timedelta(days=30)
"""How long a run that ended is kept."""
LOOK_S = 1.0
"""Pause between two rounds, in seconds."""
LOST_AFTER = 3
"""After how many rounds in a row an orphan is put back."""
FORGET_EVERY = 3600
"""How many rounds pass between two deletions of old runs."""

logger = logging.getLogger(__name__)


class Reclaimer:
    """A thread beside the one that executes the runs of this process."""

    def __init__(
        self,
        process: Process,
        attempts: Attempts,
        store: Store,
        locks: Locks | Heartbeat,
        every_s: float = LOOK_S,
    ) -> None:
        """Prepare it; `locks` know live processes, `every_s` is the pause between two rounds."""
        self._process = process
        self._attempts = attempts
        self._store = store
        self._locks = locks
        self._lost: Counter[str | tuple[str, int]] = Counter()
        """In how many rounds in a row each orphan was seen."""
        self._every_s = every_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="toolmd-look", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self) -> None:
        """Finish the current round and stop."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        outage = Outage(logger, "runs can't be reclaimed now", "runs are reclaimed again")
        for count in itertools.count():
            try:
                self._process.wait_for(partial(self._round, count))
                outage.over()
            except UnreachableError as error:
                outage.met(error)
            except Exception as error:  # noqa: BLE001 - the next round may succeed
                outage.met(error, crash=True)
            if self._ended.wait(self._every_s):
                return

    async def _round(self, count: int) -> None:
        process = self._process
        await in_thread(self._locks.live)
        for name in await in_thread(self._locks.dead):
            await process.take_over(name)
            await in_thread(partial(self._locks.evict, name))
        for run_id, segment in await in_thread(self._store.due):
            await process.wake(run_id, segment)
        await self._put_back()
        if count % FORGET_EVERY == 0:
            before = self._attempts.clock() - KEEP
            await process.delete(list(await in_thread(lambda: self._store.forget(before))))

    async def _put_back(self) -> None:
        """Put orphans back into the queue, which no process executes or will execute."""
        orphans = await self._process.orphans()
        # A process that woke after its eviction and then died leaves such workflows.
        unknown = await in_thread(lambda: self._store.owners(VERSION) - self._locks.known())
        left = await in_thread(self._store.left)
        found: set[str | tuple[str, int]] = {*orphans, *unknown, *left}
        self._lost = Counter({one: self._lost[one] + 1 for one in found})
        for one in [one for one, times in self._lost.items() if times >= LOST_AFTER]:
            if isinstance(one, tuple):
                await self._begin_anew(*one)
            elif one in orphans:
                await self._process.hand_back(one)
                self._attempts.handed_back(one.rpartition(":")[0])
            else:
                await self._process.take_over(one)

    async def _begin_anew(self, run_id: str, segment: int) -> None:
        """Restart a run that no workflow executes."""
        process = self._process
        if not await process.exists(run_id, segment):
            await process.follow(run_id, segment, 0.0)
            return
        # The workflow is over for DBOS, but the run is not.
        if not await process.exists(run_id, segment + 1):
            await process.follow(run_id, segment + 1, 0.0)
        await self._attempts.hand_over(run_id, segment)
