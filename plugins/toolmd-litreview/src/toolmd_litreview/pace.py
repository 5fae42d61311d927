"""Space requests to stay within a server's rate limit."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from threading import Lock


class RateLimiter:
    """Starts requests one by one, at least some seconds apart."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Prepare the limiter; `clock` returns monotonic seconds."""
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0
        self._lock = Lock()

    async def wait(self, apart_s: float) -> None:
        """Wait until the next request may start."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + apart_s
        if start > now:
            await self._sleep(start - now)
