"""Run foreign functions: blocking ones in daemon threads, and coroutines next to the loop."""

import asyncio
import inspect
import os
from collections.abc import Callable, Coroutine, Generator, Iterable
from contextlib import suppress
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Lock, Thread, current_thread, main_thread
from types import coroutine
from typing import Any
from weakref import WeakKeyDictionary

from toolmd.errors import ForeignExitError

MAX_THREADS = 256
"""The most blocking functions at one time, including those past their deadline."""
IDLE_S = 5.0
"""How long a thread waits for more work, in seconds."""
_ENDING = (KeyboardInterrupt, SystemExit, GeneratorExit, BaseExceptionGroup)


def is_from_outside(error: BaseException) -> bool:
    """Return whether an error ends the running task from outside: a cancellation, or Ctrl-C.

    Foreign code may raise both itself; the user's Ctrl-C reaches the main thread only.
    """
    if isinstance(error, KeyboardInterrupt):
        return current_thread() is main_thread()
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, GeneratorExit)


async def first_answer(ask: Callable[[], Iterable[Any]]) -> Any:
    """Return the first answer of plugins that is not None; a thread asks, the loop awaits."""
    for answer in await AROUND.run(lambda: list(ask())):
        found = await answer if inspect.isawaitable(answer) else answer
        if found is not None:
            return found
    return None


@coroutine
def run_on(running: Coroutine[Any, Any, Any], waits_for: Any) -> Generator[Any, Any, Any]:
    """Run a coroutine that waits for something to its end; return its value."""
    try:
        while True:
            try:
                value = yield waits_for
            except GeneratorExit:
                running.close()
                raise
            except BaseException as error:  # noqa: BLE001 - it goes into the coroutine
                waits_for = running.throw(error)
            else:
                waits_for = running.send(value)
    except StopIteration as done:
        return done.value


class Threads:
    """A bounded number of blocking functions at a time in each event loop; the others wait.

    Each has a daemon thread for itself: one that hangs keeps neither the process alive nor a
    thread from others. asyncio's executor would wait for it when the process ends.
    """

    def __init__(self, name: str, most: int = MAX_THREADS, idle_s: float = IDLE_S) -> None:
        self._name = name
        self._most = most
        self._idle_s = idle_s
        self._places: WeakKeyDictionary[Any, asyncio.Semaphore] = WeakKeyDictionary()
        self._start_over()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._start_over)

    def _start_over(self) -> None:
        """Begin without threads; a forked process has none of its parent's."""
        self._lock, self._idle = Lock(), 0
        """How many threads wait for work."""
        self._next: SimpleQueue[Callable[[], None]] = SimpleQueue()

    async def run(
        self, function: Callable[[], Any], begin: Callable[[], None] = lambda: None
    ) -> Any:
        """Return the function's value; it sees the caller's context variables.

        A cancelled function that still waits never runs; a running one goes on. `begin` is called
        when it starts.

        Raises:
            ForeignExitError: the function raised an exception that would end the program.
            BaseException: whatever else the function raises.
        """
        loop = asyncio.get_running_loop()
        places = self._places.get(loop) or self._places.setdefault(
            loop, asyncio.Semaphore(self._most)
        )
        await places.acquire()
        done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
        context = copy_context()

        def work() -> None:
            value, error = None, None
            try:
                value = context.run(function)
            except BaseException as raised:  # noqa: BLE001 - handed to the coroutine that waits
                error = raised
            with suppress(RuntimeError):  # The loop was closed: nothing waits any more.
                loop.call_soon_threadsafe(done.set_result, (value, error))

        begin()
        try:
            self._hand_over(work)
        except BaseException:  # Such as that the system has no further thread.
            places.release()
            raise
        done.add_done_callback(lambda _: places.release())
        value, error = await asyncio.shield(done)  # A cancelled caller leaves it to the function.
        if isinstance(error, _ENDING) and not isinstance(error, Exception):
            raise ForeignExitError(f"it raised {type(error).__name__}") from error
        if error is not None:
            raise error
        return value

    def _hand_over(self, work: Callable[[], None]) -> None:
        """Hand work to a thread that waits for some, or to a new one."""
        with self._lock:
            if self._idle:
                self._idle -= 1
                self._next.put(work)
                return
        Thread(target=self._work, args=([work],), name=self._name, daemon=True).start()

    def _work(self, first: list[Callable[[], None]]) -> None:
        """Do the first work and what follows, until none comes for a while."""
        work = first.pop()
        while True:
            work()
            del work  # A thread that waits keeps nothing of it alive.
            with self._lock:
                self._idle += 1
            try:
                work = self._next.get(timeout=self._idle_s)
            except Empty:
                with self._lock:
                    if self._idle:
                        self._idle -= 1
                        return
                work = self._next.get()  # Handed over in this moment.


CALLS = Threads("toolmd-call")
"""For the functions of tools and skills."""
AROUND = Threads("toolmd-around")
"""For guards, limits and questions, which a stuck tool must not block."""
in_daemon_thread = Threads("toolmd-load", 1 << 16, idle_s=0.0).run
"""For what is rare and may never end, such as an import: nothing waits behind it."""
