"""List the tools of a snapshot, and notify clients of both protocols, once for each change."""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakSet

from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp.types import NotificationParams, Tool

from toolmd._export.exported import Exported
from toolmd._export.function import CONFIDENCE
from toolmd._export.mcp import WRAPPED
from toolmd._mcp.results import gives_blocks
from toolmd._types.registry import Registry
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._workspace import Workspace
from toolmd._workspace.names import Names
from toolmd.errors import UnreachableError


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as clients see it, and its definition."""

    tool: dict[str, Any]
    spec: ToolSpec | SkillSpec
    wrapped: bool
    """Whether the result is in `structuredContent.result`."""
    blocks: bool
    """Whether the result is content blocks: images, audio, resources."""

    @property
    def takes_confidence(self) -> bool:
        """Whether a call states the model's confidence."""
        properties: dict[str, Any] = self.tool["inputSchema"]["properties"]
        own = {parameter.name for parameter in self.spec.parameters}
        return CONFIDENCE in properties and CONFIDENCE not in own


class Catalog:
    """The list of the current snapshot, sorted by name, built once for each snapshot."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._built: tuple[Registry, bool, dict[str, Listed]] | None = None
        self.is_remote = False
        """Whether a tool of an MCP server or a service is listed, which may be suspended."""

    async def load(self) -> dict[str, Listed]:
        """Return the tools and skills that can be called, by their listed names."""
        workspace, built = self._workspace, self._built
        if (
            built is None
            or built[0] is not workspace.registry
            or built[1] is not workspace.results.is_open()
        ):
            built = self._built = await asyncio.to_thread(self._build)
            specs = [one.spec for one in built[2].values()]
            self.is_remote = any(isinstance(s, ToolSpec) and s.implemented_by for s in specs)
        return built[2]

    def _build(self) -> tuple[Registry, bool, dict[str, Listed]]:
        workspace = self._workspace
        while True:
            registry, is_open = workspace.registry, workspace.results.is_open()
            tools, exported = workspace.results.tools(), workspace.exported("mcp")
            # Build again if a reload came in between: a list must not mix two snapshots.
            if registry is workspace.registry:
                return registry, is_open, _listed(replace(registry, tools=tools), exported)


def _listed(registry: Registry, exported: Exported) -> dict[str, Listed]:
    names = Names(registry)
    assert isinstance(exported.items, list)
    listed = {}
    for item in sorted(exported.items, key=lambda item: str(item["name"])):
        bound = names.find(item["name"])
        if bound is None:
            continue
        spec = bound.spec
        blocks = isinstance(spec, ToolSpec) and gives_blocks(spec.returns)
        fields = {k: v for k, v in item.items() if not (blocks and k == "outputSchema")}
        wrapped = bool(item["_meta"].get(WRAPPED))
        tool = Tool.model_validate(fields).model_dump(by_alias=True, mode="json", exclude_none=True)
        listed[item["name"]] = Listed(tool, spec, wrapped, blocks)
    return listed


logger = logging.getLogger(__name__)

LOOK_S = 2.0
"""How often a server looks for what others changed, in seconds: tools that were suspended or
accepted, and the first result that is kept."""
MAX_STREAMS = 64
"""The most streams of changes at a time; each keeps a connection open."""
_NOTIFY_S = 1.0
"""How long a client of the old protocol may take to read that a list changed."""

_State = tuple[Registry, bool, frozenset[str]]
"""The snapshot, whether the tool that reads kept results is listed, and the suspended tools."""


class ListChanges:
    """The clients that wait for changes, and the snapshot that they know."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.catalog = Catalog(workspace)
        """The list of the current snapshot, with the tools that are suspended."""
        self._bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self._bus, max_subscriptions=MAX_STREAMS)
        """The handler of `subscriptions/listen`, the notifications since 2026-07-28."""
        self._connections: WeakSet[Connection] = WeakSet()
        self._known: _State = workspace.registry, False, frozenset()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._under_way: set[asyncio.Task[None]] = set()

    async def initialized(
        self, ctx: ServerRequestContext[Any, Any], params: NotificationParams
    ) -> None:
        """Store a client of the old protocol, which is notified over its own connection."""
        del params
        # The SDK creates a session for each message; the connection behind it stays.
        self._connections.add(ctx.session._connection)  # noqa: SLF001

    def serve_here(self) -> None:
        """Store the running loop as the one that serves, and look for changes of others in it."""
        self._loop = asyncio.get_running_loop()
        self._begin(self._look())

    async def changed(self) -> None:
        """Notify every client, if the snapshot or the tools that clients see are others."""
        state = await asyncio.to_thread(self._state)
        if state[0] is self._known[0] and state[1:] == self._known[1:]:
            return
        self._known = state
        await self._bus.publish(ToolsListChanged())
        await self._bus.publish(ResourcesListChanged())
        await asyncio.gather(*(self._notify(one) for one in list(self._connections)))

    async def _notify(self, connection: Connection) -> None:
        """Notify a client of the old protocol; one that does not read misses this change."""
        try:
            async with asyncio.timeout(_NOTIFY_S):
                await connection.send_tool_list_changed()
                await connection.send_resource_list_changed()
        except TimeoutError:
            logger.warning("a client does not read what it is notified of")
        except Exception:
            # A disconnected client must not keep the others from being notified.
            logger.exception("a client could not be notified of a change")

    async def visible(self) -> list[Listed]:
        """Return what clients see: the list without the tools that are suspended now.

        A call of a suspended tool is found, and denied with the remedy. What is returned here is
        what the next change is compared with.
        """
        listed = await self.catalog.load()
        registry, is_open, _ = self._known
        workspace = self._workspace
        is_known = registry is workspace.registry and is_open is workspace.results.is_open()
        if self.catalog.is_remote or not is_known:
            await self.changed()
        hidden = self._known[2]
        return [one for one in listed.values() if one.spec.name not in hidden]

    def changed_soon(self) -> None:
        """Schedule `changed`; any thread may call this."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(lambda: self._begin(self.changed()))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    def _state(self) -> _State:
        workspace = self._workspace
        try:
            suspended = workspace.suspended_tools()
        except UnreachableError:
            # Their calls are denied then, too, and say why.
            suspended = self._known[2]
        return workspace.registry, workspace.results.is_open(), suspended

    async def _look(self) -> None:
        while True:
            await self.changed()
            await asyncio.sleep(LOOK_S)

    def close(self) -> None:
        """End every stream of changes, so that its client notices."""
        self.listen.close()
        for task in self._under_way:
            task.cancel()
