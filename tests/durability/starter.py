"""One process of several that start a limited tool as often as they may, and say when they did."""

import asyncio
import sys
import time
from pathlib import Path

from toolmd._call.limits.counter import CallCounter
from toolmd._call.limits.rate_limiter import RateLimiter
from toolmd._call.limits.shared_limits import SharedLimits
from toolmd._call.limits.timing import MACHINE
from toolmd._store.store import Store
from toolmd._types.call_spec import Rate


async def main(state: str, engine: str, calls: int, seconds: float) -> None:
    """Start as often as `calls` a second allow, and no later than so many seconds from now."""
    starts = SharedLimits(Store(engine, Path(state)))
    rate_limiter = RateLimiter("act", Rate(calls=calls, per_s=1), CallCounter(), MACHINE, starts)
    until = time.monotonic() + seconds

    async def one() -> None:
        while time.monotonic() < until:
            await rate_limiter.wait(60)
            print(time.monotonic(), flush=True)

    # Several at once in each process: they must wait for one another, too.
    await asyncio.gather(*(one() for _ in range(4)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
