"""Look every second after what nobody plays: what the dead left, what was answered, what is old."""

import datetime as dt
import itertools
import logging
import threading
from collections import Counter
from functools import partial

from toolmd._skills.engine.durable.heartbeat import Heartbeat
from toolmd._skills.engine.durable.liveness import Locks
from toolmd._skills.engine.durable.outage import Outage
from toolmd._skills.engine.durable.process import VERSION, Process
from toolmd._skills.engine.durable.segment import Segments, in_thread
from toolmd._skills.engine.durable.store import Store
from toolmd.errors import UnreachableError

KEEP = dt.timedelta(days=30)
"""How long a run that ended is kept."""
LOOK_S = 1.0
"""How long lies between two looks, in seconds."""
LOST_AFTER = 3
"""In how many looks in a row a thing that nobody plays is seen before it is put back."""
FORGET_EVERY = 3600
"""How many looks lie between two in which old runs are dropped."""

logger = logging.getLogger(__name__)


class Reclaimer:
    """A thread beside the one in which the runs of this process are played."""

    def __init__(
        self,
        process: Process,
        segments: Segments,
        store: Store,
        locks: Locks | Heartbeat,
        every_s: float = LOOK_S,
    ) -> None:
        """`locks` know which processes live; `every_s` lies between two looks."""
        self._process = process
        self._segments = segments
        self._store = store
        self._locks = locks
        self._lost: Counter[str | tuple[str, int]] = Counter()
        """How often in a row each thing was seen lost."""
        self._every_s = every_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="toolmd-look", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def end(self) -> None:
        """Finish the look that is under way."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        outage = Outage(logger, "the runs can't be looked after now", "the runs are looked after")
        for count in itertools.count():
            try:
                self._process.wait_for(partial(self._round, count))
                outage.over()
            except UnreachableError as error:
                outage.met(error)
            except Exception as error:  # noqa: BLE001 - the next look may succeed
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
            before = self._segments.clock() - KEEP
            await process.delete(list(await in_thread(lambda: self._store.forget(before))))

    async def _put_back(self) -> None:
        """Put back what stands as being played and is not, and what nobody will play."""
        strays = await self._process.strays()
        # Such is what a process took that woke after it was buried, and then died.
        unknown = await in_thread(lambda: self._store.owners(VERSION) - self._locks.known())
        left = await in_thread(self._store.left)
        found: set[str | tuple[str, int]] = {*strays, *unknown, *left}
        self._lost = Counter({one: self._lost[one] + 1 for one in found})
        for one in [one for one, times in self._lost.items() if times >= LOST_AFTER]:
            if isinstance(one, tuple):
                await self._begin_anew(*one)
            elif one in strays:
                await self._process.hand_back(one)
                self._segments.handed_back(one.rpartition(":")[0])
            else:
                await self._process.take_over(one)

    async def _begin_anew(self, run_id: str, segment: int) -> None:
        """Have a run played that no workflow plays any more, or yet."""
        process = self._process
        if not await process.exists(run_id, segment):
            await process.follow(run_id, segment, 0.0)
            return
        # It is over for DBOS, and the run is not.
        if not await process.exists(run_id, segment + 1):
            await process.follow(run_id, segment + 1, 0.0)
        await self._segments.hand_over(run_id, segment)
