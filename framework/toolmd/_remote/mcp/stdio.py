"""Run a server as a process, and exchange bounded lines of JSON with it."""

import asyncio
import os
import signal
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

MAX_LINE = 12 << 20
"""The most bytes of one message: a content part of 8 MiB in base64 fits."""
_CHUNK = 64 << 10
_KEPT_ERRORS = 64 << 10
"""The last bytes of stderr that are kept."""
_END_S = 2.0
"""How long the process has to end after its stdin closes, and again after SIGTERM."""

_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


class ServerProcess:
    """A running server and its streams."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        """Keep the process."""
        self.process = process
        self.problem = ""
        """Why the stream of messages ended, if the server is to blame."""
        self.ended = asyncio.Event()
        """Set once no message comes any more."""
        self._errors: deque[bytes] = deque()
        self._size = 0

    @property
    def errors(self) -> str:
        """The end of what the process wrote to stderr."""
        return b"".join(self._errors).decode(errors="replace").strip()

    async def drain_errors(self) -> None:
        """Read stderr to its end, so that the process never waits for a reader."""
        assert self.process.stderr is not None
        while data := await self.process.stderr.read(_CHUNK):
            self._errors.append(data)
            self._size += len(data)
            while self._size - len(self._errors[0]) >= _KEPT_ERRORS:
                self._size -= len(self._errors.popleft())

    async def read_messages(self, sender: Any) -> None:
        """Parse each line of stdout and send it on; lines that are no message are skipped."""
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        async with sender:
            try:
                async for line in self._lines():
                    if not line.lstrip().startswith(b"{"):
                        continue
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except (ValueError, RecursionError):
                        continue
                    await sender.send(SessionMessage(message))
            except _closed():
                pass
            finally:
                self.ended.set()

    async def _lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of stdout; one of more than MAX_LINE ends them."""
        assert self.process.stdout is not None
        parts: list[bytes] = []
        size = 0
        while data := await self.process.stdout.read(_CHUNK):
            *whole, rest = data.split(b"\n")
            for end in whole:
                yield b"".join([*parts, end])
                parts, size = [], 0
            parts.append(rest)
            size += len(rest)
            if size > MAX_LINE:
                self.problem = f"it sent a message of more than {MAX_LINE:,} bytes"
                return

    async def write_messages(self, receiver: Any) -> None:
        """Write each message as a line to stdin."""
        assert self.process.stdin is not None
        async with receiver:
            async for item in receiver:
                line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    self.process.stdin.write(line.encode() + b"\n")
                    await self.process.stdin.drain()
                except OSError:
                    self.ended.set()
                    return

    async def end(self) -> None:
        """Close stdin, and kill the process and its children where they do not end."""
        if self.problem:
            # It writes what nobody reads: it would not notice that its stdin closed.
            self._signal(_KILL)
        if self.process.stdin is not None:
            self.process.stdin.close()
        for number in (signal.SIGTERM, _KILL):
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_S):
                    await self.process.wait()
                    break
            self._signal(number)
        # Children of a launcher such as npx may outlive it.
        self._signal(_KILL)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, number)
            else:
                self.process.kill()


@asynccontextmanager
async def run_server(
    command: Sequence[str], env: Mapping[str, str], folder: Path
) -> AsyncIterator[tuple[ServerProcess, Any, Any]]:
    """Start a server; yield it and the streams of messages from it and to it.

    Raises OSError where the program can't be started.
    """
    import anyio

    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=dict(env),
        cwd=folder,
        start_new_session=True,
    )
    server = ServerProcess(process)
    to_session, from_server = anyio.create_memory_object_stream[Any](0)
    to_server, from_session = anyio.create_memory_object_stream[Any](0)
    tasks = [
        asyncio.create_task(work)
        for work in (
            server.drain_errors(),
            server.read_messages(to_session),
            server.write_messages(from_session),
        )
    ]
    try:
        yield server, from_server, to_server
    finally:
        await asyncio.shield(asyncio.create_task(_wind_down(server, tasks)))
        for stream in (to_session, from_server, to_server, from_session):
            await stream.aclose()


async def _wind_down(server: ServerProcess, tasks: Sequence[asyncio.Task[None]]) -> None:
    await server.end()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _closed() -> tuple[type[Exception], ...]:
    import anyio

    return (anyio.ClosedResourceError, anyio.BrokenResourceError)
