"""List the tools of a running MCP server, by its URL or its start command."""

import asyncio
import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toolmd._import.mcp import read_tools
from toolmd._types.imported import Imported
from toolmd._types.settings import ServerSettings
from toolmd.config.services import DEFAULT_ENV
from toolmd.errors import ConfigError, NotFoundError

_START_S = 180.0
"""How long a server may take to start, in seconds: a launcher may install it first."""


class LiveServer(NamedTuple):
    """A server and its table of settings."""

    name: str
    table: ServerSettings

    @property
    def section(self) -> str:
        """The setting that its table belongs to."""
        return "servers"

    def text(self, prefix: str = "") -> str:
        """Return its table of TOML; `prefix` is `tool.toolmd.` in a pyproject.toml."""
        lines = [f"[{prefix}{self.section}.{self.name}]"]
        if self.table.url:
            lines.append(f"url = {json.dumps(self.table.url)}")
        else:
            lines.append(f"command = {json.dumps(list(self.table.command))}")
            lines.append(f"env = {json.dumps(list(self.table.env))}")
        return "\n".join([*lines, ""])


def table_of(url: str, command: Sequence[str]) -> ServerSettings:
    """Return the table of a server that is imported: its process gets PATH and HOME only."""
    if url:
        return ServerSettings(url=url.rstrip("/"), start_timeout=_START_S)
    env = {name: f"${name}" for name in DEFAULT_ENV}
    return ServerSettings(tuple(command), env=env, start_timeout=_START_S)


def read_live(server: LiveServer, folder: Path) -> tuple[Imported, Mapping[str, str]]:
    """Return a server's tools as drafts that call it, and their definitions by name.

    Raises NotFoundError for an unreachable server, and ConfigError without the package mcp.
    """
    listing = _listing(server.table, folder, server.name)
    return read_tools(listing.raw, server.name), listing.definitions


def list_tools(where: str) -> str:
    """Return the JSON of `tools/list`, all pages joined.

    Raises NotFoundError for an unreachable server, and ConfigError without the package mcp.
    """
    table = table_of(where, ()) if is_url(where) else table_of("", shlex.split(where))
    listing = _listing(table, Path.cwd(), where)
    return json.dumps({"tools": listing.raw}, ensure_ascii=False)


def _listing(table: ServerSettings, folder: Path, shown: str) -> Any:
    from toolmd._gateway import NoSdkError, NotStartedError
    from toolmd._gateway.session import Session

    async def listed() -> Any:
        session = Session(shown, table, folder)
        await session.open()
        try:
            return await session.listing()
        finally:
            await session.close()

    try:
        return asyncio.run(listed())
    except NoSdkError as error:
        raise ConfigError(str(error)) from None
    except NotStartedError as error:
        raise NotFoundError(f"{shown}: no MCP server answers: {error}") from error


def is_url(where: str) -> bool:
    """Return whether a source is a server's URL."""
    return where.startswith(("http://", "https://"))
