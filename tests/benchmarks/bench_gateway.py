"""Measure a call of an MCP server's tool through Toolmd, compared with the client of the SDK."""

import asyncio
import json
import logging
import statistics
import sys
import tempfile
import time
from pathlib import Path

SERVER = Path(__file__).parents[1] / "gateway" / "plain_server.py"
CALLS = 400
TOOL = """\
# Echo

Return what was given.

## Metadata

- **Name**: echo
- **Version**: 1.0.0
- **Category**: general
- **Implemented By**: mcp plain echo

## Parameters

- `text` (string): A text

## Returns

- **Type**: any
- **Description**: What the server returns
"""
LISTED = {
    "name": "echo",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}


def gateway():
    """Yield the processor time of a call through Toolmd over that of the SDK's own client."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # the server writes a banner on purpose
    with tempfile.TemporaryDirectory() as place:
        direct, ours = asyncio.run(_measured(Path(place)))
    note = f"{ours * 1e6:,.0f} and {direct * 1e6:,.0f} µs"
    yield "a call of an MCP server's tool / the SDK", ours / direct, 2.2, note


async def _measured(place):
    """Return the median seconds of a call of the client, and through Toolmd, in turns."""
    from mcp import Client, StdioServerParameters

    from toolmd import Workspace

    (place / "tools_md").mkdir()
    (place / "tools_md" / "echo.tool.md").write_text(TOOL, encoding="utf-8")
    for name in ("own", "guarded"):
        (place / name).mkdir()
        (place / name / "tools.json").write_text(json.dumps([LISTED]), encoding="utf-8")
    command = json.dumps([sys.executable, "-S", str(SERVER), str(place / "guarded")])
    settings = f"[servers.plain]\ncommand = {command}\n"
    (place / "toolmd.toml").write_text(settings, encoding="utf-8")
    parameters = StdioServerParameters(
        command=sys.executable, args=["-S", str(SERVER), str(place / "own")]
    )
    times = {"direct": [], "ours": []}
    with Workspace.open(place) as workspace:
        async with Client(parameters, mode="auto") as client:
            for number in range(CALLS + 50):
                began = time.process_time()
                await client.session.call_tool("echo", {"text": "hello"})
                between = time.process_time()
                result = await workspace.call("echo", {"text": "hello"})
                ended = time.process_time()
                assert result.success, result
                if number >= 50:
                    times["direct"].append(between - began)
                    times["ours"].append(ended - between)
    return statistics.median(times["direct"]), statistics.median(times["ours"])
