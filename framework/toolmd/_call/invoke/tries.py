"""Retry after connection failures, a few times, with doubled waits."""

from collections.abc import Awaitable, Callable
from typing import Any

from toolmd._call.denial import CallDenied
from toolmd._call.invoke.offline import asked_wait, line_fault
from toolmd._call.limits import Timing
from toolmd._types.call_spec import ToolCallSpec

BACKOFF_S = 0.5
"""The wait in seconds before the first retry of a tool whose Limits name none."""

Start = Callable[[], Awaitable[Any]]


def retries_of(call_spec: ToolCallSpec) -> int:
    """Return how often a tool is tried again at most."""
    return (call_spec.limits.retries or 0) if call_spec.is_repeatable else 0


class Tries:
    """The tries of one call; all end before its deadline."""

    def __init__(self, call_spec: ToolCallSpec, timing: Timing, seconds: float) -> None:
        """Start the deadline of a call, in seconds."""
        self._most = retries_of(call_spec)
        backoff = call_spec.limits.backoff_s
        self._backoff = BACKOFF_S if backoff is None else backoff
        self._timing = timing
        self._until = timing.now() + seconds
        self.made = 1
        """How often the implementation started, batches not counted."""

    @property
    def left(self) -> float:
        """The seconds until the deadline."""
        return self._until - self._timing.now()

    async def of(self, start: Start, again: Start) -> Any:
        """Return what `start` returns; `again` prepares each further try.

        Raises what the last try raised.
        """
        for number in range(self._most + 1):
            try:
                return await start()
            except Exception as error:
                fault = line_fault(error)
                if number == self._most or fault is None:
                    raise
                wait = self._backoff * 2**number * (1 + self._timing.chance() / 4)
                wait = max(wait, asked_wait(fault))
                if wait >= self.left:
                    raise
                await self._timing.sleep(wait)
                try:
                    await again()
                except CallDenied:
                    # The limits allow no start before the deadline.
                    raise error from error.__cause__
                self.made += 1
        raise AssertionError("the last try gives or raises")
