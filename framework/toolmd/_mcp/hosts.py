"""Build the configuration with which a host finds this server; it is printed, not written."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

TOKEN_VARIABLE = "TOOLMD_TOKEN"  # noqa: S105 - the name of a variable
TOML_HOSTS = frozenset(("codex",))
"""The hosts whose settings are TOML; those of the others are JSON."""
_FROM_ENVIRONMENT: Mapping[str, str] = {
    "claude": f"${{{TOKEN_VARIABLE}}}",
    "cursor": f"${{env:{TOKEN_VARIABLE}}}",
    "gemini": f"${{{TOKEN_VARIABLE}}}",
    "vscode": "${input:toolmd-token}",
}


def over_stdio(host: str, name: str, command: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Return the configuration of a host that starts the server itself."""
    server: dict[str, Any] = {"command": command, "args": list(arguments)}
    if host == "vscode":
        return {"servers": {name: {"type": "stdio", **server}}}
    if host == "codex":
        return {"mcp_servers": {name: server}}
    return {"mcpServers": {name: server}}


def over_http(host: str, name: str, url: str) -> dict[str, Any]:
    """Return the configuration of a host that connects to a running server.

    The token is not in the file: the host reads it from the environment, or asks for it.
    """
    if host == "codex":
        return {"mcp_servers": {name: {"url": url, "bearer_token_env_var": TOKEN_VARIABLE}}}
    headers = {"Authorization": f"Bearer {_FROM_ENVIRONMENT[host]}"}
    if host == "cursor":
        return {"mcpServers": {name: {"url": url, "headers": headers}}}
    if host == "gemini":
        return {"mcpServers": {name: {"httpUrl": url, "headers": headers}}}
    server = {"type": "http", "url": url, "headers": headers}
    if host == "vscode":
        asked = {
            "type": "promptString",
            "id": "toolmd-token",
            "description": "The token that toolmd serve printed",
            "password": True,
        }
        return {"inputs": [asked], "servers": {name: server}}
    return {"mcpServers": {name: server}}


def as_toml(settings: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Return the configuration of a host as TOML."""
    lines = []
    for section, servers in settings.items():
        for name, server in servers.items():
            # A string of JSON, and a list of them, is TOML as well.
            pairs = ((key, json.dumps(value, ensure_ascii=False)) for key, value in server.items())
            lines += [f"[{section}.{name}]", *(f"{key} = {value}" for key, value in pairs)]
    return "\n".join(lines)
