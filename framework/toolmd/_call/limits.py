"""The limits of a tool: its Rate, Max Concurrent and quotas, counted in the store."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from toolmd._call.denial import CallDenied, deny, guard_failed
from toolmd._call.quotas import Quotas
from toolmd._call.threads import AROUND
from toolmd._store import LEASE_S
from toolmd._store.store import Store
from toolmd._types.call import Call
from toolmd._types.call_spec import DEFAULT_TIMEOUT_S, ToolCallSpec
from toolmd._types.result import Event, EventListener, Result
from toolmd.errors import logged

MAX_WAITING = 1000
"""The most calls of one tool that may wait in this process; more are denied."""
SLACK = 1.02
"""Starts are so much farther apart than the Rate says: one is observed after it was granted."""
LATE = 0.01
"""How late an answer of the store may come, as a part of the Rate's period, to still be a start."""
NOTICED_S = 1.0
"""The wait from which a caller is notified."""
MOMENT = 1e-6
"""A start due within this time, in seconds, is due now: clocks round."""
FIRST_S, LONGEST_S = 0.005, 0.1
"""The first and the longest pause between two tries for a place."""
RENEW_S, HELD_S = 4.0, LEASE_S - 2.0
"""How often a place is renewed, and how long a call runs without: it ends before others begin."""


def _chance() -> float:
    # The import takes longer than opening twenty tools, and only retries need it.
    from random import random

    return random()  # noqa: S311 - no secret


class Timing(NamedTuple):
    """A clock, a way to wait, and random numbers; a test passes its own, and nothing sleeps."""

    now: Callable[[], float] = time.monotonic
    """Seconds that never go back."""
    epoch: Callable[[], float] = time.time
    """Seconds since the epoch, the same in all processes."""
    sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
    """Waits so many seconds."""
    chance: Callable[[], float] = _chance
    """A random number from 0 to 1, so that retries of many callers spread."""


MACHINE = Timing()


class PlaceLostError(Exception):
    """The place of a running call could not be renewed."""


class Place:
    """The place of a running call."""

    def __init__(self, name: str | None) -> None:
        """Keep its name under Max Concurrent; None for a tool without."""
        self.name = name
        self.had_effect = True
        """Whether the call may have had an effect; without, its quotas are given back."""


class CallLimits:
    """The limits of one tool; the calls of this process wait in order."""

    def __init__(
        self,
        call_spec: ToolCallSpec,
        store: Store,
        timing: Timing = MACHINE,
        *,
        zone: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Count in the store; `timing` serves the waits, `clock` and `zone` the quotas.

        Raises ExpressionError: the tool can't be called then.
        """
        self._name = call_spec.name
        self._limits = limits = call_spec.limits
        self.quotas = Quotas(call_spec, store, zone, clock, self._ask)
        self._store = store
        self._seconds = limits.timeout_s or DEFAULT_TIMEOUT_S
        rate = limits.rate
        self._apart = rate.per_s / rate.calls * SLACK if rate is not None else 0.0
        self._late = rate.per_s * LATE if rate is not None else 0.0
        self._quickest = math.inf
        """The shortest time that the store took to answer, in seconds."""
        self._last = -math.inf
        """The last start, of any process, as far as this one knows; by the clock of `timing`."""
        self._waiting = 0
        self._turns: WeakKeyDictionary[Any, asyncio.Lock] = WeakKeyDictionary()
        self.timing = timing
        """The clock, which the tries of a call use too."""
        self.binds = (limits.rate, limits.max_concurrent, limits.quotas) != (None, None, ())
        """Whether there is any limit at all."""

    async def check(self, call: Call, arguments: Mapping[str, Any]) -> None:
        """Check the limits without counting. Raises CallDenied where one is reached."""
        if self.quotas or call.counts:
            await self.quotas.look(call, arguments)
        self.check_queue(self._longest(call))

    @asynccontextmanager
    async def place(
        self,
        call: Call,
        arguments: Mapping[str, Any],
        on_event: EventListener | None = None,
    ) -> AsyncIterator[Place]:
        """Count a call, wait for its place and its start, and release the place in the end.

        Raises CallDenied where it would wait longer than its Timeout, or than its plan allows.
        """
        limits, place, longest = self._limits, None, self._longest(call)
        # A call that its server's question interrupted was counted when it began.
        counts = (self.quotas or call.counts) and call.asked is None
        claims = await self.quotas.claim(call, arguments) if counts else ()
        try:
            notify = on_event and partial(_notify, self._name, call, on_event)
            wait = self.check_queue(longest)
            if notify is not None and wait > NOTICED_S:
                await notify(wait)
                notify = None
            async with self._turn(longest):
                if limits.max_concurrent is not None:
                    place = await self._enter(limits.max_concurrent, longest)
                await self._start(longest, notify)
        except BaseException:
            with suppress(CallDenied):
                await self._leave(place)
            if claims:
                with suppress(CallDenied):  # A count that can't be taken back stays.
                    await self.quotas.give_back(call, claims)
            raise
        running = Place(place)
        try:
            yield running
        finally:
            if claims and not running.had_effect:
                with suppress(CallDenied):
                    await self.quotas.give_back(call, claims)
            try:
                await self._leave(place)
            except Exception as error:  # noqa: BLE001 - the call has run: too late to deny it
                logged(error, "the place of a call of %s stays for a while", self._name)

    async def wait(self, longest: float) -> None:
        """Wait for one more start. Raises CallDenied where it would take longer."""
        if self._limits.rate is not None:
            async with self._turn(longest):
                await self._start(longest)

    async def wait_again(self, call: Call) -> None:
        """Wait again for a call that missed its start. Raises CallDenied."""
        await self.wait(self._longest(call))

    async def hold(
        self,
        place: str,
        running: Coroutine[Any, Any, Result],
        *,
        renew_s: float = RENEW_S,
        held_s: float = HELD_S,
    ) -> Result:
        """Return the result of a call, renewing its place. Raises PlaceLostError without it."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(renew_s)
                asked = loop.time()
                with suppress(CallDenied):  # Tried again, until it is too late.
                    await self._ask("max concurrent", lambda: self._store.limits.renew(place))
                    until.reschedule(asked + held_s)

        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(held_s) as until:
                renewing = asyncio.create_task(renew())
                try:
                    return await running
                finally:
                    renewing.cancel()
        except TimeoutError:
            raise PlaceLostError from None

    def check_queue(self, longest: float) -> float:
        """Return the wait behind the calls of this process. Raises CallDenied if it is too long."""
        wait = self._last + self._apart * (self._waiting + 1) - self.timing.now()
        if self._waiting >= MAX_WAITING or wait > longest:
            raise self._rate_denial(wait)
        return wait

    @asynccontextmanager
    async def _turn(self, longest: float) -> AsyncIterator[None]:
        """Wait behind the earlier calls of this process."""
        self.check_queue(longest)
        turn = self._turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        self._waiting += 1
        try:
            try:
                async with asyncio.timeout(longest):
                    await turn.acquire()
            except TimeoutError:
                raise self._turn_denial() from None
            try:
                yield
            finally:
                turn.release()
        finally:
            self._waiting -= 1

    async def _start(
        self, longest: float, notify: Callable[[float], Awaitable[None]] | None = None
    ) -> None:
        """Wait until the tool may start; `notify` is called once with a wait that is noticed."""
        if self._limits.rate is None:
            return
        now, sleep, take = self.timing.now, self.timing.sleep, self._store.limits.take
        until = now() + longest
        while True:
            asked = now()
            wait = self._last + self._apart - asked
            if wait <= MOMENT:
                wait = await self._ask("rate", lambda: take(self._name, self._apart))
                took = now() - asked
                self._quickest = min(self._quickest, took)
                self._last = max(self._last, now() + wait - self._apart if wait else asked)
                if not wait and took - self._quickest <= self._late:
                    return
                wait = wait or self._apart  # A start that was granted too late is dropped.
            if now() + wait > until:
                raise self._rate_denial(wait)
            if notify is not None and wait > NOTICED_S:
                await notify(wait)
                notify = None
            await sleep(wait)

    async def _enter(self, most: int, longest: float) -> str:
        until, pause, enter = self.timing.now() + longest, FIRST_S, self._store.limits.enter

        async def try_once() -> str | None:
            entering = asyncio.ensure_future(
                self._ask("max concurrent", lambda: enter(self._name, most))
            )
            try:
                return await asyncio.shield(entering)
            except asyncio.CancelledError:  # The thread goes on, and may get a place.
                await self._leave(await entering)
                raise

        while (place := await try_once()) is None:
            if self.timing.now() + pause > until:
                raise self._places_denial(most)
            await self.timing.sleep(pause)
            pause = min(pause * 2, LONGEST_S)
        return place

    async def _leave(self, place: str | None) -> None:
        if place is not None:
            await self._ask("max concurrent", lambda: self._store.limits.leave(place))

    async def _ask(self, limit: str, question: Callable[[], Any]) -> Any:
        """Ask the store: next to the event loop, unless it is this process's memory."""
        try:
            return await AROUND.run(question) if self._store.is_shared else question()
        except Exception as error:  # noqa: BLE001 - a process that can't count denies
            raise guard_failed(self._name, limit, error) from None

    def _longest(self, call: Call) -> float:
        planned = call.budget
        return self._seconds if planned is None else min(self._seconds, planned.timeout_ms / 1000)

    def _rate_denial(self, wait: float) -> CallDenied:
        ms = max(1, round(wait * 1000))
        message = f"{self._name} was called too often: try again in {ms} ms."
        return deny("rate_limited", message, retry_after_ms=ms)

    def _places_denial(self, most: int) -> CallDenied:
        return deny("rate_limited", f"{most} calls of {self._name} are running: try later.")

    def _turn_denial(self) -> CallDenied:
        most = self._limits.max_concurrent
        return self._rate_denial(self._apart) if most is None else self._places_denial(most)


async def _notify(name: str, call: Call, on_event: EventListener, wait: float) -> None:
    data = {"text": f"{name} waits {wait:.1f} s, because of its Rate", "fraction": None,
            "wait_s": round(wait, 3)}  # fmt: skip
    if (waiting := on_event(Event("progress", name, call.id, data))) is not None:
        await waiting
