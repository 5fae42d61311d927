"""Serve one host over this process's standard input and output."""

from collections.abc import Callable

from mcp.server.stdio import stdio_server

from toolmark._model.call import Caller
from toolmark._workspace import Workspace
from toolmark.adapters.mcp.callers import FixedCaller
from toolmark.adapters.mcp.server import McpServer


async def serve_stdio(
    workspace: Workspace, caller: Caller, *, ready: Callable[[McpServer], None] | None = None
) -> None:
    """Serve until the host closes the pipe; every call is `caller`'s.

    `ready` is called in the serving loop, before the first message.
    """
    server = McpServer(workspace, FixedCaller(caller))
    server.changes.serve_here()
    if ready is not None:
        ready(server)
    async with stdio_server() as (reads, writes):
        await server.low.run(reads, writes, server.low.create_initialization_options())
