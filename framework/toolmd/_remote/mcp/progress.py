"""Pass a server's reports of progress on to the caller of a call."""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from toolmd._types.context import Context

Report = Callable[[float, float | None, str | None], None]
"""Takes the progress, its total and a text."""

_MOST_WAITING = 100
"""The most reports that wait for the caller; older ones are left out."""
_MAX_TEXT = 500


class ProgressReports:
    """The reports of one call, in the order in which the server sent them."""

    def __init__(self, context: Context) -> None:
        """Pass reports on to a context, in the event loop that runs now."""
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[str, float | None]] = deque(maxlen=_MOST_WAITING)
        self._task: asyncio.Task[None] | None = None

    def add(self, progress: float, total: float | None, text: str | None) -> None:
        """Pass one report on, from any thread; what is no number is left out."""
        done, whole = _number(progress), _number(total)
        if done is None:
            return
        share = done / whole if whole and 0 <= done <= whole else None
        said = text or f"{done:g}{f' of {whole:g}' if whole else ''}"
        self._waiting.append((said[:_MAX_TEXT], share))
        if len(self._waiting) == 1:
            # Nobody waits where the caller's loop was closed.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._pass_on())

    async def _pass_on(self) -> None:
        while self._waiting:
            text, share = self._waiting.popleft()
            # A listener that fails does not end the call.
            with suppress(Exception):
                await self._context.progress(text, share)


def _number(value: float | None) -> float | None:
    """Return a finite number; None for what is none."""
    try:
        number = math.nan if value is None else float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
