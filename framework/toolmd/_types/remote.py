"""What `Implemented By` names outside of Python: a web service's operation, or a tool of MCP."""

import re
from typing import NamedTuple

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_WRITTEN = re.compile(r"(?i:http)[ \t]+([A-Za-z]+)[ \t]+(?:([a-z][a-z0-9_-]{0,63}):)?(/\S*)")
_PLACEHOLDER = re.compile(r"\{([^{}/]+)\}")
_LITERAL = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*")
_DOTS = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)


class Operation(NamedTuple):
    """A method and a path of a service."""

    method: str
    service: str
    """The name of `[services.NAME]`; empty for the only one."""
    path: str
    """The path below the service's URL, with `{name}` for each path parameter."""

    def __str__(self) -> str:
        """Return the operation as a file has it: `http GET petstore:/pets/{id}`."""
        return f"http {self.method} {self.service and self.service + ':'}{self.path}"

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The names of the path parameters."""
        return tuple(dict.fromkeys(_PLACEHOLDER.findall(self.path)))

    def fill(self, parts: dict[str, str]) -> str:
        """Return the path with these encoded parts."""
        return _PLACEHOLDER.sub(lambda match: parts[match[1]], self.path)


def read_operation(text: str) -> Operation | None:
    """Read `http METHOD PATH` or `http METHOD SERVICE:PATH`; None for anything else."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None or match[1].upper() not in METHODS:
        return None
    path = match[3]
    bare = _PLACEHOLDER.sub("x", path)
    if not _LITERAL.fullmatch(bare) or has_dots(bare):
        return None
    return Operation(match[1].upper(), match[2] or "", path)


def has_dots(path: str) -> bool:
    """Return whether a path has a `.` or `..` segment, which leads elsewhere."""
    return any(_DOTS.fullmatch(segment) for segment in path.split("/"))


_WRITTEN_MCP = re.compile(r"(?i:mcp)[ \t]+([a-z][a-z0-9_-]{0,63})[ \t]+([A-Za-z0-9_./:-]{1,128})")


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
    match = _WRITTEN_MCP.fullmatch(text.strip())
    return RemoteTool(match[1], match[2]) if match is not None else None
