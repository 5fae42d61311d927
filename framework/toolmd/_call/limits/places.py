"""A tool's Max Concurrent: so many of its calls run at one time, the others wait in order."""

import asyncio
from collections.abc import Callable

from toolmd._call.limits.pace import MAX_WAITING
from toolmd._call.limits.tally import Tally
from toolmd._call.refusal import Refusal, refuse


class Places:
    """The places of one tool; safe for threads and event loops at one time."""

    def __init__(self, name: str, most: int, tally: Tally) -> None:
        self._name = name
        self._most = most
        self._tally = tally

    def check(self) -> None:
        """Raise a Refusal where nobody may wait any more."""
        if len(self._tally.wakers) >= MAX_WAITING:
            raise self._full()

    async def enter(self, longest: float) -> None:
        """Take a place, waiting so many seconds at most; raises a Refusal where none is free."""
        tally = self._tally
        with tally.lock:
            if tally.running < self._most:
                tally.running += 1
                return
            self.check()
            waiting = asyncio.get_running_loop().create_future()
            waker = _waker(waiting)
            tally.wakers.append(waker)
        try:
            async with asyncio.timeout(longest):
                await waiting
        except BaseException as error:
            with tally.lock:
                late = waker not in tally.wakers
                if not late:
                    tally.wakers.remove(waker)
            if late:
                # It was given a place in the same moment: somebody else may have it.
                self.leave()
            if isinstance(error, TimeoutError):
                raise self._full() from None
            raise

    def leave(self) -> None:
        """Give the place back, to the one who waits longest."""
        tally = self._tally
        with tally.lock:
            while tally.wakers and tally.running <= self._most:
                if tally.wakers.popleft()():
                    return
            tally.running -= 1

    def _full(self) -> Refusal:
        message = f"{self._most} calls of {self._name} are running: try later."
        return refuse("rate_limited", message)


def _waker(waiting: asyncio.Future[None]) -> Callable[[], bool]:
    loop = waiting.get_loop()

    def wake() -> bool:
        try:
            loop.call_soon_threadsafe(_settle, waiting)
        except RuntimeError:
            # Its loop was closed: nobody waits there.
            return False
        return True

    return wake


def _settle(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
