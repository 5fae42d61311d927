"""Serve an ASGI app on a bound socket until the process gets a signal to end."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

import uvicorn

from toolmd._auth.capacity import Capacity
from toolmd._auth.connection import Connection
from toolmd._auth.in_flight import InFlight
from toolmd._auth.listener import Listener
from toolmd._types.settings import ServeSettings

CLOSE_S = 2
"""The time for connections to close after the drain, in seconds."""
FORCED = 130
"""The exit code when a second signal cuts calls off."""


class Drain(NamedTuple):
    """The functions that a server calls when it ends."""

    begin: Callable[[], None] = lambda: None
    """Called at the signal: ends the streams that would never end."""
    stop: Callable[[float], Coroutine[Any, Any, None]] = lambda _: asyncio.sleep(0)
    """Stops other work than requests within a time in seconds."""
    tell: Callable[[str], None] = lambda _: None
    """Shows what the server waits for."""
    by_parent: bool = False
    """Whether a parent process ends this one at a second signal: this one then ignores it."""


NO_DRAIN = Drain()
"""Waits for requests alone."""


async def serve(
    app: Any, listening: socket.socket, *, settings: ServeSettings, drain: Drain = NO_DRAIN
) -> None:
    """Serve until SIGINT or SIGTERM, let the calls in flight finish, and return.

    After SIGTERM, new requests are answered for the grace of the settings. A second signal ends
    the process at once.

    Args:
        app: The ASGI app.
        listening: The bound socket.
        settings: The limits of the server.
        drain: The functions to call at the end.
    """
    server = HttpServer(app, listening, settings=settings, drain=drain)
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
        drain: Drain = NO_DRAIN,
    ) -> None:
        """Prepare to serve; the arguments are those of `serve`."""
        self._in_flight = InFlight(app)
        config = uvicorn.Config(
            self._in_flight,
            http="httptools",
            # Errors of clients are answered to them; in the log, they could fill the disk.
            log_level="error",
            access_log=False,
            server_header=False,
            # Nothing reads the address of a client or the scheme, which they would change.
            proxy_headers=False,
            timeout_keep_alive=settings.idle_timeout,
            timeout_graceful_shutdown=CLOSE_S,
            ws="none",
            lifespan="on",
        )
        super().__init__(config)
        self._settings = settings
        self._capacity = Capacity(settings.max_connections)
        self._listener = Listener(listening, self._capacity, self._connection)
        self._listening = listening
        self._drain = drain
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
        self._stop_accepting()
        await super().shutdown(sockets)

    def _stop_accepting(self) -> None:
        """Close the socket, so that clients connect to another server."""
        if self._accepting is not None:
            self._accepting.cancel()
        self._listening.close()

    def _connection(self) -> Connection:
        return Connection(
            self.config,
            self.server_state,
            self.lifespan.state,
            settings=self._settings,
            capacity=self._capacity,
        )

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Start to end on the first signal; end at once on the second, unless the parent does."""
        del frame
        if self._told and self._drain.by_parent:
            return
        if self._told:
            # The signal may interrupt a write to the same stream, so this message may fail. All
            # state is written in transactions, so none is half-written.
            try:
                self._drain.tell("ended at once; calls in flight were cut off")
            finally:
                os._exit(FORCED)
        self._told = True
        grace_s = 0.0 if sig == signal.SIGINT else self._settings.drain_grace
        self._loop.call_soon_threadsafe(self._begin, grace_s)

    def _begin(self, grace_s: float) -> None:
        self._draining = self._loop.create_task(self._end(grace_s))

    async def _end(self, grace_s: float) -> None:
        drain, flights, limit_s = self._drain, self._in_flight, self._settings.drain_timeout
        drain.begin()
        if grace_s:
            drain.tell(f"answers new requests for {grace_s:g} s; a second signal ends at once")
            await asyncio.sleep(grace_s)
        self._stop_accepting()
        if flights.number:
            drain.tell(f"waiting for {flights.told} to finish; a second signal ends at once")
        await asyncio.gather(flights.land(limit_s), drain.stop(limit_s))
        if flights.number:
            drain.tell(f"{flights.told} did not finish within {limit_s:g} s, and will be cut off")
        self.should_exit = True
