"""Wait for a data base that another process has locked: beside the event loop, never upon it."""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

WAIT_S = 10.0
"""How long a data base that is locked is waited for, in seconds."""
_FIRST_S = 0.001
_LONGEST_S = 0.05

T = TypeVar("T")


class LockRetry:
    """Tries what a lock hinders again and again, until it can be done or time is up.

    What is tried must not wait itself (a connection's `timeout` is 0.0), and must have done
    nothing where it finds the data base locked.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
        seconds: float = WAIT_S,
    ) -> None:
        """Wait for so many seconds at most; `now` gives seconds, `sleep` waits some on the loop."""
        self._now = now
        self._sleep = sleep
        self._seconds = seconds

    async def over(self, attempt: Callable[[], T]) -> tuple[T, bool]:
        """Give what the attempt gives, and whether it had to wait; the loop goes on meanwhile.

        Raises what the attempt raises, that the data base is locked only when time is up.
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
        """Give what the attempt gives, as `over` does."""
        return (await self.over(attempt))[0]


def _is_locked(error: sqlite3.OperationalError) -> bool:
    # The lower byte is the kind, the upper ones tell why.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
    }
