"""Accept connections within limits, without busy loops or floods of log lines."""

import asyncio
import contextlib
import json
import socket
from collections.abc import Callable

from toolmd._auth.capacity import Capacity
from toolmd._auth.connection import Connection
from toolmd._auth.warnings import Warnings

BATCH = 16
"""The number of connections to accept before the open ones get their turn."""
RETRY_S = 0.2
"""The pause before the next attempt when the system has no descriptors left, in seconds."""
NOTHING_LEFT = (
    "can't accept a connection (%s); new ones wait. Raise the limit of open files (ulimit -n)"
    " or lower serve.max_connections"
)
_PROBLEM = json.dumps(
    {
        "type": "about:blank",
        "title": "Service Unavailable",
        "status": 503,
        "detail": "The server has as many connections as it allows; try again.",
        "code": "too_many_connections",
    }
).encode()
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
    b"Content-Length: %d\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" % len(_PROBLEM)
) + _PROBLEM


class Listener:
    """A loop that accepts connections from one listening socket."""

    def __init__(
        self, listening: socket.socket, capacity: Capacity, make: Callable[[], Connection]
    ) -> None:
        """Prepare to accept; `make` returns the protocol of a new connection."""
        listening.settimeout(0)
        self._listening = listening
        self._capacity = capacity
        self._make = make
        self._warnings = Warnings()
        self._opening: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Accept until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                for _ in range(BATCH):
                    accepted, _ = await loop.sock_accept(self._listening)
                    if self._capacity.full and self._opening:
                        # Only an open connection can make room.
                        await asyncio.wait(self._opening)
                    self._admit(accepted)
            except ConnectionError:
                continue
            except OSError as error:
                # Descriptors or memory have run out: close a connection that only waits.
                self._warnings.warn(NOTHING_LEFT, error.strerror)
                await asyncio.sleep(0 if self._capacity.close_one() else RETRY_S)
            # With many connections waiting, accepting would leave no turn to the open ones.
            await asyncio.sleep(0)

    def _admit(self, accepted: socket.socket) -> None:
        connection = self._make()
        if not self._capacity.admit(connection):
            _deny_request(accepted)
            return
        task = asyncio.create_task(self._open(connection, accepted))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _open(self, connection: Connection, accepted: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(lambda: connection, accepted)
        except OSError:
            self._capacity.remove(connection)
            accepted.close()


def _deny_request(accepted: socket.socket) -> None:
    """Answer 503 and close, without waiting on the event loop."""
    with accepted, contextlib.suppress(OSError):
        accepted.send(_FULL)
        # A socket closed with unread bytes resets the connection, and the answer may be lost.
        accepted.recv(65536)
