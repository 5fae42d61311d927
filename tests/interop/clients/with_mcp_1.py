"""Use the server with the SDK of the era before: `mcp<2`."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from typing import Any

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl
from told import attempt, kinds, server_of, texts, told

KIND, WHERE = server_of(sys.argv[1:])


@contextlib.asynccontextmanager
async def session(**options: Any) -> AsyncIterator[ClientSession]:
    async with contextlib.AsyncExitStack() as stack:
        if KIND == "http":
            headers = {"Authorization": f"Bearer {WHERE[1]}"}
            ways = await stack.enter_async_context(streamablehttp_client(WHERE[0], headers=headers))
        else:
            command = StdioServerParameters(command=WHERE[0], args=WHERE[1:])
            ways = await stack.enter_async_context(stdio_client(command))
        yield await stack.enter_async_context(ClientSession(ways[0], ways[1], **options))


def person(action: str, content: dict[str, Any] | None = None) -> Any:
    async def answer(context: Any, params: Any) -> types.ElicitResult:
        return types.ElicitResult(action=action, content=content)  # type: ignore[arg-type]

    return answer


async def lists() -> None:
    async with session() as client:
        hello = await client.initialize()
        told("the handshake", hello.protocolVersion == "2025-11-25", hello.protocolVersion)
        changes = hello.capabilities.tools and hello.capabilities.tools.listChanged
        told("it says that its tools may change", changes)
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        told("tools are listed, sorted", list(tools) == sorted(tools))
        annotations = [tool.annotations for tool in tools.values()]
        four = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
        told(
            "all four annotations",
            all(getattr(a, n) is not None for a in annotations for n in four),
        )
        resources = (await client.list_resources()).resources
        read = await client.read_resource(resources[0].uri)
        told("a skill's file is read", read.contents[0].text.startswith("---"))
        try:
            await client.read_resource(AnyUrl("skill://nothing/SKILL.md"))
        except McpError as error:
            told("an unknown resource is refused", error.error.code == -32602)
        await client.send_ping()


async def results() -> None:
    async with session() as client:
        await client.initialize()
        await client.list_tools()
        simple = await client.call_tool("test_simple_text")
        told("a text", simple.structuredContent == {"result": texts(simple)})
        told("a picture", kinds(await client.call_tool("test_image_content")) == ["image"])
        told("a sound", kinds(await client.call_tool("test_audio_content")) == ["audio"])
        mixed = await client.call_tool("test_multiple_content_types")
        told("mixed content", kinds(mixed) == ["text", "image", "resource"])
        failed = await client.call_tool("test_error_handling")
        told("a failure that the model reads", failed.isError and "intended:" in texts(failed))
        wrong = await client.call_tool("test_elicitation", {"message": 3})
        told("arguments are judged by the door", wrong.isError and "message" in texts(wrong))
        heard = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append(progress)

        await client.call_tool("test_tool_with_progress", progress_callback=hear)
        told("progress", heard == [0.0, 0.5, 1.0], heard)
        try:
            await client.call_tool("no_such_tool")
        except McpError as error:
            told("an unknown tool is an error", error.error.code == -32602)


async def confirmations() -> None:
    asked = {"message": "hello"}
    edit = {"username": "ana", "email": "ana@example.org"}
    for action, content in (("accept", edit), ("decline", None), ("cancel", None)):
        async with session(elicitation_callback=person(action, content)) as client:
            await client.initialize()
            result = await client.call_tool("test_elicitation", asked)
            ran = not result.isError and "ana <ana@example.org>" in texts(result)
            told(f"the user's {action}", ran == (action == "accept"), texts(result))
    async with session() as client:
        await client.initialize()
        result = await client.call_tool("test_elicitation", asked)
        code = (result.structuredContent or {})["error"]["code"]
        told("without a form nothing runs", result.isError and code == "confirmation_required")
    words = person("accept", {"user_name": "Ana"})
    async with session(elicitation_callback=words) as client:
        await client.initialize()
        result = await client.call_tool("test_input_required_result_elicitation")
        given = (result.structuredContent or {}).get("data")
        told("a skill asks for words", given == {"name": "Ana"}, given)


async def changes() -> None:
    heard = asyncio.Event()

    async def hear(message: Any) -> None:
        if isinstance(getattr(message, "root", None), types.ToolListChangedNotification):
            heard.set()

    async with session(message_handler=hear) as client:
        await client.initialize()
        await client.call_tool("test_trigger_tool_change")
        async with asyncio.timeout(10):
            await heard.wait()
        names = [tool.name for tool in (await client.list_tools()).tools]
        told("a changed list is told", "grown_tool" in names)


async def main() -> None:
    for work in (lists, results, confirmations, changes):
        await attempt(work.__name__, work)


asyncio.run(main())
