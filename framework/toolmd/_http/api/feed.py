"""Store the latest events of a workspace; each client reads them at its own speed."""

import asyncio
import secrets
import threading
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

KEPT = 1000
"""The number of events that a client may fall behind, or miss while it is away."""
FOR_ALL = "*"
"""The owner of events for every user."""


class StreamedEvent(NamedTuple):
    """An event, with its number and owner."""

    number: int
    kind: str
    data: dict[str, Any]
    whose: str | None
    """A user, FOR_ALL, or None for the operator only."""


class Feed:
    """A ring of the latest events: a slow client falls behind, and delays no other."""

    def __init__(self) -> None:
        self._start = secrets.token_hex(4)
        self._ring: deque[StreamedEvent] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._number = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news: asyncio.Event | None = None
        """Set by the next event; None while no client waits."""
        self._closed = False

    def serve_here(self) -> None:
        """Store the running loop as the one that serves."""
        self._loop = asyncio.get_running_loop()

    def publish(self, kind: str, data: dict[str, Any], whose: str | None = FOR_ALL) -> None:
        """Publish an event to its owner's clients; any thread may call this."""
        with self._lock:
            self._number += 1
            self._ring.append(StreamedEvent(self._number, kind, data, whose))
        self._wake()

    def close(self) -> None:
        """End every stream."""
        self._closed = True
        self._wake()

    @property
    def latest(self) -> str:
        """The id of the latest event."""
        return self.id_of(self._number)

    def id_of(self, number: int) -> str:
        """Return the id of an event; it contains a random part that identifies this process."""
        return f"{self._start}-{number}"

    async def follow(self, last_id: str, user: str | None) -> AsyncIterator[StreamedEvent]:
        """Return the events since `last_id` and all that follow, of one user or of all.

        If `last_id` is unknown or too old, the first event is `resync`: read everything again.
        """
        last = self._place(last_id)
        while True:
            # Before a look at the events: a later one wakes it.
            news = self._news = self._news or asyncio.Event()
            if self._closed:
                return
            events, lost = self._since(last)
            if lost:
                yield StreamedEvent(
                    events[0].number - 1 if events else self._number, "resync", {}, FOR_ALL
                )
            for event in events:
                if user is None or event.whose in {FOR_ALL, user}:
                    yield event
                last = event.number
            if lost and not events:
                last = self._number
            if not events:
                await news.wait()

    def _place(self, last_id: str) -> int:
        """Return the number of the last event that a client received; -1 if it is unknown."""
        start, _, number = last_id.partition("-")
        known = start == self._start and number.isascii() and number.isdigit() and len(number) < 16  # noqa: PLR2004
        return int(number) if known and int(number) <= self._number else -1

    def _since(self, last: int) -> tuple[list[StreamedEvent], bool]:
        with self._lock:
            lost = last < 0 or (bool(self._ring) and self._ring[0].number > last + 1)
            return [event for event in self._ring if event.number > last], lost

    def _wake(self) -> None:
        loop = self._loop
        if self._news is not None and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._ring_the_bell)

    def _ring_the_bell(self) -> None:
        news, self._news = self._news, None
        if news is not None:
            news.set()
