"""The clock and the waits of limits; a test passes its own, and nothing sleeps."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple


def _chance() -> float:
    # The import takes longer than opening twenty tools, and only retries need it.
    from random import random

    return random()  # noqa: S311 - no secret


class Timing(NamedTuple):
    """A clock, a way to wait, and random numbers."""

    now: Callable[[], float] = time.monotonic
    """Seconds that never go back."""
    epoch: Callable[[], float] = time.time
    """Seconds since the epoch, the same in all processes."""
    sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
    """Waits so many seconds."""
    chance: Callable[[], float] = _chance
    """A random number from 0 to 1, so that retries of many callers spread."""


MACHINE = Timing()
