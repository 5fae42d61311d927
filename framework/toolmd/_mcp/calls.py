"""Handle `tools/list` and `tools/call`: pass each call on to the dispatcher."""

import asyncio
import json
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    InputRequiredResult,
    PaginatedRequestParams,
)

from toolmd._export.function import CONFIDENCE
from toolmd._mcp.asking import Asking
from toolmd._mcp.callers import Callers, RequestContext
from toolmd._mcp.changes import ListChanges, Listed
from toolmd._mcp.results import COMPLETE, FRESH, answer
from toolmd._types.call import Call, Caller
from toolmd._types.identity import is_for
from toolmd._types.result import Event, Result
from toolmd._workspace import Workspace
from toolmd.errors import SuspendedToolError, did_you_mean, near_tools

LONGEST = 1000
"""The most characters of one message; a whole item may be large."""


class Progress:
    """The progress of one request, which only grows; the client gets it only if it asked."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._ctx = ctx
        self._last = -1.0

    async def __call__(self, event: Event) -> None:
        """Report an event to the client."""
        data = event.data if isinstance(event.data, dict) else {}
        is_progress = event.kind == "progress"
        fraction = data.get("fraction") if is_progress else None
        text = data.get("text") if is_progress else json.dumps(event.data, ensure_ascii=False)
        total = None if fraction is None else 1.0
        now = int(self._last) + 1.0 if fraction is None else float(fraction)
        # The protocol does not allow it to shrink; a smaller value is left out.
        if now > self._last:
            self._last = now
            await self._ctx.session.report_progress(now, total, str(text or "")[:LONGEST])


BEGUN: ContextVar[asyncio.Task[Result] | None] = ContextVar("toolmd_begun_call", default=None)
"""The call of this request, if it has begun in front of the SDK's server."""


class Calls:
    """The list of tools and skills, and their calls."""

    def __init__(self, workspace: Workspace, who: Callers, changes: ListChanges) -> None:
        """Prepare to call; `who` returns the Caller of a request's context.

        `changes` notifies clients if the list of tools has changed.
        """
        self._changes = changes
        self._workspace = workspace
        self._who = who
        self.catalog = changes.catalog
        self._asking = Asking(workspace, who)

    async def list_tools(
        self, ctx: RequestContext, params: PaginatedRequestParams | None
    ) -> dict[str, Any]:
        """Handle `tools/list`."""
        del params
        return await self.list_for(self._who(ctx))

    async def list_for(self, caller: Caller) -> dict[str, Any]:
        """Return the caller's tools that are not suspended, sorted by name, on one page."""
        visible = await self._changes.visible()
        tools = [one.tool for one in visible if is_for(one.spec, caller)]
        return {**COMPLETE, "tools": tools, **FRESH}

    async def call_tool(
        self, ctx: RequestContext, params: CallToolRequestParams
    ) -> dict[str, Any] | InputRequiredResult:
        """Run one call, or resume one with the answer to its question."""
        known = await self.catalog.load()
        listed = known.get(params.name)
        caller, progress = self._who(ctx), Progress(ctx)
        if listed is None:
            await self._workspace.deny_unknown(Call(params.name, {}, caller=caller))
            specs = {name: one.spec for name, one in known.items() if is_for(one.spec, caller)}
            raise _unknown(params.name, specs)
        if params.request_state is not None:
            responses = params.input_responses or {}
            state = params.request_state
            ended = await self._asking.resume(ctx, state, responses, caller, progress)
        else:
            begun = BEGUN.get()
            result = await (begun or self.take(listed, params.arguments or {}, caller, progress))
            ended = await self._asking.through(ctx, result, caller, progress)
        if isinstance(ended, InputRequiredResult):
            return ended
        return await self.finish(listed, ended)

    async def take(
        self,
        listed: Listed,
        arguments: dict[str, Any],
        caller: Caller,
        progress: Progress | None = None,
    ) -> Result:
        """Run one call."""
        confidence = None
        if listed.takes_confidence and CONFIDENCE in arguments:
            confidence = arguments[CONFIDENCE]
            arguments = {k: v for k, v in arguments.items() if k != CONFIDENCE}
        # As bytes, so that the dispatcher's own reader applies its limits.
        text = json.dumps(arguments, ensure_ascii=False).encode("utf-8", "backslashreplace")
        call = Call(listed.tool["name"], text, confidence=confidence, caller=caller)
        return await self._workspace.dispatch(call, progress)

    async def finish(self, listed: Listed, ended: Result) -> dict[str, Any]:
        """Return the client's result of a call."""
        if ended.handle is not None or (
            ended.error and ended.error.code == SuspendedToolError.CODE
        ):
            await self._changes.changed()
        return answer(ended, listed.spec, blocks=listed.blocks, wrapped=listed.wrapped)


def _unknown(name: str, known: Mapping[str, object]) -> MCPError:
    near = near_tools(name, known)
    hint = did_you_mean(name, near, 3)
    message = f"Unknown tool: {name[:128]}{hint and '; '}{hint}"
    return MCPError(INVALID_PARAMS, message, data={"near": near})
