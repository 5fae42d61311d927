"""Blocking calls have so many places; beyond them a call is refused, and waits for nothing."""

import asyncio
import threading

from toolmd._call.threads import MAX_THREADS


def test_a_blocking_call_beyond_the_places_is_refused(harness, tool):
    free = threading.Event()
    world = harness(tool("wait", free.wait))

    async def main():
        # Twice as many: a late call of another test may hold a place, or give it back meanwhile.
        calls = [world.door.call("wait", "{}") for _ in range(2 * MAX_THREADS)]
        made = [asyncio.create_task(call) for call in calls]
        await asyncio.sleep(0)
        refused = [task.result() for task in made if task.done()]
        waiting = [task for task in made if not task.done()]
        free.set()
        return refused, await asyncio.gather(*waiting)

    refused, done = asyncio.run(main())
    assert {(result.outcome, result.error.code) for result in refused} == {
        ("denied", "rate_limited")
    }
    assert 0 < len(done) <= MAX_THREADS
    assert all(result.success for result in done)
    assert world.call("wait").success
