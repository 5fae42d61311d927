"""Serve any number of hosts over streamable HTTP, behind the gate."""

import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.routing import Route

from toolmark._gate import CALLER, Addresses, Gate, Tokens
from toolmark._model.call import Caller
from toolmark._workspace import Workspace
from toolmark.adapters.mcp.callers import caller_by_token
from toolmark.adapters.mcp.server import McpServer

PATH = "/mcp"
MAX_BODY = 512 * 1024
"""Bytes of a request; a model's reply may have 256 KiB."""
DRAIN_S = 3
"""How long calls under way may take when the server is told to end, in seconds."""


class McpEndpoint:
    """The ASGI app behind `/mcp`; enter `running` around what serves it."""

    def __init__(self, server: McpServer) -> None:
        self._manager = StreamableHTTPSessionManager(server.low, max_request_body_size=MAX_BODY)
        self._server = server

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve within this context, once."""
        self._server.changes.serve_here()
        async with self._manager.run():
            try:
                yield
            finally:
                self._server.changes.close()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, which the gate has let in."""
        caller: Caller = scope["state"][CALLER]
        # A session belongs to whoever began it: nobody else may answer what it asks.
        token = AccessToken(token="", client_id=repr((caller.user, caller.patient)), scopes=[])
        await self._manager.handle_request(
            {**scope, "user": AuthenticatedUser(token)}, receive, send
        )


def mcp_app(server: McpServer, addresses: Addresses, tokens: Tokens) -> Any:
    """Give the whole app: the gate, and `/mcp` behind it."""
    endpoint = McpEndpoint(server)
    inner = Starlette(
        routes=[Route(PATH, endpoint=endpoint)], lifespan=lambda _: endpoint.running()
    )
    return Gate(inner, addresses=addresses, tokens=tokens)


def bound_socket(host: str, port: int) -> socket.socket:
    """Listen at once, so that the port is known; raises OSError where the address is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
        # Whoever reads the printed address may connect before the server is up.
        taken.listen(128)
    except OSError:
        taken.close()
        raise
    return taken


async def serve_http(
    workspace: Workspace,
    listening: socket.socket,
    addresses: Addresses,
    tokens: Tokens,
    *,
    ready: Callable[[McpServer], None] | None = None,
) -> None:
    """Serve on a bound socket until the process is told to end; `ready` as for stdio."""
    server = McpServer(workspace, caller_by_token)
    if ready is not None:
        ready(server)
    config = uvicorn.Config(
        mcp_app(server, addresses, tokens),
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=DRAIN_S,
        ws="none",
    )
    await _Uvicorn(config, server).serve(sockets=[listening])


class _Uvicorn(uvicorn.Server):
    """Ends the streams that would otherwise never end when the process is told to."""

    def __init__(self, config: uvicorn.Config, server: McpServer) -> None:
        super().__init__(config)
        self._server = server

    def handle_exit(self, sig: int, frame: Any) -> None:
        self._server.changes.close()
        super().handle_exit(sig, frame)
