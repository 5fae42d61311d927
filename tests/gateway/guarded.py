"""A project whose tools are those of a small MCP server."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from toolmd import Result, Workspace

SERVER = Path(__file__).with_name("plain_server.py")
TOOL = """\
# {title}

Return what was given.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: general
- **Implemented By**: mcp plain {remote}

## Parameters

- **text**:
  - **Type**: string
  - **Required**: {required}
  - **Description**: A text

## Returns

- **Type**: any
- **Description**: What the server returns
{more}"""


def listed(name: str, **more: Any) -> dict[str, Any]:
    """Return a tool as a server lists it."""
    fields = {"text": {"type": "string"}, "seconds": {"type": "number"}}
    return {
        "name": name,
        "description": f"Tool {name}",
        "inputSchema": {"type": "object", "properties": fields},
        **more,
    }


class Guarded:
    """A project in a folder, with the server's files in a folder of its own."""

    def __init__(self, root: Path, *names: str, table: str = "", more: str = "") -> None:
        self.root = root
        self.files = root / "server"
        self.files.mkdir(parents=True)
        (root / "tools_md").mkdir()
        command = json.dumps([sys.executable, "-S", str(SERVER), str(self.files)])
        (root / "toolmd.toml").write_text(
            f"[servers.plain]\ncommand = {command}\n{table}\n", encoding="utf-8"
        )
        for name in names:
            self.add(name, more=more)
        self.serve(*(listed(name) for name in names))

    def add(self, name: str, remote: str = "", *, more: str = "", required: bool = False) -> None:
        """Write the file of one tool."""
        text = TOOL.format(
            title=name.capitalize(),
            name=name,
            remote=remote or name,
            more=f"\n{more}\n" if more else "",
            required=str(required).lower(),
        )
        (self.root / "tools_md" / f"{name}.tool.md").write_text(text, encoding="utf-8")

    def serve(self, *tools: Any) -> None:
        """Write what the server lists from now on."""
        (self.files / "tools.json").write_text(json.dumps(tools), encoding="utf-8")

    def lines(self, file: str) -> list[str]:
        """Return the lines that the server wrote to a file."""
        path = self.files / file
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def open(self) -> Workspace:
        """Open the project."""
        return Workspace.open(self.root)


def called(workspace: Workspace, name: str, **arguments: Any) -> Result:
    """Return the result of one call, in an event loop of its own."""
    return asyncio.run(workspace.call(name, arguments))
