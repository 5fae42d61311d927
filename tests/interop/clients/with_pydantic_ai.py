"""Use the server with the MCP toolset of pydantic-ai."""

import asyncio
import sys
from typing import Any

from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from pydantic_ai.mcp import MCPToolset
from told import ANSWERS, ASKED, attempt, server_of, told

KIND, WHERE = server_of(sys.argv[1:])


def toolset(**options: Any) -> MCPToolset:
    if KIND == "http":
        transport: Any = StreamableHttpTransport(WHERE[0], auth=WHERE[1])
    else:
        transport = StdioTransport(command=WHERE[0], args=WHERE[1:], keep_alive=False)
    return MCPToolset(transport, init_timeout=60, **options)


async def result_of(client: MCPToolset, name: str, arguments: dict[str, Any]) -> str:
    """Return what the model reads, also of an error."""
    try:
        return str(await client.direct_call_tool(name, arguments))
    except Exception as error:  # noqa: BLE001 - the framework's own exception has the text
        return f"error: {error}"


async def calls() -> None:
    async with toolset() as client:
        tools = [tool.name for tool in await client.list_tools()]
        told("tools are listed", "test_simple_text" in tools)
        simple = await result_of(client, "test_simple_text", {})
        told("a text", simple and not simple.startswith("error"), simple)
        failed = await result_of(client, "test_error_handling", {})
        told("a failure that the model reads", "intended" in failed, failed)


async def confirmations() -> None:
    for action, content, expected in ANSWERS:

        async def answer(*_: Any, action: Any = action, content: Any = content) -> Any:
            return ElicitResult(action=action, content=content)

        async with toolset(elicitation_handler=answer) as client:
            result = await result_of(client, "test_elicitation", ASKED)
            told(f"the user's {action} of {content}", expected in result, result)
    async with toolset() as client:
        result = await result_of(client, "test_elicitation", ASKED)
        told("without a form nothing runs", "confirmation_required" in result, result)


async def main() -> None:
    for work in (calls, confirmations):
        await attempt(work.__name__, work)


asyncio.run(main())
