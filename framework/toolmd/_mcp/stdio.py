"""Serve one host over this process's standard input and output."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from io import TextIOWrapper
from queue import SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any, Self, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import ContextSendStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.types import INTERNAL_ERROR, JSONRPCError, JSONRPCResponse

from toolmd._mcp.callers import Callers
from toolmd._mcp.calls import BEGUN
from toolmd._mcp.direct import Direct
from toolmd._mcp.server import McpServer
from toolmd._mcp.unreadable import read_message
from toolmd._types.call import Caller
from toolmd._types.result import Result
from toolmd._workspace import Workspace

LOOK_S = 0.02
"""The interval at which the end looks whether all answers are written, in seconds."""
ENDING = "The server is shutting down: requests in flight finish, new ones are denied."


class Pipe:
    """A file for the host's messages, read or written in a daemon thread of its own.

    A thread that waits for a host must not keep a process alive that ends.
    """

    def __init__(self, file: TextIOWrapper) -> None:
        self._file = file
        self._work: SimpleQueue[tuple[asyncio.Future[str], str | None]] = SimpleQueue()
        self._text = ""
        Thread(target=self._go_on, name="toolmd-stdio", daemon=True).start()

    def readline(self) -> asyncio.Future[str]:
        """Return the next line; it is empty at the end."""
        return self._begin(None)

    async def write(self, text: str) -> None:
        """Keep a text until `flush`."""
        self._text += text

    async def flush(self) -> None:
        """Write what is kept."""
        text, self._text = self._text, ""
        await self._begin(text)

    def _begin(self, text: str | None) -> asyncio.Future[str]:
        done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._work.put((done, text))
        return done

    def _go_on(self) -> None:
        while True:
            done, text = self._work.get()
            result: str | Exception = ""
            try:
                if text is None:
                    result = self._file.readline()
                else:
                    self._file.write(text)
                    self._file.flush()
            except (OSError, ValueError) as error:
                result = error
            with suppress(RuntimeError):  # The loop was closed: nothing waits any more.
                done.get_loop().call_soon_threadsafe(_settle, done, result)


def _settle(done: asyncio.Future[str], result: str | Exception) -> None:
    if done.done():
        return
    if isinstance(result, Exception):
        done.set_exception(result)
    else:
        done.set_result(result)


class Lines:
    """The lines of standard input for the SDK's server; the others are answered here."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self.answer: Answers | None = None
        """Answers a line and returns True; or returns False soon after another line is there."""

    async def __aiter__(self) -> AsyncIterator[str]:
        following = self._pipe.readline()
        while line := await following:
            following = self._pipe.readline()
            if line.strip() and not (self.answer and await self.answer(line, following)):
                yield line


Answers = Callable[[str, asyncio.Future[str]], Awaitable[bool]]


def take_pipes() -> list[Pipe]:
    """Return standard input and output, for the protocol alone until the process ends.

    Tools and their programs get an empty input, and print to standard error.
    """
    pipes = []
    for stream, number, mode in ((sys.stdin, 0, "rb"), (sys.stdout, 1, "wb")):
        file = stream.buffer
        with suppress(OSError, ValueError):  # A test has a stream without a file.
            stream.fileno()
            own = os.dup(number)
            other = os.open(os.devnull, os.O_RDONLY) if number == 0 else os.dup(2)
            os.dup2(other, number)
            os.close(other)
            # A thread may still use it when the server has ended, so nothing closes the file.
            file = os.fdopen(own, mode, closefd=False)
        pipes.append(Pipe(TextIOWrapper(file, encoding="utf-8", errors="replace", newline="\n")))
    return pipes


class StdioRequests:
    """A stream of messages to the host, which knows what it has yet to answer."""

    def __init__(self, writes: ContextSendStream[SessionMessage], direct: Direct) -> None:
        self._writes = writes
        self._direct = direct
        self._open: set[Any] = set()
        self._ending = False

    async def answer(self, line: str, following: asyncio.Future[str]) -> bool:
        """Answer a line that needs nothing of the session, and return whether it was answered.

        A call that is not done when the next line is there goes on in the SDK's server: that line
        may cancel it.
        """
        found = read_message(line)
        if isinstance(found, dict):
            message = found

            async def wait(call: asyncio.Task[Result]) -> None:
                self._open.add(message["id"])
                either: set[asyncio.Future[Any]] = {call, following}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)

            answer = await self._direct.answer(message, {}, wait)
            found = None if answer is None else JSONRPCResponse.model_construct(**answer)
        if found is not None:
            await self.send(SessionMessage(found))
        return found is not None

    async def serve(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Count a request and pass it on; deny it if the server is ending."""
        if ctx.request_id is None:
            return await call_next(ctx)
        if self._ending and BEGUN.get() is None:
            raise MCPError(INTERNAL_ERROR, ENDING)
        self._open.add(ctx.request_id)
        try:
            return await call_next(ctx)
        except asyncio.CancelledError:
            # A request that the host has cancelled gets no answer.
            self._open.discard(ctx.request_id)
            raise

    async def land(self, timeout_s: float) -> bool:
        """Deny new requests, and wait at most `timeout_s` seconds until the rest is answered.

        Returns:
            Whether all of them are.
        """
        self._ending = self._direct.is_ending = True
        try:
            async with asyncio.timeout(timeout_s):
                while self._open or not self._is_written():  # noqa: ASYNC110 - no event tells it
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            return False
        return True

    def _is_written(self) -> bool:
        """Return whether the writer waits for the next message."""
        return self._writes._inner.statistics().tasks_waiting_receive > 0  # noqa: SLF001 - the SDK tells it nowhere else

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        await self._writes.send(item)
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._open.discard(item.message.id)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._writes.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


async def serve_stdio(
    workspace: Workspace,
    caller: Caller,
    *,
    ready: Callable[[McpServer, StdioRequests], None] | None = None,
) -> None:
    """Serve until the host closes the pipe.

    Args:
        workspace: The workspace to serve.
        caller: The caller of every call.
        ready: A function to call in the serving loop, before the first message, with the server
            and the requests that have no answer yet.
    """
    server = McpServer(workspace, Callers(caller))
    server.changes.serve_here()
    incoming, outgoing = take_pipes()
    lines = Lines(incoming)
    # The SDK only reads the lines, and writes and flushes.
    async with stdio_server(cast("Any", lines), cast("Any", outgoing)) as (reads, writes):
        requests = StdioRequests(writes, server.direct)
        lines.answer = requests.answer
        server.low.middleware.append(requests.serve)
        if ready is not None:
            ready(server, requests)
        await server.low.run(reads, requests, server.low.create_initialization_options())
