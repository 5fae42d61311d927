"""Assemble the app behind authentication: the API, the console, and others such as MCP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from toolmd._auth import Addresses, Authentication, Sessions, Tokens
from toolmd._auth.authentication import METADATA, challenge, metadata_of
from toolmd._http.api import OPEN_PATHS, PROBES, Api
from toolmd._http.console import OPEN_PATHS as CONSOLE_PATHS
from toolmd._http.console import console_routes, page
from toolmd._http.events import EventSource
from toolmd._http.operations import OPEN, Routes
from toolmd._types.settings import IssuerSettings
from toolmd._workspace import Workspace


class Server:
    """The ASGI app for one workspace."""

    def __init__(  # noqa: PLR0913 - what a start gives it, by keyword
        self,
        workspace: Workspace,
        event_source: EventSource,
        *,
        addresses: Addresses,
        tokens: Tokens,
        port: int,
        key: bytes | None = None,
        mcp: Any = None,
    ) -> None:
        """Assemble the app.

        Args:
            workspace: The workspace to serve.
            event_source: A plugin of the workspace that publishes its events.
            addresses: The accepted values of Host and Origin.
            tokens: The accepted bearer tokens.
            port: The port, which is part of the cookie's name.
            key: The secret of several processes, whose sessions of browsers count for all.
            mcp: The ASGI app of `/mcp`, whose context `running` is open while the server runs.
        """
        sessions = Sessions(port, key)
        self.api = Api(workspace, event_source, tokens, sessions)
        self._mcp = mcp
        others = [] if mcp is None else [("call", Route("/mcp", endpoint=mcp))]

        def issuers() -> tuple[IssuerSettings, ...]:
            return workspace.settings.identity.issuers if mcp is not None else ()

        async def metadata(request: Request) -> Response:
            found = metadata_of(issuers(), request.headers.get("host", ""))
            return Response(status_code=404) if found is None else JSONResponse(found)

        metadata_paths = [] if mcp is None else [METADATA, f"{METADATA}/mcp"]
        others += [(OPEN, Route(path, metadata)) for path in metadata_paths]
        routes = [*self.api.routes(), *others, *console_routes()]
        self.routes = Routes(routes, self._running)
        self.app = Authentication(
            self.routes,
            addresses=addresses,
            tokens=tokens,
            open_paths=OPEN_PATHS | CONSOLE_PATHS,
            probes={*PROBES, *metadata_paths},
            sessions=sessions,
            stranger=page,
            challenge=lambda host: challenge(issuers(), host),
        )

    @asynccontextmanager
    async def _running(self, app: Any) -> AsyncIterator[None]:
        del app
        async with self.api.running(), nullcontext() if self._mcp is None else self._mcp.running():
            yield
