"""Serve one host over this process's standard input and output."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from types import TracebackType
from typing import Any, Self, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import ContextSendStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.types import INTERNAL_ERROR, JSONRPCError, JSONRPCResponse

from toolmd._mcp.callers import FixedCaller
from toolmd._mcp.server import McpServer
from toolmd._mcp.unreadable import Answer, own_input
from toolmd._types.call import Caller
from toolmd._workspace import Workspace

LOOK_S = 0.02
"""The interval at which the end looks whether all answers are written, in seconds."""
ENDING = "The server is shutting down: requests in flight finish, new ones are denied."


class StdioRequests:
    """A stream of messages to the host, which knows what it has yet to answer."""

    def __init__(self, writes: ContextSendStream[SessionMessage]) -> None:
        self._writes = writes
        self._open: set[Any] = set()
        self._ending = False

    async def serve(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Count a request and pass it on; deny it if the server is ending."""
        if ctx.request_id is None:
            return await call_next(ctx)
        if self._ending:
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
    server = McpServer(workspace, FixedCaller(caller))
    server.changes.serve_here()
    # The SDK uses the pipe alone: printed text must not stay in a buffer that is flushed to
    # the pipe at the end.
    with own_input() as lines:
        # It only reads the lines.
        async with stdio_server(stdin=cast("Any", lines)) as (reads, writes):
            with redirect_stdout(sys.stderr):
                requests = StdioRequests(writes)

                async def answer(message: Answer) -> None:
                    await requests.send(SessionMessage(message))

                lines.answer = answer
                server.low.middleware.append(requests.serve)
                if ready is not None:
                    ready(server, requests)
                await server.low.run(reads, requests, server.low.create_initialization_options())
