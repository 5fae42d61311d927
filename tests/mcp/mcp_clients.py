"""A client of MCP that talks to a workspace's server in this process, and what it is told."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from mcp import Client
from mcp.types import CallToolResult

from toolmd import Workspace
from toolmd._mcp.callers import Callers
from toolmd._mcp.server import McpServer
from toolmd._types.call import Caller

Use = Callable[[Client], Awaitable[Any]]


def code(result: CallToolResult) -> str:
    """Return the code of the error that a call ended with."""
    assert result.is_error
    return str(result.structured_content["error"]["code"])


def over(workspace: Workspace, mode: str, use: Use, user: str | None = "ana") -> Any:
    """Return what a use of a workspace over MCP returns; `mode` is the era of the protocol."""
    server = McpServer(workspace, Callers(Caller(user)))

    async def main() -> Any:
        async with Client(server.low, mode=mode) as client:
            return await use(client)

    return asyncio.run(main())
