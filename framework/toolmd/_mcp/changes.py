"""Notify clients of both eras, once for each snapshot, that the lists have changed."""

import asyncio
import logging
from typing import Any
from weakref import WeakSet

from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp.types import NotificationParams

from toolmd._types.registry import Registry
from toolmd._workspace import Workspace

logger = logging.getLogger(__name__)

MAX_STREAMS = 64
"""The most streams of changes at a time; each keeps a connection open."""


class ListChanges:
    """The clients that wait for changes, and the snapshot that they know."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus, max_subscriptions=MAX_STREAMS)
        """The handler of `subscriptions/listen`, the notifications since 2026-07-28."""
        self._connections: WeakSet[Connection] = WeakSet()
        self._told: tuple[Registry, bool] = workspace.registry, False
        """The snapshot, and whether the tool that reads kept results was listed."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._under_way: set[asyncio.Task[None]] = set()

    async def initialized(
        self, ctx: ServerRequestContext[Any, Any], params: NotificationParams
    ) -> None:
        """Store a client of the old era, which is notified over its own connection."""
        del params
        # The SDK creates a session for each message; the connection behind it stays.
        self._connections.add(ctx.session._connection)  # noqa: SLF001

    def serve_here(self) -> None:
        """Store the running loop as the one that serves."""
        self._loop = asyncio.get_running_loop()

    async def changed(self) -> None:
        """Notify every client, if the snapshot is a new one, or the first result is kept."""
        registry, is_open = self._workspace.registry, self._told[1]
        if not is_open:
            is_open = await asyncio.to_thread(self._workspace.results.is_open)
        if registry is self._told[0] and is_open is self._told[1]:
            return
        self._told = registry, is_open
        await self._bus.publish(ToolsListChanged())
        await self._bus.publish(ResourcesListChanged())
        await self._bus.publish(PromptsListChanged())
        for connection in list(self._connections):
            try:
                await connection.send_tool_list_changed()
                await connection.send_resource_list_changed()
                await connection.send_prompt_list_changed()
            except Exception:
                # A disconnected client must not keep the others from being notified.
                logger.exception("a client could not be notified of a change")

    def changed_soon(self) -> None:
        """Schedule `changed`; any thread may call this."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        task = asyncio.ensure_future(self.changed())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    def close(self) -> None:
        """End every stream of changes, so that its client notices."""
        self.listen.close()
