"""Blocking calls have so many places; beyond them a call is refused, and waits for nothing."""

import asyncio
import threading

from toolmark._call.threads import MAX_THREADS


def test_a_blocking_call_beyond_the_places_is_refused(harness, tool):
    free = threading.Event()
    world = harness(tool("wait", free.wait))

    async def main():
        waiting = [asyncio.create_task(world.door.call("wait", "{}")) for _ in range(MAX_THREADS)]
        await asyncio.sleep(0)
        refused = await world.door.call("wait", "{}")
        free.set()
        return refused, await asyncio.gather(*waiting)

    refused, done = asyncio.run(main())
    assert (refused.outcome, refused.error.code) == ("denied", "rate_limited")
    assert all(result.success for result in done)
    assert world.call("wait").success
