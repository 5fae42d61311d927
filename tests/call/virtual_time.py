"""Time that passes only when everybody waits."""

import asyncio
import heapq
import itertools
import selectors
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from toolmd._call.limits import Timing


class VirtualTime:
    """A clock whose sleepers wake in order, each as late as `late` says, in seconds."""

    def __init__(self, late=lambda: 0.0):
        self.moment = 1000.0
        self.slept = []
        self._late = late
        self._sleepers = []
        self._number = itertools.count()
        self.timing = Timing(self.now, lambda: self.moment + 1e9, self.sleep, lambda: 0.5)

    def now(self):
        return self.moment

    async def sleep(self, seconds):
        self.slept.append(seconds)
        wakes = asyncio.get_running_loop().create_future()
        at = self.moment + seconds + self._late()
        heapq.heappush(self._sleepers, (at, next(self._number), wakes))
        await wakes

    @asynccontextmanager
    async def passing(self):
        """Let time pass whenever nothing else can happen."""
        turner = asyncio.create_task(self._turn())
        try:
            yield self
        finally:
            turner.cancel()

    async def _turn(self):
        while True:
            # Whoever can go on does so first, also in the one thread.
            for _ in range(4):
                await asyncio.to_thread(int)
            if self._sleepers:
                at, _, wakes = heapq.heappop(self._sleepers)
                self.moment = max(self.moment, at)
                if not wakes.done():
                    wakes.set_result(None)
            else:
                await asyncio.sleep(0.0001)


def most_in_a_window(starts, seconds):
    """Give the most starts that any window of so many seconds holds, its ends included."""
    starts = sorted(starts)
    return max(sum(a <= b <= a + seconds for b in starts) for a in starts)


def run(world, work):
    """Run `work(world)` while time passes; fail rather than wait for ever."""

    async def main():
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        async with asyncio.timeout(60), world.passing():
            return await work()

    return asyncio.run(main())


class LeapingLoop(asyncio.SelectorEventLoop):
    """An event loop that leaps to its next timer instead of waiting for it."""

    def __init__(self):
        self.moment = 0.0
        super().__init__(_Leaping(self))

    def time(self):
        return self.moment


class _Leaping(selectors.DefaultSelector):
    def __init__(self, loop):
        super().__init__()
        self._loop = loop

    def select(self, timeout=None):
        # Where no timer is set, only another thread could end the wait.
        found = super().select(5 if timeout is None else 0)
        assert found or timeout is not None, "everybody waits, for nothing"
        if not found:
            self._loop.moment += timeout
        return found


def leap(work):
    """Run a coroutine in time that leaps; give what it gives, and the seconds that passed."""
    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        return runner.run(work), runner.get_loop().time()
