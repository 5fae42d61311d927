"""Use the server with LangChain's MCP adapter."""

import asyncio
import sys
from typing import Any

from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp.types import ElicitResult
from told import ANSWERS, ASKED, attempt, server_of, told

KIND, WHERE = server_of(sys.argv[1:])


async def tools(**options: Any) -> dict[str, Any]:
    if KIND == "http":
        headers = {"Authorization": f"Bearer {WHERE[1]}"}
        server: Any = {"transport": "http", "url": WHERE[0], "headers": headers}
    else:
        server = {"transport": "stdio", "command": WHERE[0], "args": WHERE[1:]}
    client = MultiServerMCPClient({"it": server}, **options)
    return {tool.name: tool for tool in await client.get_tools()}


async def result_of(tool: Any, arguments: dict[str, Any]) -> str:
    """Return what the model reads, also of an error."""
    try:
        return str(await tool.ainvoke(arguments))
    except Exception as error:  # noqa: BLE001 - the framework's own exception has the text
        return f"error: {error}"


async def calls() -> None:
    known = await tools()
    told("tools are listed", "test_simple_text" in known)
    simple = await result_of(known["test_simple_text"], {})
    told("a text", simple and not simple.startswith("error"), simple)
    failed = await result_of(known["test_error_handling"], {})
    told("a failure that the model reads", "intended" in failed, failed)


async def confirmations() -> None:
    for action, content, expected in ANSWERS:

        async def answer(*_: Any, action: Any = action, content: Any = content) -> Any:
            return ElicitResult(action=action, content=content)

        known = await tools(callbacks=Callbacks(on_elicitation=answer))
        result = await result_of(known["test_elicitation"], ASKED)
        told(f"the user's {action} of {content}", expected in result, result)
    known = await tools()
    result = await result_of(known["test_elicitation"], ASKED)
    told("without a form nothing runs", "confirmation_required" in result, result)


async def main() -> None:
    for work in (calls, confirmations):
        await attempt(work.__name__, work)


asyncio.run(main())
