"""Serve one host over this process's standard input and output."""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from io import TextIOWrapper
from queue import SimpleQueue
from threading import Thread
from typing import Any, Self

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.types import INTERNAL_ERROR, JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter

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
        self._work: SimpleQueue[tuple[asyncio.Future[str], str]] = SimpleQueue()
        Thread(target=self._go_on, name="toolmd-stdio", daemon=True).start()

    def read(self) -> asyncio.Future[str]:
        """Return the next line; it is empty at the end."""
        return self.write("")

    def write(self, line: str) -> asyncio.Future[str]:
        """Write a line."""
        done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._work.put((done, line))
        return done

    def _go_on(self) -> None:
        while True:
            done, line = self._work.get()
            result: str | Exception = line
            try:
                if line:
                    with suppress(ConnectionError):  # The host has gone; the end of input follows.
                        self._file.write(line)
                        self._file.flush()
                else:
                    result = self._file.readline()
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


class Stream:
    """A stream of messages, as the SDK's server takes them."""

    async def aclose(self) -> None:
        """Close the stream, whose pipe ends with the process."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()


class StdioRequests(Stream):
    """The messages to the host, with the requests that have no answer yet."""

    def __init__(self, pipe: Pipe, direct: Direct) -> None:
        self._pipe = pipe
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
                while self._open:  # noqa: ASYNC110 - no event tells it
                    await asyncio.sleep(LOOK_S)
        except TimeoutError:
            return False
        return True

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        await self._pipe.write(f"{text}\n")
        if isinstance(item.message, JSONRPCResponse | JSONRPCError):
            self._open.discard(item.message.id)


class StdioMessages(Stream):
    """The messages of the host for the SDK's server; the others are answered."""

    last_context: Context | None = None
    """The context of the last message: the SDK's server handles it there."""

    def __init__(self, pipe: Pipe, requests: StdioRequests) -> None:
        self._pipe = pipe
        self._requests = requests
        self._following = pipe.read()

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message, or why a line is none; raise StopAsyncIteration at the end."""
        while line := await self._following:
            self._following = self._pipe.read()
            if not line.strip() or await self._requests.answer(line, self._following):
                continue
            self.last_context = copy_context()
            try:
                return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
            except ValueError as error:
                return error
        raise StopAsyncIteration

    __anext__ = receive

    def __aiter__(self) -> Self:
        return self


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
    requests = StdioRequests(outgoing, server.direct)
    server.low.middleware.append(requests.serve)
    if ready is not None:
        ready(server, requests)
    options = server.low.create_initialization_options()
    await server.low.run(StdioMessages(incoming, requests), requests, options)
