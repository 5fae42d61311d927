"""Run coroutines for sync callers, and blocking work for async callers."""

import threading
from collections.abc import Callable, Coroutine
from functools import update_wrapper
from operator import attrgetter
from typing import Any, Concatenate, ParamSpec, TypeVar

_T = TypeVar("_T")
_P = ParamSpec("_P")
_Self = TypeVar("_Self")


async def off_loop(work: Callable[_P, _T], *given: _P.args, **named: _P.kwargs) -> _T:
    """Run blocking `work` in the thread pool and return its result.

    Work that may never end belongs in `in_daemon_thread`.
    """
    import asyncio

    return await asyncio.to_thread(work, *given, **named)


def sync_of(
    method: Callable[Concatenate[_Self, _P], Coroutine[Any, Any, _T]], at: str = "_project"
) -> Callable[Concatenate[_Self, _P], _T]:
    """Return the sync version of an async method; the calling thread waits for the result.

    `at` is the attribute that has the project with its loop.
    """
    name, project = method.__name__, attrgetter(at)

    def waiting(self: Any, /, *given: _P.args, **named: _P.kwargs) -> _T:
        result: _T = project(self).loop.run(getattr(self, name)(*given, **named))
        return result

    update_wrapper(waiting, method)
    waiting.__name__ += "_sync"
    waiting.__qualname__ += "_sync"
    waiting.__doc__ = f"Same as `{name}`, for callers that can't await; the calling thread waits."
    return waiting


class BackgroundLoop:
    """The loop behind the sync methods; it starts with the first call and ends with `close`.

    One loop for all of them, since what a tool keeps open belongs to the loop it was opened in.
    """

    def __init__(self) -> None:
        self._loop: Any = None
        self._lock = threading.Lock()

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run the coroutine and return its result; the calling thread waits."""
        import asyncio

        loop = self._running()
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("a sync twin was called from a tool that it runs: await instead")
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return future.result()
        except BaseException:
            # Ctrl-C while waiting: what was started must not go on unseen.
            future.cancel()
            raise

    def _running(self) -> Any:
        import asyncio

        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._serve, args=(self._loop,), name="toolmd-sync", daemon=True
                )
                self._thread.start()
            return self._loop

    @staticmethod
    def _serve(loop: Any) -> None:
        import asyncio

        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            pending = asyncio.all_tasks(loop)
            for task in pending:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()

    def close(self) -> None:
        """End the loop and cancel what still runs in it."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()
