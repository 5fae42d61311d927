"""A tool's Rate: starts keep a distance, and calls wait for their turn in order."""

from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress

from toolmark._call.refusal import Refusal, refuse
from toolmark._call.tally import Tally
from toolmark._call.timing import Timing
from toolmark._model.tool import Rate

MAX_WAITING = 1000
"""Calls of one tool that may wait in this process; more are refused."""
_SLACK = 1.02
"""A start is seen a moment after it was granted; this keeps a window of one second true."""
_MOMENT = 1e-6
"""What is due so soon, in seconds, is due now: the rounding of a clock makes no wait."""

Take = Callable[[float], float]
"""Takes the turn that all processes share, given the distance in seconds; 0.0, or how long to
wait yet."""


class Pace:
    """The turns of one tool; safe for threads and event loops at one time.

    Spacing, not a bursting bucket: with `3/s` starts are 0.34 s apart, so that no window of a
    second, wherever it lies, holds more than three.
    """

    def __init__(
        self, name: str, rate: Rate, tally: Tally, timing: Timing, take: Take | None = None
    ) -> None:
        """`take` asks the other processes too, where the engine is shared."""
        self._name = name
        self._apart = rate.per_s / rate.calls * _SLACK
        self._tally = tally
        self._timing = timing
        self._take = take

    def check(self, longest: float) -> None:
        """Raise a Refusal where a call that came now would not get its turn in time."""
        with self._tally.lock:
            self._check(longest)

    async def turn(self, longest: float) -> None:
        """Wait for a turn, so many seconds at most; raises a Refusal where it would not come."""
        tally, now = self._tally, self._timing.now
        with tally.lock:
            self._check(longest)
            ticket = tally.next_ticket
            tally.next_ticket += 1
            tally.tickets.append(ticket)
        until = now() + longest
        try:
            while wait := self._try(ticket):
                if now() + wait > until:
                    raise self._too_often(wait)
                await self._timing.sleep(wait)
        finally:
            with tally.lock, suppress(ValueError):
                tally.tickets.remove(ticket)

    def _check(self, longest: float) -> None:
        wait = self._due(len(self._tally.tickets)) - self._timing.now()
        if wait > longest or len(self._tally.tickets) >= MAX_WAITING:
            raise self._too_often(wait)

    def _try(self, ticket: int) -> float:
        """Start, or give the seconds until it is worth trying again."""
        tally = self._tally
        with tally.lock:
            rank = bisect_left(tally.tickets, ticket)
            # Those before it come first, unless they slept too long.
            wait = self._due(rank) - self._timing.now()
            if wait <= _MOMENT and self._take is not None:
                wait = self._take(self._apart)
                # Another process started last, by the clock of this one.
                elsewhere = self._timing.now() + wait - self._apart
                tally.last_start = max(tally.last_start, elsewhere)
            if wait > _MOMENT:
                return wait
            tally.last_start = self._timing.now()
            tally.tickets.pop(rank)
            return 0.0

    def _due(self, rank: int) -> float:
        return self._tally.last_start + self._apart * (rank + 1)

    def _too_often(self, wait: float) -> Refusal:
        ms = max(1, round(wait * 1000))
        message = f"{self._name} was called too often: try again in {ms} ms."
        return refuse("rate_limited", message, retry_after_ms=ms)
