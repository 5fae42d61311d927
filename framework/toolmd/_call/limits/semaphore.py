"""A tool's Max Concurrent: that many calls run at one time, the others wait in order."""

import asyncio
from collections.abc import Callable

from toolmd._call.denial import CallDenied, deny
from toolmd._call.limits.counter import CallCounter
from toolmd._call.limits.rate_limiter import MAX_WAITING
from toolmd._call.limits.shared_limits import Place, SharedLimits
from toolmd._call.limits.timing import MACHINE, Timing

_FIRST_S = 0.005
_LONGEST_S = 0.1
"""The first and the longest pause between two tries for a shared place, in seconds."""


class CallSemaphore:
    """The semaphore of one tool; safe for several threads and event loops."""

    def __init__(
        self,
        name: str,
        most: int,
        counter: CallCounter,
        shared: SharedLimits | None = None,
        timing: Timing = MACHINE,
    ) -> None:
        """Count in `counter`; `shared` are the places of all processes, where a store has them."""
        self._name = name
        self._most = most
        self._counter = counter
        self._shared = shared
        self._timing = timing

    def check(self) -> None:
        """Check the queue. Raises CallDenied where it is full."""
        if len(self._counter.wakers) >= MAX_WAITING:
            raise self._full()

    async def enter(self, longest: float) -> Place | None:
        """Acquire a place within `longest` seconds. Raises CallDenied where none gets free.

        Returns the place among all processes, where they share them.
        """
        until = self._timing.now() + longest
        await self._enter_here(longest)
        if self._shared is None:
            return None
        try:
            return await self._enter_shared(self._shared, until)
        except BaseException:
            self._leave_here()
            raise

    async def _enter_shared(self, shared: SharedLimits, until: float) -> Place:
        pause = _FIRST_S
        while (place := await shared.enter(self._name, self._most)) is None:
            if self._timing.now() + pause > until:
                raise self._full()
            await self._timing.sleep(pause)
            pause = min(pause * 2, _LONGEST_S)
        return place

    async def _enter_here(self, longest: float) -> None:
        counter = self._counter
        with counter.lock:
            if counter.running < self._most:
                counter.running += 1
                return
            self.check()
            waiting = asyncio.get_running_loop().create_future()
            waker = _waker(waiting)
            counter.wakers.append(waker)
        try:
            async with asyncio.timeout(longest):
                await waiting
        except BaseException as error:
            with counter.lock:
                late = waker not in counter.wakers
                if not late:
                    counter.wakers.remove(waker)
            if late:
                # It got a place at the same moment: the next call may have it.
                self._leave_here()
            if isinstance(error, TimeoutError):
                raise self._full() from None
            raise

    def leave(self, place: Place | None = None) -> None:
        """Release the place to the call that waits longest."""
        if self._shared is not None and place is not None:
            self._shared.leave(place)
        self._leave_here()

    def _leave_here(self) -> None:
        counter = self._counter
        with counter.lock:
            while counter.wakers and counter.running <= self._most:
                if counter.wakers.popleft()():
                    return
            counter.running -= 1

    def _full(self) -> CallDenied:
        message = f"{self._most} calls of {self._name} are running: try later."
        return deny("rate_limited", message)


def _waker(waiting: asyncio.Future[None]) -> Callable[[], bool]:
    loop = waiting.get_loop()

    def wake() -> bool:
        try:
            loop.call_soon_threadsafe(_settle, waiting)
        except RuntimeError:
            # Its loop was closed, so the call does not wait any more.
            return False
        return True

    return wake


def _settle(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
