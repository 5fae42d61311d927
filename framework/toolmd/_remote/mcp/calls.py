"""Send calls to a server's process and match their answers, without the client's own layers.

The client of the protocol needs more than half of a call's processor time for tasks, streams and
models of its own. It opens the session and does all the rest; only `tools/call` goes this way.
"""

import json
import sys
from collections.abc import Mapping
from functools import cache, partial
from itertools import count
from typing import Any, NamedTuple, Protocol

from toolmd._remote.mcp.error import LostAnswerError, NotStartedError
from toolmd._remote.mcp.progress import Report
from toolmd._remote.mcp.running import Running

_STAMP = "io.modelcontextprotocol/"
"""The beginning of the keys that the client adds to the `_meta` of each request."""
_FINAL = ("complete", "input_required")
"""The types of results that end a request."""
_OF_QUESTIONS = ("resultType", "inputRequests", "requestState")
"""Keys that a result has only where requests are stamped."""


class _Waiting(NamedTuple):
    running: Running
    report: Report


class _Writer(Protocol):
    def write(self, line: bytes, *, always: bool = False) -> bool: ...


class Calls:
    """The calls in progress of one session with a process; they may be sent from any thread."""

    def __init__(self, writer: _Writer) -> None:
        """Keep what writes a line to the server."""
        self._writer = writer
        self._waiting: dict[Any, _Waiting] = {}
        self._numbers = count(1)
        self._stamp: Mapping[str, Any] = {}
        self._is_over = False

    def sent(self, message: Any) -> None:
        """Keep what the client adds to its requests: they depend on the server's protocol."""
        if hasattr(message, "id") and hasattr(message, "params"):
            meta = (message.params or {}).get("_meta") or {}
            self._stamp = {key: meta[key] for key in meta if key.startswith(_STAMP)}

    def send(self, running: Running, params: Mapping[str, Any], report: Report) -> None:
        """Send `tools/call`; its outcome is the result as the server wrote it.

        `report` is called with each report of progress. Another outcome is ValueError for an
        answer that can't be read, MCPError for the server's errors, and ConnectionError where the
        connection ended. Raises NotStartedError where nothing was sent: the connection ended
        before, or the server does not read.
        """
        number = f"call-{next(self._numbers)}"
        meta = {**self._stamp, "progressToken": number}
        _add_trace(meta)
        line = _line("tools/call", {**params, "_meta": meta}, number)
        running.stop = partial(self._stop, number)
        self._waiting[number] = _Waiting(running, report)
        lost = NotStartedError("the connection ended")
        problem = lost if self._is_over else None
        try:
            if problem is None and not self._writer.write(line):
                problem = lost
        except NotStartedError as error:
            problem = error
        # The end of the connection may have settled it meanwhile.
        if problem is not None and self._waiting.pop(number, None) is not None:
            raise problem

    def result_of(self, result: dict[str, Any]) -> Any:
        """Return what the server wrote as CallToolResult or InputRequiredResult.

        Raises ValueError for what does not follow the protocol, and LostAnswerError for a result
        that is none yet, such as a task.
        """
        if not self._stamp:
            result = {key: value for key, value in result.items() if key not in _OF_QUESTIONS}
        if result.get("resultType", "complete") not in _FINAL:
            raise LostAnswerError("the server goes on with the call, which nobody can follow")
        return _adapter().validate_python(result, by_name=False)

    def received(self, message: Any) -> bool:
        """Settle the call that a message belongs to; return whether there is one."""
        result_type, error_type = _answer_types()
        if not isinstance(message, (result_type, error_type)):
            token = _token_of(message)
            return token is not None and self._report(token, message.params)
        if (waiting := self._waiting.pop(message.id, None)) is None:
            return False
        if isinstance(message, result_type):
            waiting.running.settle(message.result)
        else:
            from mcp import MCPError

            error = message.error
            waiting.running.settle(None, MCPError(error.code, error.message, error.data))
        return True

    def unreadable(self, line: bytes) -> None:
        """End the call that a line answers, if it is JSON and yet no message of the protocol."""
        try:
            message = json.loads(line)
            if "method" in message or (number := message.get("id")) not in self._waiting:
                return
        except (ValueError, RecursionError, TypeError):
            return
        from mcp import MCPError

        error: Exception = ValueError("the answer is no message of the protocol")
        if "error" in message:
            error = MCPError(0, "one that can't be read")
        self._waiting.pop(number).running.settle(None, error)

    def end(self) -> None:
        """End all calls in progress: the connection ended."""
        self._is_over = True
        for number in list(self._waiting):
            # A caller takes back what it sends meanwhile.
            if (waiting := self._waiting.pop(number, None)) is not None:
                waiting.running.settle(None, ConnectionResetError("the connection ended"))

    def _stop(self, number: str) -> None:
        if (waiting := self._waiting.pop(number, None)) is not None:
            told = {"requestId": number, "reason": "the caller does not wait any more"}
            waiting.running.end()
            # There are no more of them than of the calls that were sent.
            self._writer.write(_line("notifications/cancelled", told), always=True)

    def _report(self, token: Any, params: Mapping[str, Any]) -> bool:
        waiting = self._waiting.get(token)
        if waiting is None:
            return False
        done, total, text = (params.get(key) for key in ("progress", "total", "message"))
        if isinstance(done, int | float):
            whole = total if isinstance(total, int | float) else None
            said = text if isinstance(text, str) else None
            waiting.report(done, whole, said)
        return True


def _line(method: str, params: Any, number: str | None = None) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    return json.dumps(message, separators=(",", ":")).encode()


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


@cache
def _answer_types() -> tuple[Any, Any]:
    from mcp_types import JSONRPCError, JSONRPCResponse

    return JSONRPCResponse, JSONRPCError


def _token_of(message: Any) -> str | None:
    """Return the token of a report of progress; None for other messages."""
    if getattr(message, "method", None) != "notifications/progress":
        return None
    token = (message.params or {}).get("progressToken")
    return token if isinstance(token, str) else None


def _add_trace(meta: dict[str, Any]) -> None:
    """Add the caller's trace, where there is one."""
    # A trace exists only where its package was imported.
    if (context := sys.modules.get("opentelemetry.context")) and context.get_current():
        from opentelemetry import propagate

        propagate.inject(meta)
