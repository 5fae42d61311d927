"""Answer plain calls and lists of tools in front of the SDK's server.

The SDK's server serves the first request of a client. An equal one, but for its arguments, needs
nothing of the session within the next minute, so it gets the same answer at once. A call that
asks, fails or lasts goes on in the SDK's server, which has progress, cancelling and questions.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any

from mcp.server.context import CallNext, HandlerResult
from mcp.types import SERVER_INFO_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

from toolmd._mcp.callers import Callers, RequestContext, scope_of
from toolmd._mcp.calls import BEGUN, Calls
from toolmd._mcp.results import COMPLETE, FRESH
from toolmd._types.result import Result

PARAMS = {"tools/list": {"_meta"}, "tools/call": {"_meta", "name", "arguments"}}
"""The parameters of plain requests, by method."""
HEADERS = (b"accept", b"mcp-session-id", b"mcp-protocol-version", b"mcp-method", b"mcp-name")
"""The headers that the SDK's server reads."""
RESERVED = "io.modelcontextprotocol/"
"""The prefix of the keys of `_meta` that the SDK's server reads."""
ACCEPTED_S = 60.0
"""How long an accepted request counts; the SDK ends a session that it does not hear of."""
MOST = 1024
"""The most accepted requests that are stored."""
LARGEST_ID = 2**53
NEW = {*COMPLETE, *FRESH}
"""The keys of results that clients of the old protocol do not know."""

Wait = Callable[[asyncio.Task[Result]], Awaitable[Any]]


class Direct:
    """The plain requests that the SDK's server has accepted, and the answers to equal ones."""

    def __init__(self, calls: Calls, who: Callers, server_info: dict[str, Any]) -> None:
        self._calls = calls
        self._who = who
        self._server_info = server_info
        self._accepted: dict[tuple[Any, ...], tuple[str, float]] = {}
        self.is_ending = False
        """Whether every request is left to the SDK's server."""

    async def learn(self, ctx: RequestContext, call_next: CallNext) -> HandlerResult:
        """Serve one message by the SDK's server, and store that it was accepted."""
        result = await call_next(ctx)
        if (key := _key(ctx.method, ctx.params, scope_of(ctx))) is not None:
            if len(self._accepted) >= MOST:
                self._accepted.clear()
            self._accepted[key] = ctx.protocol_version, monotonic() + ACCEPTED_S
        return result

    def forget(self, session: bytes | None) -> None:
        """Forget the requests of a session that ends."""
        for key in [key for key in self._accepted if session in key]:
            del self._accepted[key]

    async def answer(
        self, message: Mapping[str, Any], scope: Mapping[str, Any], wait: Wait
    ) -> dict[str, Any] | None:
        """Return the response to a plain request; None if the SDK's server has to answer.

        Args:
            message: The request.
            scope: The ASGI scope; empty over stdio.
            wait: A function that waits for a call, but not for long.
        """
        BEGUN.set(None)
        version = self._version(message, scope)
        if version is None or self.is_ending:
            return None
        params = message.get("params") or {}
        caller = self._who.find(scope, params)
        try:
            if message["method"] == "tools/list":
                result = await self._calls.list_for(caller)
            else:
                listed = (await self._calls.catalog.load()).get(params["name"])
                if listed is None:
                    return None
                arguments = params.get("arguments", {})
                call = asyncio.ensure_future(self._calls.take(listed, arguments, caller))
                BEGUN.set(call)
                try:
                    await wait(call)
                except asyncio.CancelledError:
                    call.cancel()
                    raise
                if not call.done() or call.result().outcome == "confirm":
                    return None
                result = await self._calls.finish(listed, call.result())
        except Exception:  # noqa: BLE001 - the SDK's server meets the same error, and answers it
            return None
        if version in MODERN_PROTOCOL_VERSIONS:
            meta = {**result.get("_meta", {}), SERVER_INFO_META_KEY: self._server_info}
            result = {**result, "_meta": meta}
        else:
            result = {key: result[key] for key in result if key not in NEW}
        BEGUN.set(None)
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def _version(self, message: Mapping[str, Any], scope: Mapping[str, Any]) -> str | None:
        """Return the protocol of a plain request if an equal one was accepted."""
        key = _key(message.get("method"), message.get("params"), scope)
        name = message.get("id")
        if (
            key is None
            or message.keys() - {"params"} != {"jsonrpc", "id", "method"}
            or message["jsonrpc"] != "2.0"
            or not (isinstance(name, str) or (type(name) is int and abs(name) < LARGEST_ID))
            # With tracing on, each request has a span of the SDK's server.
            or not isinstance(get_tracer_provider(), ProxyTracerProvider)
        ):
            return None
        version, until = self._accepted.get(key, (None, 0.0))
        return version if monotonic() < until else None


def _key(method: Any, params: Any, scope: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return everything of a plain request that the SDK's server reads; None for other ones."""
    allowed = PARAMS.get(method) if isinstance(method, str) else None
    params = {} if params is None else params
    if allowed is None or not isinstance(params, dict) or not params.keys() <= allowed:
        return None
    meta = params.get("_meta", {})
    if not isinstance(meta, dict) or "progressToken" in meta:
        return None
    if not isinstance(params.get("arguments", {}), dict):
        return None
    pairs = scope.get("headers", ())
    headers = dict(pairs)
    if len(headers) < len(pairs):
        return None
    reserved = {key: value for key, value in meta.items() if key.startswith(RESERVED)}
    read = json.dumps([method, params.get("name"), reserved])
    owner = getattr(scope.get("user"), "identity", None)
    return read, owner, *(headers.get(name) for name in HEADERS)
