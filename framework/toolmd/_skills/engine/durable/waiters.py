"""The callers in this process that wait for runs."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from toolmd._skills.engine.durable.loop_bridge import LoopBridge
from toolmd._skills.engine.durable.rows import KeptRun
from toolmd._types.run import RunListener
from toolmd.errors import UnreachableError


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
    """The waiting callers by their runs; safe for threads."""

    def __init__(self, store_wait_s: float) -> None:
        """Fail the callers of a run that can't be recorded for `store_wait_s` seconds."""
        self._waiters: dict[str, list[RunWaiter]] = {}
        self._store_wait_s = store_wait_s
        self._unrecorded: dict[str, tuple[float, UnreachableError]] = {}
        """Since when which runs can't be recorded, by the monotonic clock, and why."""

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

    def runs(self) -> set[str]:
        """Return the runs that somebody waits for."""
        return set(self._waiters)

    def of(self, run_id: str) -> tuple[RunWaiter, ...]:
        """Return the callers that wait for a run, the latest last."""
        return tuple(self._waiters.get(run_id, ()))

    def come(self, row: KeptRun) -> None:
        """Return a run that may have stopped to its callers."""
        for waiter in self.of(row.id):
            waiter.come(row)

    def fail(self, error: Exception) -> None:
        """Raise an error in all callers."""
        for run_id in self.runs():
            for waiter in self.of(run_id):
                waiter.fail(error)

    def lose(self, run_id: str, error: UnreachableError) -> None:
        """Note that a run could not be recorded."""
        self._unrecorded.setdefault(run_id, (time.monotonic(), error))

    def recover(self, run_id: str) -> None:
        """Note that a run is recorded again."""
        self._unrecorded.pop(run_id, None)

    def check(self) -> None:
        """Fail the callers of runs that can't be recorded for too long."""
        for run_id, (since, error) in list(self._unrecorded.items()):
            if time.monotonic() - since > self._store_wait_s:
                message = f"{error}; the run resumes from its record when they can be reached"
                for waiter in self.of(run_id):
                    waiter.fail(UnreachableError(message))
