"""Serve one host over this process's standard input and output."""

import sys
from collections.abc import Callable
from contextlib import redirect_stdout

from mcp.server.stdio import stdio_server

from toolmd._mcp.callers import FixedCaller
from toolmd._mcp.requests import StdioRequests
from toolmd._mcp.server import McpServer
from toolmd._types.call import Caller
from toolmd._workspace import Workspace


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
    async with stdio_server() as (reads, writes):
        with redirect_stdout(sys.stderr):
            requests = StdioRequests(writes)
            server.low.middleware.append(requests.serve)
            if ready is not None:
                ready(server, requests)
            await server.low.run(reads, requests, server.low.create_initialization_options())
