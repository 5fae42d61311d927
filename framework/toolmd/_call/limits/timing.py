"""What limits measure and wait by; a test hands in its own, and nothing sleeps."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple


def _chance() -> float:
    # Its import takes longer than opening twenty tools; only who tries again asks for it.
    from random import random

    return random()  # noqa: S311 - no secret


class Timing(NamedTuple):
    """A clock, a way to wait, and chance."""

    now: Callable[[], float] = time.monotonic
    """Seconds that never go back."""
    epoch: Callable[[], float] = time.time
    """Seconds since the epoch, which processes have in common."""
    sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
    """Waits so many seconds."""
    chance: Callable[[], float] = _chance
    """A number from 0 to 1, by which tries of many callers drift apart."""


MACHINE = Timing()
