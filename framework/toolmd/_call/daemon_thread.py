"""Run a blocking function, such as an import, without blocking the event loop."""

import asyncio
from collections.abc import Callable
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


async def in_daemon_thread(function: Callable[[], T]) -> T:
    """Return what the function returns, from a daemon thread; cancelling stops the waiting only.

    For functions that may never end, such as an import: no pool runs out of threads, and the
    process does not wait for them when it ends. The function may raise only an Exception.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[T | None, Exception | None]] = loop.create_future()

    def settle(answer: tuple[T | None, Exception | None]) -> None:
        if not done.done():
            done.set_result(answer)

    def work() -> None:
        answer: tuple[T | None, Exception | None]
        try:
            answer = function(), None
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            answer = None, error
        if not loop.is_closed():
            try:
                loop.call_soon_threadsafe(settle, answer)
            except RuntimeError:
                return  # The loop was closed meanwhile, so nothing waits for the result.

    Thread(target=work, name="toolmd-load", daemon=True).start()
    value, error = await done
    if error is not None:
        raise error
    return value  # type: ignore[return-value]
