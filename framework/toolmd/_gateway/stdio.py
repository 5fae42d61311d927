"""Run a server as a process, and exchange bounded lines of JSON with it."""

import asyncio
import json
import os
import re
import signal
from collections import Counter, deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from toolmd._gateway import UNREADABLE, NotStartedError

MAX_LINE = 12 << 20
"""The most bytes of one message: a content part of 8 MiB in base64 fits."""
MAX_SHOWN = 500
"""The most characters of what a server said that an error shows."""
_MOST_REQUESTS = 100
"""The most requests of a server that wait for their answers at a time."""
_READ_S = 10.0
"""How long a server with so many requests may take to read the next answer."""
_CHUNK = 64 << 10
_MOST_DIGITS = 1_000
"""The digits of a whole number that an answer may have and still be told of."""
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
        self._unanswered = Counter[Any]()
        """The requests of the server whose answers it has not read yet."""
        self._answered = asyncio.Event()
        self._lines: deque[bytes] = deque()
        self._parts: list[bytes] = []
        """The parts of a line that has not ended, of `_length` bytes."""
        self._length = 0
        self._errors: deque[bytes] = deque()
        self._size = 0

    @property
    def is_alive(self) -> bool:
        """Return whether the process runs; its death may be known before its streams end."""
        if self.ended.is_set() or self.process.returncode is not None:
            return False
        if not hasattr(os, "waitid"):
            return True
        try:
            wait = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self.process.pid, wait) is None
        except ChildProcessError:
            return False

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

    async def receive(self) -> Any:
        """Return the next message; lines that are no message are skipped.

        Raises StopAsyncIteration at the end, or after a line of more than MAX_LINE.
        """
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        while not self.problem and (line := await self._line()) is not None:
            if line.lstrip().startswith(b"{"):
                try:
                    message = jsonrpc_message_adapter.validate_json(repair(line), by_name=False)
                except (ValueError, RecursionError):
                    if (message := _error_for(line)) is None:
                        continue
                await self._keep_up(message)
                return SessionMessage(message)
        self.ended.set()
        raise StopAsyncIteration

    async def _keep_up(self, message: Any) -> None:
        """Note a request of the server; wait while it does not read the answers to the others."""
        if not hasattr(message, "method"):
            return
        if hasattr(message, "id"):
            self._unanswered[message.id] += 1
        elif message.method == "notifications/cancelled":
            gone = (message.params or {}).get("requestId")
            self._forget(gone if isinstance(gone, str | int) else None)
        try:
            async with asyncio.timeout(_READ_S):
                while self._unanswered.total() > _MOST_REQUESTS:
                    self._answered.clear()
                    await self._answered.wait()
        except TimeoutError:
            self.problem = "it does not read the answers to its requests"

    def _forget(self, number: Any) -> None:
        """Note that a request of the server waits no more."""
        if self._unanswered[number] > 1:
            self._unanswered[number] -= 1
        else:
            del self._unanswered[number]
        self._answered.set()

    async def send(self, item: Any) -> None:
        """Write a message as a line to stdin, as soon as the server reads."""
        assert self.process.stdin is not None
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        with suppress(ConnectionError):
            self.process.stdin.write(line.encode() + b"\n")
            await self.process.stdin.drain()
        if not hasattr(item.message, "method"):
            self._forget(item.message.id)

    async def _line(self) -> bytes | None:
        assert self.process.stdout is not None
        while not self._lines:
            data = await self.process.stdout.read(_CHUNK)
            if not data or self.problem:
                return None
            *whole, rest = data.split(b"\n")
            for end in whole:
                self._lines.append(b"".join([*self._parts, end]))
                self._parts, self._length = [], 0
            self._parts.append(rest)
            self._length += len(rest)
            if self._length > MAX_LINE:
                self.problem = f"it sent a message of more than {MAX_LINE:,} bytes"
                return None
        return self._lines.popleft()

    async def end(self) -> None:
        """Close stdin, and kill the process and its children where they do not end."""
        if self.problem:
            # It writes what nobody reads: it would not notice that its stdin closed.
            self._signal(_KILL)
        assert self.process.stdin is not None
        self.process.stdin.close()
        for number in (signal.SIGTERM, _KILL):
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_S):
                    await self.process.wait()
                    break
            self._signal(number)
        # Children of a launcher such as npx may outlive it.
        self._signal(_KILL)
        # Output that nobody read keeps its pipe open; asyncio has no public way to close it.
        self.process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, number)
            else:
                self.process.kill()


@asynccontextmanager
async def run_server(
    command: Sequence[str], env: Mapping[str, str], folder: Path
) -> AsyncIterator[ServerProcess]:
    """Start a server and yield it; its process has ended afterwards.

    Raises NotStartedError for a program that is not found, and OSError where it can't be started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(env),
            cwd=folder,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise NotStartedError(f"there is no program {command[0]!r} on its PATH") from error
    server = ServerProcess(process)
    errors = asyncio.create_task(server.drain_errors())
    try:
        yield server
    finally:
        # A cancelled session ends its process, too.
        await asyncio.shield(asyncio.create_task(server.end()))
        errors.cancel()


_HALF = re.compile(
    rb"(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\)((?:\\\\)*)\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""A whole surrogate pair, or half of one, as JSON escapes it."""


def repair(line: bytes) -> bytes:
    """Return a line of JSON with U+FFFD for bytes and halves that are no character."""
    if b"\\u" in line:
        line = _HALF.sub(lambda found: found[0] if found[2] else found[3] + b"\\ufffd", line)
    return line if line.isascii() else line.decode("utf-8", errors="replace").encode()


def _error_for(line: bytes) -> Any:
    """Return the error that ends the call of an answer that is no message of the protocol."""
    from mcp_types import ErrorData, JSONRPCError

    try:
        # Python reads no number of thousands of digits.
        message = json.loads(
            repair(line), parse_int=lambda digits: int(digits) if len(digits) < _MOST_DIGITS else 0
        )
        if "method" in message or not isinstance(number := message.get("id"), str | int):
            return None
    except (ValueError, RecursionError, TypeError):
        return None
    code, said = (0, "one that can't be read") if "error" in message else (UNREADABLE, "unreadable")
    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=code, message=said))


def telling(errors: str) -> str:
    """Return the lines of a process's stderr that tell most: the first error, and the end."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    first = next((line for line in lines if "error" in line.lower()), None)
    ending = lines[-3:]
    if first is not None and first not in ending:
        ending = [first[: MAX_SHOWN // 2], "…", *ending[-1:]]
    return " / ".join(ending)[-MAX_SHOWN:]
