"""Run a blocking function in a thread of its own, with the caller's context variables."""

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from threading import BoundedSemaphore, Thread
from typing import Any

from toolmd._call.refusal import refuse

MAX_THREADS = 256
"""Blocking calls at one time in this process, those that outlived their deadline included."""

_places = BoundedSemaphore(MAX_THREADS)


async def in_thread(function: Callable[[], Any]) -> Any:
    """Give what the function gives; cancelling stops the waiting, not the thread.

    Raises a Refusal when all 256 places are taken.
    """
    if not _places.acquire(blocking=False):
        raise refuse("rate_limited", f"{MAX_THREADS} blocking calls are running: try later")
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    context = copy_context()

    def work() -> None:
        value, error = None, None
        try:
            value = context.run(function)
        except BaseException as raised:  # noqa: BLE001 - handed to whoever waits
            error = raised
        _places.release()
        # The loop may be closed by now: the call timed out, and nobody waits.
        if not loop.is_closed():
            try:
                loop.call_soon_threadsafe(_settle, done, value, error)
            except RuntimeError:
                return

    # Daemon threads, not the loop's own pool: a call that hangs must not keep the process alive.
    Thread(target=work, name="toolmd-call", daemon=True).start()
    value, error = await done
    if error is not None:
        raise error
    return value


def _settle(done: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if not done.done():
        done.set_result((value, error))
