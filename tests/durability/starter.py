"""One process of several that start a limited tool as often as they may, and say when they did."""

import asyncio
import sys
import time
from pathlib import Path

from toolmd._call.limits import MACHINE, CallLimits
from toolmd._store.store import Store
from toolmd._types.call_spec import Limits, Rate, ToolCallSpec
from toolmd._types.diagnostic import Source
from toolmd._types.schema import Schema


async def main(state: str, engine: str, calls: int, seconds: float) -> None:
    """Start as often as `calls` a second allow, and no later than so many seconds from now."""
    limits = Limits(rate=Rate(calls=calls, per_s=1))
    source = Source("act.tool.md", 1)
    tool = ToolCallSpec(name="act", source=source, returns=Schema(), limits=limits)
    rate_limiter = CallLimits(tool, Store(engine, Path(state)), MACHINE)
    until = time.monotonic() + seconds

    async def one() -> None:
        while time.monotonic() < until:
            await rate_limiter.wait(60)
            print(time.monotonic(), flush=True)

    # Several at once in each process: they must wait for one another, too.
    await asyncio.gather(*(one() for _ in range(4)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
