"""Serve an ASGI app on a socket that is bound already, until the process is told to end."""

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from toolmd._gate.flights import Flights

DRAIN_S = 30.0
"""How long calls under way may take when the server is told to end, in seconds."""
CLOSE_S = 2
"""How long connections may take to close after that, in seconds."""
FORCED = 130
"""The exit code where a second Ctrl-C cut calls off."""


async def serve(
    app: Any,
    listening: socket.socket,
    *,
    close: Callable[[], None] = lambda: None,
    tell: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until SIGINT or SIGTERM; then finish what is under way, and return.

    `close` ends streams that would never end; `tell` says what is waited for. A second signal
    ends the process at once.
    """
    flights = Flights(app)
    config = uvicorn.Config(
        flights,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=CLOSE_S,
        ws="none",
        lifespan="on",
    )
    # A Ctrl-C that came before is raised here; within uvicorn it would be logged as a crash.
    await asyncio.sleep(0)
    await _Server(config, flights, close, tell).serve(sockets=[listening])


class _Server(uvicorn.Server):
    """Waits for calls, not for connections, when the process is told to end."""

    def __init__(
        self,
        config: uvicorn.Config,
        flights: Flights,
        close: Callable[[], None],
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(config)
        self._flights = flights
        self._close = close
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._draining: Any = None
        self._told = False

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Begin to end, or end now."""
        del sig, frame
        if self._told:
            # The signal may come while the same stream is written to, which then can't be told on.
            # Everything that is kept is kept in transactions: nothing is torn.
            try:
                self._tell("ended at once; what was under way is cut off")
            finally:
                os._exit(FORCED)
        self._told = True
        self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        self._draining = self._loop.create_task(self._drain())

    async def _drain(self) -> None:
        self._close()
        if self._flights.number:
            calls = "1 call" if self._flights.number == 1 else f"{self._flights.number} calls"
            self._tell(f"waiting for {calls} to finish; Ctrl-C again ends at once")
        await self._flights.land(DRAIN_S)
        self.should_exit = True
