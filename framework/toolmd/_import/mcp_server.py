"""List the tools of a running MCP server, by its URL or its start command."""

import asyncio
import json
import shlex
import sys
from typing import Any

from toolmd.errors import ConfigError, NotFoundError

TIMEOUT_S = 30
_MOST_PAGES = 100


def list_tools(where: str) -> str:
    """Return the JSON of `tools/list`, all pages joined.

    Raises NotFoundError for an unreachable server, and ConfigError without the package mcp.
    """
    try:
        tools = asyncio.run(asyncio.wait_for(_listed(where), TIMEOUT_S))
    except ImportError:
        message = "a live server needs the package mcp: pip install 'toolmd[mcp]'"
        raise ConfigError(message) from None
    except Exception as error:
        # The client nests its errors in groups; the innermost one has the cause.
        raise NotFoundError(f"{where}: no MCP server answers: {_innermost(error)}") from error
    return json.dumps({"tools": tools}, ensure_ascii=False)


async def _listed(where: str) -> list[dict[str, Any]]:
    from mcp import Client, StdioServerParameters, stdio_client

    server: Any = where
    if not is_url(where):
        command, *arguments = shlex.split(where)
        parameters = StdioServerParameters(command=command, args=arguments)
        # Errors of the server go to the terminal; a replaced stderr has no file descriptor.
        server = stdio_client(parameters, errlog=sys.__stderr__ or sys.stderr)
    tools: list[dict[str, Any]] = []
    async with Client(server) as client:
        cursor = None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += [tool.model_dump(mode="json", by_alias=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                break
    return tools


def is_url(where: str) -> bool:
    """Return whether a source is a server's URL."""
    return where.startswith(("http://", "https://"))


def _innermost(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}".rstrip(": ")
