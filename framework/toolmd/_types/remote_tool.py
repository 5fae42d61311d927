"""The tool of an MCP server, as `Implemented By: mcp SERVER TOOL` names it."""

import re
from typing import NamedTuple

_WRITTEN = re.compile(r"(?i:mcp)[ \t]+([a-z][a-z0-9_-]{0,63})[ \t]+([A-Za-z0-9_./:-]{1,128})")


class RemoteTool(NamedTuple):
    """A server of the settings, and the name of one of its tools."""

    server: str
    """The name of `[servers.NAME]`."""
    tool: str
    """The server's name of the tool."""

    def __str__(self) -> str:
        """Return it as a file has it: `mcp github create_issue`."""
        return f"mcp {self.server} {self.tool}"


def read_remote_tool(text: str) -> RemoteTool | None:
    """Read `mcp SERVER TOOL`; None for anything else."""
    match = _WRITTEN.fullmatch(text.strip())
    return RemoteTool(match[1], match[2]) if match is not None else None
