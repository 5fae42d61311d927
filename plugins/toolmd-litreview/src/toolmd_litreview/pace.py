"""Space requests, so that no second sees more of them than a server allows."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from threading import Lock


class RateLimiter:
    """Lets requests start one by one, at least so many seconds apart."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`clock` gives seconds that never go back."""
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0
        self._lock = Lock()

    async def wait(self, apart_s: float) -> None:
        """Return when the next request may start."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + apart_s
        if start > now:
            await self._sleep(start - now)
