"""Run blocking functions in a pool of threads, in order, with the caller's context variables."""

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from queue import Empty, SimpleQueue
from threading import Lock, Thread, current_thread, main_thread
from typing import Any, NamedTuple

from toolmd.errors import ForeignExitError

MAX_THREADS = 256
"""The most blocking functions at one time, including those past their deadline."""
IDLE_S = 30.0
"""How long an idle thread is kept, in seconds."""


_ENDING = (KeyboardInterrupt, SystemExit, GeneratorExit, BaseExceptionGroup)


class _Job(NamedTuple):
    """A function that waits for a thread, and the future of its caller."""

    function: Callable[[], Any]
    begin: Callable[[], None]
    context: Context
    done: "asyncio.Future[tuple[Any, BaseException | None]]"

    def run(self) -> tuple[Any, BaseException | None]:
        """Return the function's value or its exception; never raise."""
        try:
            return self.context.run(self.function), None
        except BaseException as raised:  # noqa: BLE001 - handed to the coroutine that waits
            return None, raised

    def settle(self, ended: tuple[Any, BaseException | None]) -> None:
        """Hand the outcome to the waiting coroutine."""
        # The loop may be closed: the call timed out, and nothing waits for it.
        with suppress(RuntimeError):
            self.done.get_loop().call_soon_threadsafe(self.done.set_result, ended)


def is_from_outside(error: BaseException) -> bool:
    """Return whether an error ends the running task from outside: a cancellation, or Ctrl-C.

    Foreign code may raise both itself; the user's Ctrl-C reaches the main thread only.
    """
    if isinstance(error, KeyboardInterrupt):
        return current_thread() is main_thread()
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


class Threads:
    """A pool of threads for blocking functions; functions without a free thread wait in order.

    They are daemon threads: a function that hangs must not keep the process alive.
    """

    def __init__(self, name: str, most: int = MAX_THREADS, idle_s: float = IDLE_S) -> None:
        self._name = name
        self._most = most
        self._idle_s = idle_s
        self.reset()

    def reset(self) -> None:
        """Start without threads, as the child of a fork must."""
        self._lock = Lock()
        # Ordered, since a plain dict needs ever longer to find its first key.
        self._waiting: OrderedDict[int, _Job] = OrderedDict()
        self._wakes: SimpleQueue[None] = SimpleQueue()
        """One item for each job that was put; it wakes a thread."""
        self._count = 0
        self._free = 0

    async def run(
        self, function: Callable[[], Any], begin: Callable[[], None] = lambda: None
    ) -> Any:
        """Return what the function returns.

        Cancelling removes a waiting function from the queue; a running one goes on. `begin` is
        called, under a lock, when the function can't be removed any more.

        Raises:
            ForeignExitError: the function raised what would end the program. It is no Ctrl-C:
                that reaches the main thread only.
            BaseException: what else the function raises.
        """
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        job = _Job(function, begin, copy_context(), done)
        self._put(job)
        try:
            # Shielded, since a cancelled future takes no result, and the thread will bring one.
            value, error = await asyncio.shield(done)
        except asyncio.CancelledError:
            with self._lock:
                self._waiting.pop(id(job), None)
            raise
        if isinstance(error, _ENDING) and not isinstance(error, Exception):
            raise ForeignExitError(f"it raised {type(error).__name__}") from error
        if error is not None:
            raise error
        return value

    def _put(self, job: _Job) -> None:
        with self._lock:
            self._waiting[id(job)] = job
            self._wakes.put(None)
            if len(self._waiting) <= self._free or self._count >= self._most:
                return
            try:
                Thread(target=self._work, name=self._name, daemon=True).start()
            except RuntimeError:
                # The system has no further thread: an existing one runs the function, if any.
                if not self._count:
                    del self._waiting[id(job)]
                    raise
                return
            self._count += 1
            self._free += 1

    def _work(self) -> None:
        while (job := self._next()) is not None:
            ended = job.run()
            with self._lock:
                self._free += 1
            job.settle(ended)
            # Its arguments must not stay alive until the next job.
            del job, ended

    def _next(self) -> _Job | None:
        """Return the job that has waited longest; None when this thread was idle too long."""
        while True:
            try:
                self._wakes.get(timeout=self._idle_s)
            except Empty:
                with self._lock:
                    if self._waiting:
                        continue  # It was put just now.
                    self._count -= 1
                    self._free -= 1
                    return None
            with self._lock:
                while self._waiting:
                    _, job = self._waiting.popitem(last=False)
                    # A closed loop waits for nothing.
                    if not job.done.get_loop().is_closed():
                        self._free -= 1
                        job.begin()
                        return job


CALLS = Threads("toolmd-call")
"""For the functions of tools and skills."""
AROUND = Threads("toolmd-around")
"""For guards, counters and questions, which a stuck tool must not block."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=CALLS.reset)
    os.register_at_fork(after_in_child=AROUND.reset)
