"""Send calls to a server's process and match their answers, without the client's own layers.

The client of the protocol needs more than half of a call's processor time for tasks, streams and
models of its own. It opens the session and does all the rest; only `tools/call` goes this way.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from functools import cache
from itertools import count
from typing import Any, NamedTuple

_STAMP = "io.modelcontextprotocol/"
"""The beginning of the keys that the client adds to the `_meta` of each request."""
_OF_QUESTIONS = ("resultType", "inputRequests", "requestState")
"""Keys that a result has only where requests are stamped."""


class _Waiting(NamedTuple):
    answer: "asyncio.Future[Any]"
    progress: Any


class Calls:
    """The calls in progress of one session with a process."""

    def __init__(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        """Keep what writes a line to the server."""
        self._write = write
        self._waiting: dict[Any, _Waiting] = {}
        self._numbers = count(1)
        self._stamp: Mapping[str, Any] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def sent(self, message: Any) -> None:
        """Keep what the client adds to its requests: they depend on the server's protocol."""
        if hasattr(message, "id") and hasattr(message, "params"):
            meta = (message.params or {}).get("_meta") or {}
            self._stamp = {key: meta[key] for key in meta if key.startswith(_STAMP)}

    async def call(self, params: Mapping[str, Any], progress: Any) -> Any:
        """Return the result of `tools/call` as CallToolResult or InputRequiredResult.

        `progress` is awaited with each report. Raises ValueError for another result, MCPError
        for the server's errors, and ConnectionError where the connection ended. A caller who is
        cancelled cancels the call at the server.
        """
        number = f"call-{next(self._numbers)}"
        meta = {**self._stamp, "progressToken": number}
        _add_trace(meta)
        waiting = _Waiting(asyncio.get_running_loop().create_future(), progress)
        self._waiting[number] = waiting
        try:
            await self._send("tools/call", {**params, "_meta": meta}, number)
            result: dict[str, Any] = await waiting.answer
        except asyncio.CancelledError:
            told = {"requestId": number, "reason": "the caller does not wait any more"}
            # The server may not read what is written, and the caller does not wait for it.
            self._start(self._send("notifications/cancelled", told))
            raise
        finally:
            del self._waiting[number]
        if not self._stamp:
            for key in _OF_QUESTIONS:
                result.pop(key, None)
        return _adapter().validate_python(result, by_name=False)

    def received(self, message: Any) -> bool:
        """Settle the call that a message belongs to; return whether there is one."""
        if (token := _token_of(message)) is not None:
            return self._report(token, message.params)
        waiting = self._waiting.get(getattr(message, "id", None))
        if waiting is None or hasattr(message, "method"):
            return False
        if waiting.answer.done():
            return True
        if (error := getattr(message, "error", None)) is None:
            waiting.answer.set_result(message.result)
        else:
            from mcp import MCPError

            waiting.answer.set_exception(MCPError(error.code, error.message, error.data))
        return True

    def unreadable(self, line: bytes) -> None:
        """End the call that a line answers, if it is JSON and yet no message of the protocol."""
        try:
            message = json.loads(line)
            waiting = self._waiting.get(message.get("id"))
        except (ValueError, RecursionError, TypeError):
            return
        if waiting is None or "method" in message or waiting.answer.done():
            return
        from mcp import MCPError

        error: Exception = ValueError("the answer is no message of the protocol")
        if "error" in message:
            error = MCPError(0, "one that can't be read")
        waiting.answer.set_exception(error)

    def end(self) -> None:
        """End all calls in progress: the connection ended."""
        for waiting in self._waiting.values():
            if not waiting.answer.done():
                waiting.answer.set_exception(ConnectionResetError("the connection ended"))

    async def _send(self, method: str, params: Any, number: str | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        await self._write(json.dumps(message, separators=(",", ":")).encode())

    def _report(self, token: Any, params: Mapping[str, Any]) -> bool:
        waiting = self._waiting.get(token)
        if waiting is None:
            return False
        done, total, text = (params.get(key) for key in ("progress", "total", "message"))
        if isinstance(done, int | float):
            whole = total if isinstance(total, int | float) else None
            said = text if isinstance(text, str) else None
            self._start(waiting.progress(done, whole, said))
        return True

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def params_of(tool: str, arguments: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a call; `more` are its fields besides name and arguments."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    if more:
        from mcp_types import CallToolRequestParams

        params |= CallToolRequestParams(name=tool, **more).model_dump(
            by_alias=True, mode="json", exclude_none=True
        )
    return params


@cache
def _adapter() -> Any:
    from mcp_types import CallToolResult, InputRequiredResult
    from pydantic import TypeAdapter

    return TypeAdapter[Any](CallToolResult | InputRequiredResult)


def _token_of(message: Any) -> str | None:
    """Return the token of a report of progress; None for other messages."""
    if getattr(message, "method", None) != "notifications/progress":
        return None
    token = (message.params or {}).get("progressToken")
    return token if isinstance(token, str) else None


def _add_trace(meta: dict[str, Any]) -> None:
    """Add the caller's trace, where there is one."""
    with suppress(ImportError):
        from opentelemetry import context, propagate

        if context.get_current():
            propagate.inject(meta)
