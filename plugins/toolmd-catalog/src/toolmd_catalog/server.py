"""Find the MCP server that a document belongs to: its own list of tools is exact."""

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress

from toolmd_catalog.phrases.literals import JsonType

_CONFIGURED = re.compile(
    r'"command"\s*:\s*"(npx|uvx|bunx|docker)"\s*,\s*"args"\s*:\s*(\[[^\[\]{}]{0,2000}\])'
)
_COMMA = re.compile(r",\s*\]$")
_TYPED = re.compile(r"^[ \t$>`]*((?:npx|uvx|bunx)(?:[ \t]+[-\w@/.:=]+){1,6})[ \t`]*$", re.MULTILINE)
_ADDRESS = re.compile(r'"url"\s*:\s*"(https?://[^\s"]{1,300}/mcp/?)"')
_OF_SERVERS = re.compile(r"mcp|modelcontextprotocol", re.IGNORECASE)
_JAVASCRIPT = {"npx", "bunx"}
_AROUND_NAMES = re.compile(r"@[^@]*$|^server-|-server$|^mcp-|-mcp$")


def live_import(text: str) -> str:
    """Return the command that imports the server which a document names; empty for none."""
    for words in _commands(text):
        package = next((word for word in words[1:] if _OF_SERVERS.search(word)), "")
        if package:
            return f"toolmd import mcp --live {_short(package)} -- {shlex.join(words)}"
    if (match := _ADDRESS.search(text)) is not None:
        host = match[1].split("/")[2].removeprefix("mcp.").split(".")[0]
        return f"toolmd import mcp --live {_short(host)} --url {match[1]}"
    return ""


def whole_numbers(text: str) -> JsonType:
    """Return the type that the tools of a document's server most likely have for whole numbers.

    JavaScript has only `number`, and few servers in it declare `integer`.
    """
    runners = {words[0] for words in _commands(text)}
    return "number" if runners & _JAVASCRIPT and "uvx" not in runners else "integer"


def _commands(text: str) -> Iterator[list[str]]:
    for match in _CONFIGURED.finditer(text):
        with suppress(ValueError):
            yield [match[1], *map(str, json.loads(_COMMA.sub("]", match[2])))]
    for match in _TYPED.finditer(text):
        yield match[1].split()


def _short(package: str) -> str:
    """Return the name of a server's table: `github` for `@scope/mcp-server-github@1.0`."""
    name = package.rpartition("/")[2].lower()
    before = ""
    while before != name:
        before, name = name, _AROUND_NAMES.sub("", name)
    return re.sub(r"[^a-z0-9_-]", "_", name).strip("_-0123456789")[:64] or "server"
