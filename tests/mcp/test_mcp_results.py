"""Over MCP, a large result stays within its schema, and its rest is read by its handle."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from toolmd import Workspace
from toolmd._mcp.callers import Callers
from toolmd._mcp.server import McpServer
from toolmd._types.call import Caller

TOOL = """\
# {name}

Returns much.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: test

## Parameters

None

## Returns

- **Type**: object
{more}- **Properties**:
  - **total**:
    - **Type**: integer
    - **Required**: true
  - **rows**:
    - **Type**: array
    - **Required**: true
    - **Min Items**: {least}
    - **Items**:
      - **Type**: object
      - **Properties**:
        - **id**:
          - **Type**: integer
          - **Required**: true
        - **text**:
          - **Type**: string
          - **Required**: true
"""
PYTHON = """\
def {name}():
    return {{"total": 500, "rows": [{{"id": n, "text": "x" * 1000}} for n in range(500)]}}
"""
DRAW = """\
# Draw

Draws.

## Metadata

- **Name**: draw
- **Version**: 1.0.0
- **Category**: test

## Parameters

None

## Returns

- **Type**: object
"""
DRAW_PYTHON = """\
from toolmd import File, Image

def draw():
    image = Image(b"\\x89PNG\\r\\n\\x1a\\n")
    return {"image": image, "sound": File(b"s", "audio/wav"), "table": File(b"a,b", name="t.csv")}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    tools = tmp_path / "tools_md"
    tools.mkdir()
    (tmp_path / "toolmd.toml").write_text("plugins = []\n")
    for name, more, least in (
        ("rows", "", 0), ("all_rows", "", 500), ("ids", "- **To Model**: total, id\n", 0),
    ):  # fmt: skip
        text = TOOL.format(name=name, more=more, least=least)
        (tools / f"{name}.tool.md").write_text(text)
        (tools / f"{name}.py").write_text(PYTHON.format(name=name))
    (tools / "draw.tool.md").write_text(DRAW)
    (tools / "draw.py").write_text(DRAW_PYTHON)
    return tmp_path


@pytest.fixture
def server(workspace: Workspace) -> McpServer:
    return McpServer(workspace, Callers(Caller("ana")))


def over(server: McpServer, use: Callable[[Client], Awaitable[None]]) -> None:
    async def main() -> None:
        async with Client(server.low) as client:
            await use(client)

    asyncio.run(main())


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


def text_of(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


# The client of the SDK rejects a structured result that does not fit the listed schema.
def test_a_large_result_is_cut_within_its_schema(server: McpServer) -> None:
    async def use(client: Client) -> None:
        before = await names(client)
        result = await client.call_tool("rows", {})
        after = await names(client)

        assert not result.is_error
        assert 0 < len(result.structured_content["rows"]) < 500
        assert result.structured_content["total"] == 500
        assert len(text_of(result).encode()) <= 32 << 10
        assert (before, after - before) == (before, {"read_result"})

    over(server, use)


def test_the_rest_is_read_by_its_handle(server: McpServer) -> None:
    async def use(client: Client) -> None:
        told = text_of(await client.call_tool("rows", {}))
        handle = "r-" + told.rpartition("handle r-")[2][:16]

        page = await client.call_tool("read_result", {"handle": handle, "path": "rows[499].id"})

        assert page.structured_content["value"] == 499

    over(server, use)


def test_a_model_sees_the_fields_of_to_model_and_its_schema_says_so(server: McpServer) -> None:
    async def use(client: Client) -> None:
        (tool,) = [one for one in (await client.list_tools()).tools if one.name == "ids"]
        result = await client.call_tool("ids", {})

        assert result.structured_content["rows"][499] == {"id": 499}
        assert "text" not in tool.output_schema["properties"]["rows"]["items"]["properties"]

    over(server, use)


def test_a_result_of_which_no_part_fits_its_schema_names_its_handle(server: McpServer) -> None:
    async def use(client: Client) -> None:
        result = await client.call_tool("all_rows", {})

        assert result.is_error
        assert text_of(result).startswith("result_too_large: ")
        assert "ran and took effect" in text_of(result)
        assert len(text_of(result)) < 1000

    over(server, use)


def test_images_sounds_and_files_are_content_of_the_protocol(server: McpServer) -> None:
    async def use(client: Client) -> None:
        result = await client.call_tool("draw", {})

        text, image, sound, file = result.content
        assert "base64" not in text.text
        assert result.structured_content["image"]["media_type"] == "image/png"
        assert base64.b64decode(image.data) == b"\x89PNG\r\n\x1a\n"
        assert (sound.type, sound.mime_type) == ("audio", "audio/wav")
        assert base64.b64decode(file.resource.blob) == b"a,b"
        assert str(file.resource.uri) == "toolmd://result/t.csv"

    over(server, use)
