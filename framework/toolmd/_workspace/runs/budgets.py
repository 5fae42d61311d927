"""Keep the run of a skill to the budget of the plan that called it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from toolmd._call.cut import Bounds, cut
from toolmd._types.call import Budget
from toolmd._types.result import Result

T = TypeVar("T")
LOOK_S = 0.2
"""The pause between requests to stop a late run, in seconds."""
_stopping: set[asyncio.Task[None]] = set()
"""Tasks that stop late runs; the event loop itself keeps no reference to them."""


class LateRunError(Exception):
    """The plan's time was over before the run ended."""


async def in_time(run: Awaitable[T], seconds: float, stop: Callable[[], Awaitable[object]]) -> T:
    """Return the value of a run that ends within `seconds`.

    Raises LateRunError for a late run, and stops it in the background, since its undo may be long.
    """
    running = asyncio.ensure_future(run)
    try:
        done, _ = await asyncio.wait({running}, timeout=max(seconds, 0.0))
    except asyncio.CancelledError:
        running.cancel()
        raise
    if done:
        return running.result()

    async def end() -> None:
        while not running.done():
            # It may not even have begun.
            with suppress(Exception):
                await stop()
            await asyncio.wait({running}, timeout=LOOK_S)
        running.exception()

    task = asyncio.ensure_future(end())
    _stopping.add(task)
    task.add_done_callback(_stopping.discard)
    raise LateRunError


def within(result: Result, budget: Budget) -> Result:
    """Return the result with as many rows and bytes as the plan allows."""
    found = cut(result.data, Bounds(budget.rows, budget.bytes))
    if not (found.rows or found.bytes):
        return result
    truncated = {"rows": found.rows, "bytes": found.bytes}
    notes = (*result.notes, *found.notes)
    return result._replace(data=found.value, truncated=truncated, notes=notes)
