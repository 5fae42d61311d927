"""The limits that all processes share: asked in a thread, next to the event loop."""

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from toolmd._call.denial import CallDenied, guard_failed
from toolmd._call.limits.deadline import Deadlines
from toolmd._call.threads import AROUND
from toolmd._store import LEASE_S
from toolmd._store.store import Store
from toolmd.errors import logged

RENEW_S = 4.0
"""The pause between two renewals of places, in seconds: several fit into a place's time."""


HELD_S = LEASE_S - 2.0
"""How long a call may run without a renewal: it ends before another call may have its place."""
_DEADLINES = Deadlines()


class Place:
    """One call's place for as long as it is renewed; a request for one before it has a name."""

    def __init__(self) -> None:
        self.name = ""
        self.is_over = False
        """Whether the call was cancelled before it got its place."""
        self.asked = monotonic()
        """When the latest renewal was asked for."""
        self.wait = _DEADLINES.within(HELD_S)
        """Ends the call where its place could not be renewed."""

    @property
    def is_held(self) -> bool:
        """Return whether the place is still this call's."""
        return monotonic() < self.asked + HELD_S

    def renewed(self, asked: float) -> None:
        """Note a renewal that was asked for at this time, unless it came too late."""
        if self.is_held:
            self.wait.until += asked - self.asked
            self.asked = asked


class SharedLimits:
    """The shared limits of all tools; safe for several threads and event loops.

    Each method raises CallDenied where the store can't be used.
    """

    def __init__(self, store: Store) -> None:
        """Keep the store."""
        self._store = store
        self._opened = False
        self._lock = Lock()
        self._taken: set[Place] = set()
        self._left: set[str] = set()
        self._changed = Event()
        self._renews = False

    async def ready(self, tool: str) -> None:
        """Open the store, which may take longer than a start."""
        if not self._opened:
            await self._ask(tool, "rate", self._open)
            self._opened = True

    async def take(self, tool: str, apart: float) -> float:
        """Same as `LimitStore.take`."""
        wait: float = await self._ask(tool, "rate", lambda: self._store.limits.take(tool, apart))
        return wait

    async def counted(self, tool: str, who: str) -> int:
        """Same as `LimitStore.counted`."""
        calls: int = await self._ask(
            tool, "max calls", lambda: self._store.limits.counted(tool, who)
        )
        return calls

    async def count(self, tool: str, who: str, most: int) -> bool:
        """Same as `LimitStore.count`."""
        counted: bool = await self._ask(
            tool, "max calls", lambda: self._store.limits.count(tool, who, most)
        )
        return counted

    async def uncount(self, tool: str, who: str) -> None:
        """Same as `LimitStore.uncount`; a count that can't be taken back stays."""
        with suppress(CallDenied):
            await self._ask(tool, "max calls", lambda: self._store.limits.uncount(tool, who))

    async def enter(self, tool: str, most: int) -> Place | None:
        """Acquire one of `most` places; return None where all are taken."""
        place = Place()
        try:
            await self._ask(tool, "max concurrent", lambda: self._enter(tool, most, place))
        except BaseException:
            with self._lock:
                place.is_over = True
            if place.name:
                self.leave(place)
            raise
        return place if place.name else None

    def leave(self, place: Place) -> None:
        """Release a place soon, without waiting for it."""
        with self._lock:
            self._taken.discard(place)
            self._left.add(place.name)
        self._changed.set()

    def close(self) -> None:
        """Release the left places at once: the process may end."""
        with self._lock:
            left, self._left = self._left, set()
        if left:
            # A place that stays is free after a while.
            with suppress(Exception):
                self._store.limits.leave(left)

    async def _ask(self, tool: str, limit: str, question: Callable[[], Any]) -> Any:
        try:
            return await AROUND.run(question)
        except Exception as error:  # noqa: BLE001 - a process that can't count denies
            raise guard_failed(tool, limit, error) from None

    def _open(self) -> None:
        self._store.limits.open()

    def _enter(self, tool: str, most: int, place: Place) -> None:
        name = self._store.limits.enter(tool, most)
        if name is None:
            return
        with self._lock:
            if place.is_over:
                self._left.add(name)
                self._changed.set()
            else:
                self._taken.add(place)
                place.name = name
            if not self._renews:
                self._renews = True
                Thread(target=self._renew, name="toolmd-places", daemon=True).start()

    def _renew(self) -> None:
        """Renew the taken places and release the left ones, as long as there are any."""
        while True:
            self._changed.wait(RENEW_S)
            self._changed.clear()
            asked = monotonic()
            with self._lock:
                taken, left = set(self._taken), set(self._left)
                if not taken and not left:
                    self._renews = False
                    return
            try:
                if left:
                    self._store.limits.leave(left)
                    with self._lock:
                        self._left -= left
                if taken:
                    self._store.limits.renew(place.name for place in taken)
                    for place in taken:
                        place.renewed(asked)
            except Exception as error:  # noqa: BLE001 - it tries again; a place that stays denies
                if self._store.is_closed:
                    return
                logged(error, "the Max Concurrent places of running calls can't be renewed")
