"""Clients of every eras are notified of a new snapshot, once."""

import asyncio
from collections.abc import Callable
from typing import Any

from mcp import Client, types

from toolmd import Workspace
from toolmd._mcp.server import McpServer

NEW = """# Shout

Say something loudly.

## Metadata

- **Name**: shout
- **Version**: 1.0.0
- **Category**: test

## Parameters

None

## Returns

- **Type**: string
- **Description**: The shout
"""


def add_tool(workspace: Workspace, name: str = "shout") -> None:
    path = workspace.settings.root / "tools_md" / f"{name}.tool.md"
    path.write_text(NEW.replace("shout", name), "utf-8")
    workspace.reload()


async def names(client: Client) -> set[str]:
    listed = await client.list_tools(cache_mode="refresh")
    return {tool.name for tool in listed.tools}


def test_a_subscriber_is_notified_of_a_new_snapshot_once(
    workspace: Workspace, server: McpServer
) -> None:
    async def run() -> tuple[list[str], set[str]]:
        heard: list[str] = []
        async with (
            Client(server.low) as client,
            client.listen(tools_list_changed=True, resources_list_changed=True) as stream,
        ):
            await server.changed()
            add_tool(workspace)
            for _ in range(3):
                await server.changed()
            add_tool(workspace, "whisper")
            await server.changed()
            server.changes.close()
            heard = [type(event).__name__ async for event in stream]
            return heard, await names(client)

    heard, listed = asyncio.run(run())

    # Two snapshots, two lists each; a client may fold what it has not read yet.
    assert set(heard) == {"ToolsListChanged", "ResourcesListChanged"}
    assert len(heard) <= 4
    assert {"shout", "whisper"} <= listed


def test_a_client_of_the_old_era_is_notified_of_a_new_snapshot_once(
    workspace: Workspace, server: McpServer
) -> None:
    async def run() -> tuple[list[str], set[str]]:
        heard: list[str] = []
        every = asyncio.Event()

        async def hear(message: Any) -> None:
            if isinstance(message, types.ServerNotification):
                heard.append(message.method)
                if "resources" in message.method:
                    every.set()

        async with Client(server.low, mode="legacy", message_handler=hear) as client:
            assert client.server_capabilities.tools is not None
            assert client.server_capabilities.tools.list_changed
            await names(client)
            await server.changed()
            add_tool(workspace)
            for _ in range(3):
                await server.changed()
            await asyncio.wait_for(every.wait(), 10)
            return heard, await names(client)

    heard, listed = asyncio.run(run())

    assert heard == [f"notifications/{kind}/list_changed" for kind in ("tools", "resources")]
    assert "shout" in listed


def test_another_thread_may_report_a_change(workspace: Workspace, server: McpServer) -> None:
    async def run() -> str:
        server.changes.serve_here()
        async with (
            Client(server.low) as client,
            client.listen(tools_list_changed=True) as stream,
        ):

            def elsewhere() -> None:
                add_tool(workspace)
                server.changed_soon()

            await asyncio.to_thread(elsewhere)
            async for event in stream:
                return type(event).__name__
        return ""

    assert asyncio.run(run()) == "ToolsListChanged"


def test_a_disconnected_client_does_not_block_notifications(
    workspace: Workspace, server: McpServer, person: Callable[..., Any]
) -> None:
    async def run() -> None:
        async with Client(server.low, mode="legacy") as gone:
            await names(gone)
        async with Client(server.low) as client, client.listen(tools_list_changed=True) as stream:
            add_tool(workspace)
            await server.changed()
            async for _ in stream:
                break

    asyncio.run(run())
