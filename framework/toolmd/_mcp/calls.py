"""Handle `tools/list` and `tools/call`: pass each call on to the dispatcher."""

import json
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
)

from toolmd._export.function import CONFIDENCE
from toolmd._mcp.answers import answer
from toolmd._mcp.asking import Asking
from toolmd._mcp.callers import Callers, RequestContext
from toolmd._mcp.catalog import Listed
from toolmd._mcp.changes import ListChanges
from toolmd._mcp.progress import Progress
from toolmd._mcp.tasks import Tasks
from toolmd._remote.mcp.error import SUSPENDED
from toolmd._types.call import Call, Caller
from toolmd._types.result import Result
from toolmd._workspace import Workspace
from toolmd.errors import did_you_mean, near_words


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
        self.tasks = Tasks(workspace, who, self._asking)
        """The runs that clients follow as tasks."""

    async def list_tools(
        self, ctx: RequestContext, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return every tool that is not suspended, sorted by name, on one page."""
        del ctx, params
        return ListToolsResult(tools=[one.tool for one in await self._changes.shown()])

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """Return a tool's input schema, for the transport's own checks.

        They compare arguments with headers that a schema names, which none of ours does.
        """
        listed = self.catalog.find(name)
        return None if listed is None else listed.tool.input_schema

    async def call_tool(
        self, ctx: RequestContext, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult | dict[str, Any]:
        """Run one call, or resume one with the answer to its question.

        A client that declares tasks gets one, as a dict, for a durable run that waits.
        """
        listed = (await self.catalog.load()).get(params.name)
        if listed is None:
            listed = (await self.catalog.reload()).get(params.name)
        if listed is None:
            raise self._unknown(params.name)
        caller, progress = self._who(ctx), Progress(ctx)
        if params.request_state is not None:
            responses = params.input_responses or {}
            state = params.request_state
            ended = await self._asking.resume(ctx, state, responses, caller, progress)
        else:
            result = await self._take(listed, params.arguments or {}, caller, progress)
            ended = await self._asking.through(ctx, result, caller, progress)
        if isinstance(ended, InputRequiredResult):
            return ended
        if (task := await self.tasks.begin(ctx, listed.spec, ended, caller)) is not None:
            return task
        if ended.handle is not None or (ended.error and ended.error.code == SUSPENDED):
            await self._changes.changed()
        return answer(listed, ended)

    async def _take(
        self, listed: Listed, arguments: dict[str, Any], caller: Caller, progress: Progress
    ) -> Result:
        confidence = None
        if listed.takes_confidence and CONFIDENCE in arguments:
            confidence = arguments[CONFIDENCE]
            arguments = {k: v for k, v in arguments.items() if k != CONFIDENCE}
        # As bytes, so that the dispatcher's own reader applies its limits.
        text = json.dumps(arguments, ensure_ascii=False).encode("utf-8", "backslashreplace")
        call = Call(listed.tool.name, text, confidence=confidence, caller=caller)
        return await self._workspace.dispatch(call, progress)

    def _unknown(self, name: str) -> MCPError:
        near = near_words(name, self.catalog.listed, 3)
        hint = did_you_mean(name, near, 3)
        message = f"Unknown tool: {name[:128]}{hint and '; '}{hint}"
        return MCPError(INVALID_PARAMS, message, data={"near": near})
