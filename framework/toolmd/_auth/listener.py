"""Accept connections within bounds: no spinning and no flood of log lines when there is no room."""

import asyncio
import contextlib
import json
import socket
from collections.abc import Callable

from toolmd._auth.capacity import Capacity
from toolmd._auth.connection import Connection
from toolmd._auth.warnings import Warnings

BATCH = 16
"""Connections that are accepted before those that are open get their turn."""
RETRY_S = 0.2
"""How long to wait before accepting again where the system has nothing left, in seconds."""
NOTHING_LEFT = (
    "can't accept a connection (%s); new ones wait. Raise the limit of open files (ulimit -n)"
    " or lower serve.max_connections"
)
_PROBLEM = json.dumps(
    {
        "type": "about:blank",
        "title": "Service Unavailable",
        "status": 503,
        "detail": "As many connections as may be are at work; try again.",
        "code": "too_many_connections",
    }
).encode()
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
    b"Content-Length: %d\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" % len(_PROBLEM)
) + _PROBLEM


class Listener:
    """Accepts connections from one socket that listens."""

    def __init__(
        self, listening: socket.socket, capacity: Capacity, make: Callable[[], Connection]
    ) -> None:
        """`make` returns the protocol of a new connection."""
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
                # Descriptors or memory have run out: a connection that only waits gives up its own.
                self._warnings.warn(NOTHING_LEFT, error.strerror)
                await asyncio.sleep(0 if self._capacity.close_one() else RETRY_S)
            # Where many wait, accepting gives no turn to those that are open.
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
    """Answer 503 and close, without a turn of the event loop."""
    with accepted, contextlib.suppress(OSError):
        accepted.send(_FULL)
        # A socket closed with unread bytes resets the connection, and the answer may be lost.
        accepted.recv(65536)
