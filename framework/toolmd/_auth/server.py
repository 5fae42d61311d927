"""Serve an ASGI app on a bound socket until the process gets a signal to end."""

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from toolmd._auth.capacity import Capacity
from toolmd._auth.connection import Connection
from toolmd._auth.in_flight import InFlight
from toolmd._auth.listener import Listener
from toolmd._types.settings import ServeSettings

DRAIN_S = 30.0
"""The time for calls in flight to end after the signal, in seconds."""
CLOSE_S = 2
"""The time for connections to close after that, in seconds."""
FORCED = 130
"""The exit code when a second Ctrl-C cuts calls off."""


async def serve(
    app: Any,
    listening: socket.socket,
    *,
    settings: ServeSettings,
    close: Callable[[], None] = lambda: None,
    tell: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until SIGINT or SIGTERM, let the calls in flight finish, and return.

    A second signal ends the process at once.

    Args:
        app: The ASGI app.
        listening: The bound socket.
        settings: The limits of the server.
        close: A function that ends streams that would never end.
        tell: A function that shows what the server waits for.
    """
    server = HttpServer(app, listening, settings=settings, close=close, tell=tell)
    # An earlier Ctrl-C is raised here; within uvicorn it would be logged as a crash.
    await asyncio.sleep(0)
    await server.serve(sockets=[listening])


class HttpServer(uvicorn.Server):
    """A uvicorn server that limits its connections and waits for calls in flight when it ends."""

    def __init__(
        self,
        app: Any,
        listening: socket.socket,
        *,
        settings: ServeSettings,
        close: Callable[[], None] = lambda: None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Prepare to serve; the arguments are those of `serve`."""
        self._in_flight = InFlight(app)
        config = uvicorn.Config(
            self._in_flight,
            http="h11",
            # Errors of clients are answered to them; in the log, they could fill the disk.
            log_level="error",
            server_header=False,
            timeout_keep_alive=settings.idle_timeout,
            timeout_graceful_shutdown=CLOSE_S,
            ws="none",
            lifespan="on",
        )
        super().__init__(config)
        self._settings = settings
        self._capacity = Capacity(settings.max_connections)
        self._listener = Listener(listening, self._capacity, self._connection)
        self._close = close
        self._tell = tell
        self._accepting: asyncio.Task[None] | None = None
        self._draining: asyncio.Task[None] | None = None
        self._told = False

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal."""
        self._loop = asyncio.get_running_loop()
        await super().serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept by our own listener: asyncio's spins when descriptors run out."""
        del sockets
        await super().startup(sockets=[])
        self._accepting = self._loop.create_task(self._listener.run())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting, and let open connections end."""
        if self._accepting is not None:
            self._accepting.cancel()
        await super().shutdown(sockets)

    def _connection(self) -> Connection:
        return Connection(
            self.config,
            self.server_state,
            self.lifespan.state,
            settings=self._settings,
            capacity=self._capacity,
        )

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Start to end on the first signal; end at once on the second."""
        del sig, frame
        if self._told:
            # The signal may interrupt a write to the same stream, so this message may fail. All
            # state is written in transactions, so none is half-written.
            try:
                self._tell("ended at once; calls in flight were cut off")
            finally:
                os._exit(FORCED)
        self._told = True
        self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        self._draining = self._loop.create_task(self._drain())

    async def _drain(self) -> None:
        self._close()
        if self._in_flight.number:
            calls = "1 call" if self._in_flight.number == 1 else f"{self._in_flight.number} calls"
            self._tell(f"waiting for {calls} to finish; Ctrl-C again ends at once")
        await self._in_flight.land(DRAIN_S)
        self.should_exit = True
