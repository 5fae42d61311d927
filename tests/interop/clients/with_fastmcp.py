"""Use the server with the client of fastmcp."""

import asyncio
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from told import ANSWERS, ASKED, attempt, kinds, server_of, texts, told

KIND, WHERE = server_of(sys.argv[1:])


def made(**options: Any) -> Client:
    if KIND == "http":
        transport: Any = StreamableHttpTransport(WHERE[0], auth=WHERE[1])
    else:
        transport = StdioTransport(command=WHERE[0], args=WHERE[1:], keep_alive=False)
    return Client(transport, **options)


def person(action: str, content: dict[str, Any] | None = None) -> Any:
    async def answer(message: str, response_type: Any, params: Any, context: Any) -> ElicitResult:
        return ElicitResult(action=action, content=content)  # type: ignore[arg-type]

    return answer


async def lists() -> None:
    async with made() as client:
        tools = await client.list_tools()
        told("tools are listed", "test_simple_text" in [tool.name for tool in tools])
        resources = await client.list_resources()
        read = await client.read_resource(resources[0].uri)
        told("a skill's file is read", read[0].text.startswith("---"))


async def results() -> None:
    heard = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    async with made(progress_handler=hear) as client:
        simple = await client.call_tool("test_simple_text")
        told("a text", simple.structured_content == {"result": texts(simple)}, simple)
        mixed = await client.call_tool("test_multiple_content_types")
        told("mixed content", kinds(mixed) == ["text", "image", "resource"])
        failed = await client.call_tool("test_error_handling", raise_on_error=False)
        told("a failure that the model reads", failed.is_error and "intended:" in texts(failed))
        await client.call_tool("test_tool_with_progress")
        told("progress", heard == [0.0, 0.5, 1.0], heard)


async def confirmations() -> None:
    for action, content, expected in ANSWERS:
        async with made(elicitation_handler=person(action, content)) as client:
            result = await client.call_tool("test_elicitation", ASKED, raise_on_error=False)
            told(f"the user's {action} of {content}", expected in texts(result), texts(result))
    async with made() as client:
        result = await client.call_tool("test_elicitation", ASKED, raise_on_error=False)
        refused = result.is_error and "confirmation_required" in texts(result)
        told("without a form nothing runs", refused, texts(result))


async def main() -> None:
    for work in (lists, results, confirmations):
        await attempt(work.__name__, work)


asyncio.run(main())
