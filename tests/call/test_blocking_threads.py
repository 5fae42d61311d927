"""Blocking calls run in kept threads; beyond their number, calls wait in order."""

import asyncio
import os
import sys
import threading
import weakref

import pytest
from tests import warm_python

from toolmd._call.threads import CALLS, MAX_THREADS, Threads
from toolmd._types.call_spec import Limits


class Authentication:
    """A blocking function that counts its calls and waits until it is opened."""

    def __init__(self):
        self.opened = threading.Event()
        self.began = threading.Semaphore(0)
        self.order = []

    def __call__(self, number=0):
        self.order.append(number)
        self.began.release()
        self.opened.wait(20)
        return number

    def wait_for(self, calls):
        for _ in range(calls):
            assert self.began.acquire(timeout=20)


@pytest.fixture
def blocker():
    made = Authentication()
    yield made
    made.opened.set()


def test_functions_beyond_the_threads_run_in_order(blocker):
    threads = Threads("few", most=2)

    async def main():
        made = [asyncio.create_task(threads.run(lambda n=n: blocker(n))) for n in range(20)]
        await asyncio.sleep(0)
        blocker.wait_for(2)
        assert sorted(blocker.order) == [0, 1]
        blocker.opened.set()
        return await asyncio.gather(*made)

    assert asyncio.run(main()) == list(range(20))
    # Two threads take them in order; who of the two is ahead is theirs.
    assert all(abs(number - place) <= 1 for place, number in enumerate(blocker.order))


def test_a_cancelled_function_that_still_waits_never_runs(blocker):
    threads = Threads("one", most=1)
    ran = []

    async def main():
        first = asyncio.create_task(threads.run(blocker))
        second = asyncio.create_task(threads.run(lambda: ran.append("second")))
        third = asyncio.create_task(threads.run(lambda: ran.append("third")))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        blocker.opened.set()
        await asyncio.gather(first, third)

    asyncio.run(main())
    assert ran == ["third"]


def test_a_call_that_times_out_in_the_queue_never_runs(harness, tool, blocker):
    ran = []
    world = harness(
        tool("hold", blocker),
        tool("pay", lambda: ran.append("paid"), mode="sync", limits=Limits(timeout_s=0.3)),
    )

    async def main():
        held = [
            asyncio.create_task(world.dispatcher.call("hold", "{}")) for _ in range(MAX_THREADS)
        ]
        await asyncio.sleep(0)
        # A late call of another test may hold a place, which only adds to the queue.
        late = await world.dispatcher.call("pay", "{}")
        blocker.opened.set()
        await asyncio.gather(*held)
        return late

    late = asyncio.run(main())
    assert (late.outcome, late.error.code, late.attempts) == ("failed", "timeout", 0)
    assert "never ran" in late.error.message
    assert ran == []
    assert world.call("pay").success


def test_stuck_functions_block_only_their_own_calls_and_release_their_threads_later(
    harness, tool, blocker
):
    stuck = tool("stuck", blocker, limits=Limits(timeout_s=0.05))
    world = harness(stuck, tool("quick", lambda: "done", mode="sync"))

    async def main():
        calls = (world.dispatcher.call("stuck", "{}") for _ in range(MAX_THREADS))
        late = await asyncio.gather(*calls)
        waits = asyncio.create_task(world.dispatcher.call("quick", "{}"))
        await asyncio.sleep(0)
        blocker.opened.set()
        return late, await waits

    late, quick = asyncio.run(main())
    assert {result.error.code for result in late} <= {"outcome_unknown", "timeout"}
    assert quick.data == "done"


def test_a_guard_does_not_wait_behind_the_functions_of_tools(harness, tool, blocker):
    from toolmd._call.threads import AROUND

    async def main():
        held = [asyncio.create_task(CALLS.run(blocker)) for _ in range(MAX_THREADS)]
        await asyncio.sleep(0)
        asked = await AROUND.run(lambda: "asked")
        blocker.opened.set()
        await asyncio.gather(*held)
        return asked

    assert asyncio.run(main()) == "asked"


HANGS = """
import asyncio, threading
from toolmd._call.threads import Threads
threads = Threads("hang", most=1)
async def main():
    hung = asyncio.create_task(threads.run(threading.Event().wait))
    queued = asyncio.create_task(threads.run(lambda: print("ran")))
    await asyncio.sleep(0)
asyncio.run(main())
print("ended")
"""
FORKS = """
import asyncio, os, sys
from toolmd._call.threads import CALLS
asyncio.run(CALLS.run(lambda: None))
child = os.fork()
if not child:
    asyncio.run(CALLS.run(lambda: os.write(1, b"child ran\\n")))
    os._exit(0)
sys.exit(os.waitpid(child, 0)[1])
"""


def printed(script):
    done = warm_python.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def test_a_function_that_hangs_does_not_keep_the_process_alive():
    assert printed(HANGS) == "ended\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_the_child_of_a_fork_has_threads_of_its_own():
    assert printed(FORKS) == "child ran\n"


def test_a_thread_that_is_free_takes_the_next_function_and_keeps_nothing_of_the_last():
    threads = Threads("kept", idle_s=2.0)
    one = Authentication()
    kept = weakref.ref(one)

    async def main(one):
        await threads.run(lambda: one.order)
        await asyncio.sleep(0.1)  # Until the thread waits again.
        return await threads.run(threading.current_thread)

    thread = asyncio.run(main(one))
    assert asyncio.run(main(one)) is thread
    del one
    assert kept() is None
    thread.join(20)
    assert asyncio.run(main(Authentication())) is not thread


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_threads_of_its_own():
    threads = Threads("forked")
    assert asyncio.run(threads.run(lambda: 1)) == 1
    if not (child := os.fork()):
        os._exit(asyncio.run(threads.run(lambda: 7)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
