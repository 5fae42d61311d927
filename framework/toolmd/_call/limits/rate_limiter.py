"""A tool's Rate: starts are spaced, and calls wait in order."""

import math
from bisect import bisect_left
from collections.abc import Awaitable, Callable
from typing import Protocol

from toolmd._call.denial import CallDenied, deny
from toolmd._call.limits.counter import CallCounter
from toolmd._call.limits.timing import Timing
from toolmd._types.call_spec import Rate

MAX_WAITING = 1000
"""The most calls of one tool that may wait in this process; more are denied."""
_SLACK = 1.02
"""Slack in seconds: a start is observed a moment after it was granted."""
_LATE = 0.01
"""How late a shared start may be reported, as a part of the rate's period: half of the slack.
A later start could share a window with the next ones."""
_NOTICED = 1.0
"""The seconds of a wait from which a caller is notified."""
_MOMENT = 1e-6
"""A start due within this time, in seconds, is due now: clocks round."""

WaitListener = Callable[[float], Awaitable[None]]
"""A function that receives the seconds that a call waits."""


class SharedRates(Protocol):
    """The last start of each tool, in any process."""

    async def ready(self, tool: str) -> None:
        """Open the store, which may take longer than a start. May raise CallDenied."""

    async def take(self, tool: str, apart: float) -> float:
        """Start now and return 0.0, or return the seconds until a start is due.

        `apart` is the spacing of starts, in seconds. Raises CallDenied where it is unknown.
        """


class RateLimiter:
    """The spacing of one tool's starts; safe for several threads and event loops.

    Spacing, not a bursting bucket: with `3/s` starts are 0.34 s apart, so that no window of a
    second, wherever it lies, holds more than three.
    """

    def __init__(
        self,
        name: str,
        rate: Rate,
        counter: CallCounter,
        timing: Timing,
        shared: SharedRates | None = None,
    ) -> None:
        """Keep the rate; `shared` are the rates of all processes, where the store is shared."""
        self._name = name
        self._apart = rate.per_s / rate.calls * _SLACK
        self._late = rate.per_s * _LATE
        self._counter = counter
        self._timing = timing
        self._shared = shared
        self._quickest = math.inf

    def check(self, longest: float) -> None:
        """Check whether a call could start in time. Raises CallDenied."""
        with self._counter.lock:
            self._check(longest)

    async def wait(self, longest: float, on_wait: WaitListener | None = None) -> None:
        """Wait at most `longest` seconds for a start, or deny at once if it would take longer.

        `on_wait` receives the seconds of a wait that a person would notice, once.

        Raises CallDenied.
        """
        counter, now = self._counter, self._timing.now
        with counter.lock:
            self._check(longest)
            ticket = counter.next_ticket
            counter.next_ticket += 1
            counter.tickets.append(ticket)
        until = now() + longest
        try:
            while wait := await self._try(ticket):
                if now() + wait > until:
                    raise self._too_often(wait)
                if on_wait is not None and wait > _NOTICED:
                    await on_wait(wait)
                    on_wait = None
                await self._timing.sleep(wait)
        finally:
            with counter.lock:
                counter.tickets.remove(ticket)

    def _check(self, longest: float) -> None:
        wait = self._due(len(self._counter.tickets)) - self._timing.now()
        if wait > longest or len(self._counter.tickets) >= MAX_WAITING:
            raise self._too_often(wait)

    async def _try(self, ticket: int) -> float:
        """Start, or return the seconds until the next try."""
        counter, now = self._counter, self._timing.now
        with counter.lock:
            rank = bisect_left(counter.tickets, ticket)
            # Earlier calls come first, unless they overslept.
            wait = self._due(rank) - now()
            if self._shared is not None:
                # They ask the shared rates first, and their start is not known yet.
                wait = max(wait, self._apart * rank)
            if wait > _MOMENT:
                return wait
            if self._shared is None:
                counter.last_start = now()
                return 0.0
        return await self._share(self._shared)

    async def _share(self, shared: SharedRates) -> float:
        """Start in the shared rates, or return the seconds until the next try."""
        await shared.ready(self._name)
        now = self._timing.now
        asked = now()
        wait = await shared.take(self._name, self._apart)
        with self._counter.lock:
            took = now() - asked
            self._quickest = min(self._quickest, took)
            # The last start was this one or another process's, by this process's clock.
            last = now() + wait - self._apart if wait else asked
            self._counter.last_start = max(self._counter.last_start, last)
            is_late = took - self._quickest > self._late
            return self._apart if is_late and not wait else wait

    def _due(self, rank: int) -> float:
        return self._counter.last_start + self._apart * (rank + 1)

    def _too_often(self, wait: float) -> CallDenied:
        ms = max(1, round(wait * 1000))
        message = f"{self._name} was called too often: try again in {ms} ms."
        return deny("rate_limited", message, retry_after_ms=ms)
