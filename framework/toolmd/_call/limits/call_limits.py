"""The limits check: how often a tool may start, and how many calls may run at one time."""

import json
from collections.abc import Callable

from toolmd._call.denial import CallDenied, deny
from toolmd._call.limits.counter import CallCounter, CallerKey
from toolmd._call.limits.rate_limiter import RateLimiter, WaitListener
from toolmd._call.limits.semaphore import CallSemaphore
from toolmd._call.limits.shared_limits import Place, SharedLimits
from toolmd._call.limits.timing import Timing
from toolmd._types.call import Call
from toolmd._types.call_spec import DEFAULT_TIMEOUT_S, Limits, ToolCallSpec
from toolmd._types.result import Event, EventListener


class CallLimits:
    """The Rate, Max Calls and Max Concurrent of one tool."""

    def __init__(
        self,
        name: str,
        limits: Limits,
        counter: CallCounter,
        timing: Timing,
        shared: SharedLimits | None,
    ) -> None:
        """Count in `counter`, which outlives the snapshot; `shared` are all processes' limits."""
        self._name = name
        self._seconds = limits.timeout_s or DEFAULT_TIMEOUT_S
        self._max_calls = limits.max_calls
        self._counter = counter
        self._shared = shared
        self.timing = timing
        """The clock, which the tries of a call use too."""
        rate, most = limits.rate, limits.max_concurrent
        self._rate_limiter = (
            RateLimiter(name, rate, counter, timing, shared) if rate is not None else None
        )
        self._places = (
            CallSemaphore(name, most, counter, shared, timing) if most is not None else None
        )
        self.binds = bool(self._rate_limiter or self._places or self._max_calls is not None)
        """Whether there is any limit at all."""

    async def check(self, call: Call) -> None:
        """Check the limits without counting. Raises CallDenied where one is reached."""
        if self._max_calls is not None and await self._counted(_caller_of(call)) >= self._max_calls:
            raise self._too_many(self._max_calls)
        if self._places is not None:
            self._places.check()
        if self._rate_limiter is not None:
            self._rate_limiter.check(self._longest(call))

    async def start(self, call: Call, on_event: EventListener | None = None) -> Place | None:
        """Count a call, and wait for the semaphore and the rate. Raises CallDenied.

        Returns the call's place among all processes, for `end`, where they share the semaphore.
        The longest wait is the call's Timeout, or what its plan allows. A wait of more than a
        second is an event.
        """
        caller, longest = _caller_of(call), self._longest(call)
        if self._max_calls is not None and not await self._count(caller, self._max_calls):
            raise self._too_many(self._max_calls)
        try:
            place = await self._places.enter(longest) if self._places is not None else None
            try:
                await self.wait(longest, on_event and self._notice(call, on_event))
            except BaseException:
                self.end(place)
                raise
        except BaseException:
            if self._max_calls is not None:
                await self._uncount(caller)
            raise
        return place

    async def wait_again(self, call: Call) -> None:
        """Wait again for a call that missed its start. Raises CallDenied."""
        await self.wait(self._longest(call))

    async def wait(self, longest: float, on_wait: WaitListener | None = None) -> None:
        """Wait for one more start. Raises CallDenied where it would take longer."""
        if self._rate_limiter is not None:
            await self._rate_limiter.wait(longest, on_wait)

    def _notice(self, call: Call, on_event: EventListener) -> WaitListener:
        async def notice(seconds: float) -> None:
            text = f"{self._name} waits {seconds:.1f} s, because of its Rate"
            data = {"text": text, "fraction": None, "wait_s": round(seconds, 3)}
            waiting = on_event(Event("progress", self._name, call.id, data))
            if waiting is not None:
                await waiting

        return notice

    def end(self, place: Place | None = None) -> None:
        """Release the call's place in the semaphore."""
        if self._places is not None:
            self._places.leave(place)

    async def _counted(self, caller: CallerKey) -> int:
        if self._shared is not None:
            return await self._shared.counted(self._name, _key_of(caller))
        with self._counter.lock:
            return self._counter.made_by(caller)

    async def _count(self, caller: CallerKey, most: int) -> bool:
        if self._shared is not None:
            return await self._shared.count(self._name, _key_of(caller), most)
        with self._counter.lock:
            is_free = self._counter.made_by(caller) < most
            if is_free:
                self._counter.count(caller, 1)
            return is_free

    async def _uncount(self, caller: CallerKey) -> None:
        if self._shared is not None:
            await self._shared.uncount(self._name, _key_of(caller))
            return
        with self._counter.lock:
            self._counter.count(caller, -1)

    def _too_many(self, most: int) -> CallDenied:
        times = "once" if most == 1 else f"{most} times"
        message = f"{self._name} may be called {times} in a conversation, and was."
        return deny("budget_exhausted", message)

    def _longest(self, call: Call) -> float:
        planned = call.budget
        return self._seconds if planned is None else min(self._seconds, planned.timeout_ms / 1000)


def limits_of(
    shared: SharedLimits | None, counters: dict[str, CallCounter], timing: Timing
) -> Callable[[ToolCallSpec], CallLimits]:
    """Return a function that builds a tool's limits, with `counters` by tool name."""

    def limits(call_spec: ToolCallSpec) -> CallLimits:
        counter = counters.setdefault(call_spec.name, CallCounter())
        return CallLimits(call_spec.name, call_spec.limits, counter, timing, shared)

    return limits


def _caller_of(call: Call) -> CallerKey:
    return call.caller.user, call.caller.conversation


def _key_of(caller: CallerKey) -> str:
    return json.dumps(caller)
