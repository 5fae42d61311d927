"""Limit the connections of a server; a new one closes the one that has waited longest."""

from typing import Protocol

from toolmd._auth.warnings import Warnings

FULL = (
    "%d connections are open, the most that this server allows (serve.max_connections, and half of"
    " ulimit -n); each new one closes the one that has waited longest for its client"
)


class WaitingConnection(Protocol):
    """A connection that waits for its client."""

    @property
    def known(self) -> bool:
        """Whether a request on it had a valid token."""

    @property
    def between(self) -> bool:
        """Whether the app has no request of it."""

    def give_up(self) -> None:
        """Close the connection."""


class Capacity:
    """The open connections, and those of them that wait for their client."""

    def __init__(self, wanted: int) -> None:
        """Allow `wanted` connections, but at most half of the file descriptors."""
        half = half_of_the_descriptors()
        self.limit = wanted if half is None else min(wanted, half)
        self._open: set[object] = set()
        self._waiting: dict[WaitingConnection, None] = {}
        """Ordered by the time at which they began to wait."""
        self._warnings = Warnings()

    @property
    def full(self) -> bool:
        """Whether the limit is reached."""
        return len(self._open) >= self.limit

    def admit(self, connection: object) -> bool:
        """Count a new connection; return False if the limit is reached and none can be closed."""
        if self.full:
            self._warnings.warn(FULL, self.limit)
            if not self.close_one():
                return False
        self._open.add(connection)
        return True

    def close_one(self) -> bool:
        """Close the connection that has waited longest, one without a valid token first.

        A request of a known client is never cut off.

        Returns:
            Whether a connection was closed.
        """
        chosen = next((one for one in self._waiting if not one.known), None)
        if chosen is None:
            chosen = next((one for one in self._waiting if one.between), None)
        if chosen is None:
            return False
        self.remove(chosen)
        chosen.give_up()
        return True

    def wait(self, connection: WaitingConnection) -> None:
        """Record that a connection waits for its client."""
        self._waiting.pop(connection, None)
        if connection in self._open:
            self._waiting[connection] = None

    def work(self, connection: WaitingConnection) -> None:
        """Record that a connection no longer waits for its client."""
        self._waiting.pop(connection, None)

    def remove(self, connection: WaitingConnection) -> None:
        """Forget a closed connection."""
        self._waiting.pop(connection, None)
        self._open.discard(connection)


def half_of_the_descriptors() -> int | None:
    """Return half of the file descriptors that the process may open; None without a limit."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else max(soft // 2, 1)
