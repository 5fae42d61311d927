"""Serve one host over this process's standard input and output."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import TextIOWrapper
from types import TracebackType
from typing import Any, Self, cast

import anyio
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


class Lines:
    """The lines of standard input for the SDK's server; the others are answered here."""

    def __init__(self, file: TextIOWrapper) -> None:
        self._file = anyio.wrap_file(file)
        self.answer: Answers | None = None
        """Answers a line and returns True; or returns False soon after another line is there."""

    async def __aiter__(self) -> AsyncIterator[str]:
        following = asyncio.ensure_future(self._file.readline())
        try:
            while line := await following:
                following = asyncio.ensure_future(self._file.readline())
                if line.strip() and not (self.answer and await self.answer(line, following)):
                    yield line
        finally:
            following.cancel()


Answers = Callable[[str, asyncio.Future[str]], Awaitable[bool]]


@contextmanager
def own_input() -> Iterator[Lines]:
    """Open standard input for the protocol alone: tools and their programs get an empty one."""
    try:
        number = sys.stdin.fileno()
    except (OSError, ValueError):
        yield Lines(TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace"))
        return
    kept = os.dup(number)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, number)
    os.close(nothing)
    try:
        # A thread may still read when the server has ended, so nothing closes the file.
        file = os.fdopen(kept, "rb", closefd=False)
        yield Lines(TextIOWrapper(file, encoding="utf-8", errors="replace"))
    finally:
        os.dup2(kept, number)


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
        BEGUN.set(None)
        found = read_message(line)
        if isinstance(found, dict):
            message = found

            async def wait(call: asyncio.Task[Result]) -> None:
                self._open.add(message["id"])
                either: set[asyncio.Future[Any]] = {call, following}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)

            answer = None if self._ending else await self._direct.answer(message, {}, wait)
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
        self._ending = True
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
    # The SDK uses the pipe alone: printed text must not stay in a buffer that is flushed to
    # the pipe at the end.
    with own_input() as lines:
        # It only reads the lines.
        async with stdio_server(stdin=cast("Any", lines)) as (reads, writes):
            with redirect_stdout(sys.stderr):
                requests = StdioRequests(writes, server.direct)
                lines.answer = requests.answer
                server.low.middleware.append(requests.serve)
                if ready is not None:
                    ready(server, requests)
                await server.low.run(reads, requests, server.low.create_initialization_options())
