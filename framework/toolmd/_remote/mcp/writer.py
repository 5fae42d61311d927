"""Write lines to the pipe of a process from any thread, without waiting for its reader."""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress

from toolmd._remote.mcp.error import NotReadError

_MOST = 24 << 20
"""The most bytes that wait for a reader when a line is added."""


class LineWriter:
    """One end of a pipe. What the pipe does not take at once follows in the event loop."""

    def __init__(self, pipe: int, gone: Callable[[], None]) -> None:
        """Keep the descriptor, and what this loop calls once nobody reads."""
        os.set_blocking(pipe, False)
        self._pipe = pipe
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._left = bytearray()
        """What the pipe has not taken yet."""
        self._taken = 0
        """How many bytes the pipe has taken."""
        self._lost = 0
        """How many bytes were left when the other end was found closed."""
        self._moved = asyncio.Event()
        """Is set when the pipe takes what was left."""
        self._is_closed = False

    def write(self, line: bytes, *, always: bool = False) -> bool:
        """Write a line after those before; return False where none of it can be read.

        Raises NotReadError where too much waits for the reader already, unless `always`.
        """
        with self._lock:
            if self._is_closed:
                return False
            if len(self._left) > _MOST and not always:
                raise NotReadError(f"{len(self._left):,} bytes wait for it")
            is_first = not self._left
            self._left += line
            self._left += b"\n"
            if is_first and not self._is_taken():
                self._loop.call_soon_threadsafe(self._wait)
            return self._lost <= len(line)

    async def taken(self) -> None:
        """Wait until the pipe has taken the lines so far, or is closed; called in the loop."""
        with self._lock:
            until = self._taken + len(self._left)
        while self._taken < until and not self._is_closed:
            self._moved.clear()
            await self._moved.wait()

    def close(self) -> None:
        """Close the pipe; called in the event loop."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._moved.set()
                self._loop.remove_writer(self._pipe)
                os.close(self._pipe)

    def _is_taken(self) -> bool:
        """Write what is left, and return whether the pipe took it."""
        try:
            while self._left:
                self._take(os.write(self._pipe, self._left))
        except BlockingIOError:
            return False
        except OSError:
            self._lost = len(self._left)
            self._take(self._lost)
            # The loop may be closed, and the process with it.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._gone)
        return True

    def _take(self, size: int) -> None:
        del self._left[:size]
        self._taken += size

    def _wait(self) -> None:
        with self._lock:
            if not self._is_closed:
                self._loop.add_writer(self._pipe, self._go_on)

    def _go_on(self) -> None:
        with self._lock:
            if self._is_taken():
                self._loop.remove_writer(self._pipe)
            self._moved.set()
