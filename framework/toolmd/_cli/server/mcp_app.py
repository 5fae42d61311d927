"""Serve MCP at `/mcp` next to the API, opened at the first request."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from toolmd.errors import ToolmdError


class McpApp:
    """An ASGI app for `/mcp`; enter `running` around the server."""

    def __init__(self, workspace: Any, *, at_once: bool = False, key: bytes | None = None) -> None:
        """Prepare to serve `workspace`; `key` is the secret that several processes share.

        The SDK takes a second to import, so it is imported at the first request, or at the start
        if `at_once` is True.
        """
        self._workspace = workspace
        self._at_once = at_once
        self._key = key
        self._wanted = asyncio.Event()
        self._decided = asyncio.Event()
        self._closing = asyncio.Event()
        self._endpoint: Any = None
        self._server: Any = None
        self._problem = ""

    def route(self) -> Any:
        """Return the route of this app."""
        from starlette.routing import Route

        return Route("/mcp", endpoint=self)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve within this context, once."""
        end = self._workspace.on_change(lambda *_: self.changed_soon())
        if self._at_once:
            self._wanted.set()
        # The task that opens the SDK's contexts must also close them.
        task = asyncio.get_running_loop().create_task(self._serve())
        try:
            if self._at_once:
                await self._decided.wait()
            yield
        finally:
            end()
            self._wanted.set()
            self._closing.set()
            await task

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one authenticated request."""
        self._wanted.set()
        await self._decided.wait()
        if self._endpoint is None:
            from toolmd._http.operations import ApiError

            answer = ApiError(503, "no_mcp", self._problem).answer()
            await answer(scope, receive, send)
            return
        await self._endpoint(scope, receive, send)

    def changed_soon(self) -> None:
        """Notify the clients of a new snapshot; any thread may call this."""
        if self._server is not None:
            self._server.changed_soon()

    def close(self) -> None:
        """End every stream."""
        if self._server is not None:
            self._server.changes.close()

    async def _serve(self) -> None:
        await self._wanted.wait()
        if self._closing.is_set():
            return
        try:
            endpoint = await asyncio.to_thread(_load)
        except ToolmdError as error:
            self._problem = str(error)
            self._decided.set()
            return
        server_type, endpoint_type, who = endpoint
        self._server = server_type(self._workspace, who, self._key)
        opened = endpoint_type(self._server, stateless=self._key is not None)
        async with opened.running():
            self._endpoint = opened
            self._decided.set()
            await self._closing.wait()


def _load() -> tuple[Any, Any, Any]:
    from toolmd._mcp import require_sdk

    require_sdk()
    from toolmd._mcp.callers import TokenCaller
    from toolmd._mcp.http import McpEndpoint
    from toolmd._mcp.server import McpServer

    return McpServer, McpEndpoint, TokenCaller()
