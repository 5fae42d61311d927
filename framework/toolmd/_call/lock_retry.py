"""Retry on a database that another process has locked, without blocking the event loop."""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

WAIT_S = 10.0
"""How long a locked database is retried, in seconds."""
_FIRST_S = 0.001
_LONGEST_S = 0.05

T = TypeVar("T")


class LockRetry:
    """Retries an attempt that a lock prevents, until it succeeds or time is up.

    The attempt must not wait itself (a connection's `timeout` is 0.0), and must have no effect
    where the database is locked.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
        seconds: float = WAIT_S,
    ) -> None:
        """Retry for at most `seconds`; `now` returns seconds, `sleep` waits on the loop."""
        self._now = now
        self._sleep = sleep
        self._seconds = seconds

    async def over(self, attempt: Callable[[], T]) -> tuple[T, bool]:
        """Return the attempt's value, and whether it had to wait; the loop stays free.

        Raises what the attempt raises; that the database is locked only when time is up.
        """
        try:
            return attempt(), False
        except sqlite3.OperationalError as error:
            if not _is_locked(error):
                raise
        until, pause = self._now() + self._seconds, _FIRST_S
        while True:
            await self._sleep(pause)
            pause = min(pause * 2, _LONGEST_S)
            try:
                return attempt(), True
            except sqlite3.OperationalError as error:
                if not _is_locked(error) or self._now() >= until:
                    raise

    async def give(self, attempt: Callable[[], T]) -> T:
        """Return the attempt's value."""
        return (await self.over(attempt))[0]


def _is_locked(error: sqlite3.OperationalError) -> bool:
    # The lower byte is the kind, the upper bytes are the reason.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
    }
