"""Compare the tools of MCP servers with those that were accepted."""

import asyncio
from collections.abc import Mapping
from typing import Any

from toolmd._remote.mcp.definition import differences
from toolmd._remote.mcp.error import NotStartedError
from toolmd._remote.mcp.projects import begin_project
from toolmd._remote.mcp.servers import Servers, close_servers
from toolmd._store.records import Pin
from toolmd._store.store import Store
from toolmd._types.remote_tool import read_remote_tool
from toolmd._types.settings import Settings
from toolmd.errors import ConfigError


async def look_at_server(
    settings: Settings, name: str, files: Mapping[str, str], *, accept: bool = False
) -> dict[str, Any]:
    """Ask a server for its tools; return its state, its problem, and the state of each tool.

    Args:
        settings: The project's settings.
        name: The server's name there.
        files: The server's name of each tool that a file names, and the name in the file.
        accept: Whether to accept the tools with a file as they are now.

    Returns:
        `server`, `state` (`running` or `unreachable`), `problem`, and `tools`: a list of `tool`,
        `file`, `state` (`accepted`, `changed` or `closed`) and `changes`, which with `accept` are
        those that were accepted.

    Raises:
        NotFoundError: The settings have no such server.
        ConfigError: The package mcp is not installed.
    """
    servers = Servers(settings, store := Store(settings.store, settings.state))
    for tool, own in files.items():
        if (remote := read_remote_tool(f"mcp {name} {tool}")) is not None and own:
            servers.want(remote)
    before: Mapping[str, Pin] = {}
    begin_project(settings.root)
    try:
        listing = await (await servers.session(name, None)).listing()
        if accept:
            before = await asyncio.to_thread(store.pins.of, name)
            known = {tool: listing.definitions.get(tool, "") for tool in files}
            await asyncio.to_thread(servers.accept, name, known)
        pins = await asyncio.to_thread(servers.see, name, listing)
    except ImportError:
        message = "an MCP server needs the package mcp: pip install 'toolmd[mcp]'"
        raise ConfigError(message) from None
    except NotStartedError as error:
        return {"server": name, "state": "unreachable", "problem": str(error), "tools": []}
    finally:
        await asyncio.to_thread(close_servers, settings.root)
        store.close()
    tools = [
        _row(tool, files, (before.get(tool), pins.get(tool)), listing.definitions.get(tool, ""))
        for tool in dict.fromkeys([*files, *listing.definitions])
    ]
    return {"server": name, "state": "running", "problem": None, "tools": tools}


def _row(
    tool: str, files: Mapping[str, str], pins: tuple[Pin | None, Pin | None], seen: str
) -> dict[str, Any]:
    """Return the state of one tool; `seen` is its definition, empty where it is not listed once.

    `pins` has what was accepted before and what is accepted now.
    """
    before, pin = pins
    row: dict[str, Any] = {"tool": tool, "file": files.get(tool), "changes": []}
    if tool not in files:
        return {**row, "state": "closed"}
    if pin is not None and not pin.is_changed:
        if before is not None:
            row["changes"] = list(differences(before.accepted, pin.accepted))
        return {**row, "state": "accepted"}
    told = differences(pin.accepted if pin is not None else "{}", seen)
    return {**row, "state": "changed", "changes": list(told)}
