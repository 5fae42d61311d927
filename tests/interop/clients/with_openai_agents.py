"""Use the server with the MCP client of openai-agents, which answers no forms."""

import asyncio
import sys
from contextlib import AbstractAsyncContextManager
from typing import Any

from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from told import ASKED, attempt, server_of, texts, told

KIND, WHERE = server_of(sys.argv[1:])


def server() -> AbstractAsyncContextManager[Any]:
    if KIND == "http":
        headers = {"Authorization": f"Bearer {WHERE[1]}"}
        return MCPServerStreamableHttp({"url": WHERE[0], "headers": headers})
    command: Any = {"command": WHERE[0], "args": WHERE[1:]}
    return MCPServerStdio(command, client_session_timeout_seconds=60)


async def calls() -> None:
    async with server() as client:
        tools = [tool.name for tool in await client.list_tools()]
        told("tools are listed", "test_simple_text" in tools)
        simple = await client.call_tool("test_simple_text", {})
        told("a text", texts(simple) and not simple.is_error, simple)
        failed = await client.call_tool("test_error_handling", {})
        told("a failure that the model reads", failed.is_error and "intended" in texts(failed))


async def confirmations() -> None:
    async with server() as client:
        result = await client.call_tool("test_elicitation", ASKED)
        said = texts(result)
        refused = result.is_error and "confirmation_required" in said
        told("without a form nothing runs", refused, said)
        told("the answer says what to do", "toolmd confirm" in said, said)


async def main() -> None:
    for work in (calls, confirmations):
        await attempt(work.__name__, work)


asyncio.run(main())
