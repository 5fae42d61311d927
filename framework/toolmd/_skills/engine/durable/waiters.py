"""The callers in this process that wait for runs, which other processes end, park or cancel."""

import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from toolmd._skills.engine.durable.loop_bridge import LoopBridge
from toolmd._skills.engine.durable.reader import RunReader
from toolmd._skills.engine.durable.rows import KeptRun
from toolmd._types.run import RunListener
from toolmd.errors import UnreachableError

LOOK_S = 0.05
"""How often the cancelled runs are read while a run executes here, in seconds."""
EVERY = 4
"""How many such rounds pass between two reads of runs that execute elsewhere."""


@dataclass(slots=True, eq=False)
class RunWaiter:
    """A caller that waits until its run ends, or until attempt `after` or a later one stops."""

    run_id: str
    after: int
    bridge: LoopBridge
    watch: RunListener | None
    told: set[tuple[str, str, str]] = field(default_factory=set)
    _stopped: "Future[KeptRun]" = field(default_factory=Future)

    async def stopped(self) -> KeptRun:
        """Return the run when it stopped; raises what `fail` was called with."""
        return await asyncio.wrap_future(self._stopped)

    def wait_on(self, row: KeptRun) -> None:
        """Wait for the next stop of a parked run."""
        self.after, self._stopped = row.segment, Future()

    def come(self, row: KeptRun) -> None:
        """Return the run to the caller if it stopped."""
        parked = row.parked > 0 and row.segment > self.after
        stuck = row.stuck and row.segment >= self.after
        if row.result is not None or stuck or parked:
            with suppress(InvalidStateError):
                self._stopped.set_result(row)

    def fail(self, error: Exception) -> None:
        """Raise an error in the caller."""
        with suppress(InvalidStateError):
            self._stopped.set_exception(error)


class Waiters:
    """The waiting callers by their runs, with one thread that reads for all of them."""

    def __init__(
        self, reader: RunReader, here: Callable[[], set[str]], store_wait_s: float
    ) -> None:
        """Prepare it; `here` returns the runs that execute here.

        Callers get an error after `store_wait_s` seconds without reading or recording their run.
        """
        self._reader = reader
        self._here = here
        self._store_wait_s = store_wait_s
        self.cancelled: set[str] = set()
        """The runs of this process that were cancelled."""
        self._waiters: dict[str, list[RunWaiter]] = {}
        self._unrecorded: dict[str, tuple[float, UnreachableError]] = {}
        """Since when which runs can't be recorded, by the monotonic clock, and why."""
        self._read = time.monotonic()
        """When the database was last read."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._poll, name="toolmd-poll", daemon=True)

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if not self._thread.ident:
            self._read = time.monotonic()
            self._thread.start()

    def end(self, error: Exception) -> None:
        """Stop the thread, and raise an error in all callers."""
        self._ended.set()
        if self._thread.ident:
            self._thread.join()
        self._fail(error)

    @contextmanager
    def wait(self, run_id: str, after: int, watch: RunListener | None) -> Iterator[RunWaiter]:
        """Wait for a run in this loop."""
        waiter = RunWaiter(run_id, after, LoopBridge.here(), watch)
        self._waiters[run_id] = [*self._waiters.get(run_id, ()), waiter]
        try:
            yield waiter
        finally:
            left = [one for one in self._waiters[run_id] if one is not waiter]
            self._waiters[run_id] = left
            if not left:
                del self._waiters[run_id]
                self._unrecorded.pop(run_id, None)

    def of(self, run_id: str) -> tuple[RunWaiter, ...]:
        """Return the callers that wait for a run, the latest last."""
        return tuple(self._waiters.get(run_id, ()))

    def come(self, row: KeptRun) -> None:
        """Return a run that may have stopped to its callers."""
        for waiter in self.of(row.id):
            waiter.come(row)

    def lose(self, run_id: str, error: UnreachableError) -> None:
        """Note that a run could not be recorded."""
        self._unrecorded.setdefault(run_id, (time.monotonic(), error))

    def recover(self, run_id: str) -> None:
        """Note that a run is recorded again."""
        self._unrecorded.pop(run_id, None)

    def _fail(self, error: Exception) -> None:
        for waiter in [one for some in self._waiters.copy().values() for one in some]:
            waiter.fail(error)

    def _poll(self) -> None:
        for count in itertools.count():
            if self._ended.wait(LOOK_S):
                return
            try:
                self._round(elsewhere=count % EVERY == 0)
                self._read = time.monotonic()
            except UnreachableError as error:
                # The database may return soon, and the runs then continue by themselves.
                if time.monotonic() - self._read > self._store_wait_s:
                    self._fail(error)

    def _round(self, *, elsewhere: bool) -> None:
        if here := self._here():
            self.cancelled |= self._reader.cancelled() & here
        if not elsewhere:
            return
        for run_id, (since, error) in self._unrecorded.copy().items():
            if time.monotonic() - since > self._store_wait_s:
                message = f"{error}; the run resumes from its record when they can be reached"
                for waiter in self.of(run_id):
                    waiter.fail(UnreachableError(message))
        if ids := self._waiters.keys() - here:
            for row in self._reader.some(ids):
                self.come(row)
