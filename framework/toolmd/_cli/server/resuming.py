"""Execute the runs of skills in a server, once there may be any."""

import asyncio
import time
from contextlib import suppress
from typing import Any


class Resuming:
    """Starts the engine of runs when a durable skill or a kept run is there.

    A server without them does not import the engine and has none of its threads.
    """

    def __init__(self, workspace: Any) -> None:
        """Begin to watch; call it in the serving loop."""
        self._workspace = workspace
        self._changed = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._end = workspace.on_change(lambda *_: loop.call_soon_threadsafe(self._changed.set))
        self._is_starting = False
        self._task = loop.create_task(self._run())

    async def stop(self, limit_s: float) -> None:
        """Stop the runs once their engine has started: on a closed store it would try for long."""
        until = time.monotonic() + limit_s
        self._end()
        if not self._is_starting:
            self._task.cancel()
        await asyncio.wait({self._task}, timeout=limit_s)
        await self._workspace.runs.stop(max(until - time.monotonic(), 0.1))

    async def ended(self) -> None:
        """Wait for the start, and raise what it raised."""
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        while not await self._workspace.runs.may_be_due():
            await self._changed.wait()
            self._changed.clear()
        self._is_starting = True
        await self._workspace.runs.start()
