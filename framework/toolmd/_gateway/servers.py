"""The servers of a project: their tables, their accepted tools, and their sessions."""

import asyncio
import sys
import threading
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from toolmd._gateway import LostAnswerError, NoSdkError, NotStartedError
from toolmd._gateway.pins import look, read_pins
from toolmd._store.records import Pin
from toolmd._store.store import Store
from toolmd._types.asked import Asked
from toolmd._types.remote import RemoteTool
from toolmd._types.settings import ServerSettings, Settings
from toolmd.errors import ConfigError, NotFoundError, SuspendedToolError, did_you_mean

if TYPE_CHECKING:
    from toolmd._gateway.connection import Listing
    from toolmd._gateway.session import Session


_OPEN: dict[Path, WeakSet[Any]] = {}
"""Who has each folder open; a process may open a project several times."""
_LOCK = threading.Lock()


def begin_project(folder: Path, owner: object) -> None:
    """Let the servers of a project run until each of its owners has ended it."""
    with _LOCK:
        _OPEN.setdefault(folder, WeakSet()).add(owner)


def end_project(folder: Path, owner: object) -> bool:
    """Return whether this was the last owner: no server of the project may start any more."""
    with _LOCK:
        owners = _OPEN.get(folder, WeakSet())
        owners.discard(owner)
        if is_last := not owners:
            _OPEN.pop(folder, None)
        return is_last


def is_project_open(folder: Path) -> bool:
    """Return whether a project's servers may start."""
    return bool(_OPEN.get(folder))


class Servers:
    """The MCP servers that a project's tools name; nothing starts before a call."""

    def __init__(self, settings: Settings, store: Store) -> None:
        """Keep the settings, and the store of accepted tools."""
        self.tables: Mapping[str, ServerSettings] = settings.servers
        self._texts = {name: repr(table) for name, table in settings.servers.items()}
        self._folder = settings.root
        self._store = store
        self._wanted: dict[str, set[str]] = {}
        begin_project(self._folder, store)

    def want(self, remote: RemoteTool) -> None:
        """Note that a file names this tool; it is pinned when the server is first asked."""
        self._wanted.setdefault(remote.server, set()).add(remote.tool)

    def table(self, name: str) -> ServerSettings:
        """Return the table of a server; raises NotFoundError with the remedy."""
        table = self.tables.get(name)
        if table is None:
            known = did_you_mean(name, self.tables) or f"write the table [servers.{name}]"
            raise NotFoundError(f"the settings have no server {name!r}: {known}")
        return table

    async def session(self, name: str, user: str | None) -> "Session":
        """Return the session of a user with a server; raises NotStartedError."""
        from toolmd._gateway.pool import POOL, Key

        table = self.table(name)
        whose = None if table.shared else user
        key = Key(self._folder, name, self._texts[name], whose)
        is_open = partial(is_project_open, self._folder)
        session = await POOL.session(key, table, is_open)
        session.tools.seen = partial(self.see, name)
        return session

    async def resume(self, answered: Asked) -> "tuple[Session, Any]":
        """Answer the question of a call that waits in this process.

        Returns its session and its outcome; raises LostAnswerError where it does not wait any more.
        """
        from mcp_types import ElicitResult

        from toolmd._gateway.pool import POOL

        if (parked := POOL.parked(answered.parked)) is None:
            raise LostAnswerError("the server no longer waits for the answer")
        session, running = parked
        content = dict(answered.content) if answered.action == "accept" else None
        answer = ElicitResult(action=answered.action or "cancel", content=content)
        return session, await session.resume(running, answer)

    async def accepted(self, remote: RemoteTool, listing: "Listing") -> str:
        """Return the accepted definition of a tool.

        Raises SuspendedToolError where the server changed it, or does not list it. Another process
        may have noticed the change.
        """
        pin = None
        if self._store in listing.noted:
            (pin,) = await read_pins(self._store, (remote.server, remote.tool))
        if pin is None:
            pins = await asyncio.to_thread(self.see, remote.server, listing)
            pin = pins.get(remote.tool)
        if pin is None:
            message = f"The server {remote.server} has no tool {remote.tool}. Nothing was sent."
            raise SuspendedToolError(message)
        if pin.is_changed:
            message = f"The server changed {remote.tool} since it was accepted. Nothing was sent."
            remedy = f"An operator must look: toolmd servers {remote.server}"
            # The difference holds foreign text, so the operator reads it and no model.
            raise SuspendedToolError(f"{message} {remedy}")
        return pin.accepted

    def see(self, name: str, listing: "Listing") -> Mapping[str, "Pin"]:
        """Note the tools that a server lists, and return its pins; it blocks."""
        is_new, wanted = self._store not in listing.noted, self._wanted.get(name, ())
        pins = self._store.pins.see(name, listing.definitions, wanted, is_new=is_new)
        listing.noted.add(self._store)
        return pins

    def may_answer(self, asked: Asked) -> bool:
        """Return whether this process can answer a question: another one may have the session."""
        pool: Any = sys.modules.get("toolmd._gateway.pool")
        return not asked.parked or (pool is not None and pool.POOL.parked(asked.parked) is not None)

    def close(self) -> None:
        """End the sessions of the project, unless it is open once more; it blocks."""
        pool: Any = sys.modules.get("toolmd._gateway.pool")
        if end_project(self._folder, self._store) and pool is not None:
            pool.POOL.close(self._folder)

    def changed(self, remotes: Iterable[RemoteTool]) -> Mapping[RemoteTool, "Pin"]:
        """Return the tools that are known to have changed, without asking the servers; it blocks.

        The pin of each has what was accepted, and what was seen last.
        """
        wanted = tuple(remotes)
        tools: dict[str, list[str]] = {}
        for one in wanted:
            tools.setdefault(one.server, []).append(one.tool)
        known = {name: self._store.pins.of(name, listed) for name, listed in tools.items()}
        pins = {one: known[one.server].get(one.tool) for one in wanted}
        return {one: pin for one, pin in pins.items() if pin is not None and pin.is_changed}


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
        `server`, `state` (`running` or `unreachable`), `problem`, and as `tools` what `look`
        returns.

    Raises:
        NotFoundError: The settings have no such server.
        ConfigError: The package mcp is not installed.
    """
    servers = Servers(settings, store := Store(settings.store, settings.state))
    try:
        listing = await (await servers.session(name, None)).listing()
        seen = listing.definitions
        tools = await asyncio.to_thread(look, store, name, files, seen, accept=accept)
    except NoSdkError as error:
        raise ConfigError(str(error)) from None
    except NotStartedError as error:
        return {"server": name, "state": "unreachable", "problem": str(error), "tools": []}
    finally:
        await asyncio.to_thread(servers.close)
        store.close()
    return {"server": name, "state": "running", "problem": None, "tools": tools}
