"""Serve any number of hosts over streamable HTTP, behind authentication."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types import JSONRPCResponse
from starlette.responses import Response

from toolmd._auth import CALLER, RIGHTS
from toolmd._mcp.server import McpServer
from toolmd._mcp.unreadable import read_message
from toolmd._types.call import Caller
from toolmd._types.result import Result

MAX_BODY = 512 * 1024
"""The most bytes of a request; a model's reply may have 256 KiB."""

SESSION = b"mcp-session-id"

WAIT_S = 0.05
"""How long a call may take, in seconds, until the SDK's server waits for it."""

MAX_SESSIONS = 1000
"""The most sessions of the old protocol; the SDK ends each after 30 minutes without a request."""


class McpEndpoint:
    """The ASGI app behind `/mcp`; enter `running` around the server."""

    def __init__(self, server: McpServer, *, stateless: bool = False) -> None:
        """Serve `server`, without sessions if `stateless` is True.

        Any process may then get the next request of a client. A client of the old protocol can't
        be asked then, nor notified of changes.
        """
        self._manager = StreamableHTTPSessionManager(
            server.low, stateless=stateless, max_request_body_size=MAX_BODY,
            max_sessions=MAX_SESSIONS,
        )  # fmt: skip
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
        """Answer one authenticated request."""
        caller: Caller = scope["state"][CALLER]
        # A session belongs to its first caller: no other one, and no token of the same user with
        # other roles or rights, may answer its questions.
        facts, rights = sorted(caller.context.items()), sorted(scope["state"][RIGHTS])
        whose = (caller.user, caller.via, caller.roles, facts, rights)
        token = AccessToken(token="", client_id=repr(whose), scopes=[])
        scope = {**scope, "user": AuthenticatedUser(token)}
        if scope["method"] == "POST":
            body, receive = await _receive_all(receive)
            found = read_message(body.decode("utf-8", errors="replace"))
            if isinstance(found, dict):
                answer = await self._direct(found, scope)
            elif isinstance(found, JSONRPCResponse):
                answer = found.model_dump(by_alias=True, mode="json")
            else:
                answer = None
            if answer is not None:
                session = dict(scope["headers"]).get(SESSION)
                headers = None if session is None else {"mcp-session-id": session.decode("latin-1")}
                text = json.dumps(answer, separators=(",", ":"))
                response = Response(text, headers=headers, media_type="application/json")
                await response(scope, receive, send)
                return
        elif scope["method"] == "DELETE":
            self._server.direct.forget(dict(scope["headers"]).get(SESSION))
        await self._manager.handle_request(scope, receive, send)

    async def _direct(self, message: dict[str, Any], scope: Any) -> dict[str, Any] | None:
        if message.get("method") == "notifications/cancelled":
            # The SDK's server can cancel what is then left of a call.
            await asyncio.sleep(WAIT_S)
        return await self._server.direct.answer(message, scope, _wait)


async def _wait(call: asyncio.Task[Result]) -> None:
    await asyncio.wait({call}, timeout=WAIT_S)


async def _receive_all(receive: Any) -> tuple[bytes, Any]:
    """Return the body of a request, up to its limit, and what receives it again."""
    messages, body, more = [], b"", True
    while more and len(body) <= MAX_BODY:
        message = await receive()
        messages.append(message)
        body += message.get("body", b"")
        more = bool(message.get("more_body"))

    async def again() -> Any:
        return messages.pop(0) if messages else await receive()

    return body if len(body) <= MAX_BODY else b"{}", again
