"""Await an implementation under its deadline, which is armed only when it suspends."""

import asyncio
import types
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from typing import Any

DEFAULT_S = 30.0
"""The deadline in seconds of a tool whose Limits name none."""


class DeadlineError(Exception):
    """Time was up before the implementation had answered."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


async def within(coroutine: Coroutine[Any, Any, Any], seconds: float) -> Any:
    """Await a coroutine for so many seconds at most; raises DeadlineError.

    Arming a timer costs ten times a small call, so the coroutine first runs by hand up to its
    first suspension; most never come to one.
    """
    try:
        waiting = coroutine.send(None)
    except StopIteration as done:
        return done.value
    return await rest_of(coroutine, waiting, seconds)


async def rest_of(coroutine: Coroutine[Any, Any, Any], waiting: Any, seconds: float) -> Any:
    """Go on with a coroutine that has just suspended on `waiting`; raises DeadlineError."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await _resume(coroutine, waiting)
    except TimeoutError:
        if limit.expired():
            raise DeadlineError(seconds) from None
        raise


@types.coroutine
def _resume(coroutine: Coroutine[Any, Any, Any], waiting: Any) -> Generator[Any, Any, Any]:
    try:
        while True:
            try:
                sent = yield waiting
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as thrown:  # noqa: BLE001 - cancellation goes in where it waits
                waiting = coroutine.throw(thrown)
            else:
                waiting = coroutine.send(sent)
    except StopIteration as done:
        return done.value


async def last_of(items: AsyncIterator[Any], tell: Callable[[Any], Any]) -> Any:
    """Give the last item of a stream, having told each as it came."""
    last = None
    try:
        async for item in items:
            last = item
            await tell(item)
    finally:
        if (close := getattr(items, "aclose", None)) is not None:
            await close()
    return last
