"""Offer a workspace's tools and skills to an agent of the OpenAI Agents SDK."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from agents import (
    Agent,
    FunctionTool,
    RunContextWrapper,
    Tool,
    ToolOutputFileContent,
    ToolOutputImage,
    ToolOutputText,
)
from agents.items import ToolApprovalItem
from agents.tool_context import ToolContext

from toolmd._types.call import Caller, host_name_of
from toolmd._types.confirmation import Confirmation
from toolmd._types.decision import Approver, Decision
from toolmd._types.parts import File
from toolmd._types.result import Result
from toolmd._workspace import Workspace
from toolmd.adapters._host import Host, HostCall

CallerOf = Callable[[Any], Caller]
"""Returns the caller of a run's context."""
ApproverOf = Callable[[Any], Approver | Mapping[str, Any]]
"""Returns the person who decides, or a mapping of the fields, by a run's context."""
MAX_RESULTS = 1000
"""How many results of calls wait until the SDK fetches them; those of ended runs never are."""
REJECTED = "A person rejected this call, so it did not run. Do not make it again."


@dataclass
class ToolmdAgent(Agent[Any]):
    """An agent with the tools and skills of a workspace; each call goes through its checks.

    Its list follows a reload: each request offers what the run's caller may call now.
    """

    workspace: Workspace = field(kw_only=True)
    """The open workspace."""
    caller: CallerOf | None = field(default=None, kw_only=True)
    """Returns the caller of a run's context; by default the context is a Caller, or a mapping of
    its fields."""
    decider: ApproverOf | None = field(default=None, kw_only=True)
    """Returns who approves, by the context of the resumed run; by default the caller."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._calls = _Calls(self.workspace, self.caller, self.decider)

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        """Return the agent's own tools, and what the run's caller may be offered now.

        One of the agent's own with the name of a guarded tool goes.

        Args:
            run_context: The run's context.
        """
        guarded = self._calls.tools()
        # The SDK runs only what stands here, so all callers' tools do.
        names = {tool.name for tool in guarded}
        own = [one for one in self.tools if not self._is_ours(one) and one.name not in names]
        self.tools: list[Tool] = [*own, *guarded]
        every = await super().get_all_tools(run_context)
        offered = await self._calls.offered(run_context)
        return [tool for tool in every if not self._is_ours(tool) or tool.name in offered]

    def _is_ours(self, tool: Tool) -> bool:
        calls = getattr(getattr(tool, "on_invoke_tool", None), "__self__", None)
        return isinstance(calls, _Calls) and calls.workspace is self.workspace


def tools(
    workspace: Workspace, caller: CallerOf | None = None, *, decider: ApproverOf | None = None
) -> list[FunctionTool]:
    """Return the tools and skills for any agent; unlike ToolmdAgent's, the list is fixed.

    Args:
        workspace: The open workspace.
        caller: Returns the caller of a run's context; by default the context is a Caller, or a
            mapping of its fields.
        decider: Returns who approves, by the context of the resumed run; by default the caller.
    """
    calls = _Calls(workspace, caller, decider)
    every = calls.tools()
    for tool in every:
        tool.is_enabled = partial(calls.is_offered, tool.name)
    return every


async def question(
    workspace: Workspace, item: ToolApprovalItem, context: Any = None,
    *, caller: CallerOf | None = None,
) -> Confirmation | None:  # fmt: skip
    """Return the question that waits for an interrupted call; None if there is none.

    The SDK's approval can only say yes. To edit or to answer, decide the question by its id with
    `workspace.confirmations`, and approve the item afterwards: the model reads the result.

    Args:
        workspace: The open workspace.
        item: The interruption.
        context: The run's context.
        caller: As for the agent.
    """
    host = Host(workspace, caller)
    questions = await host.questions(_of_item(host, item, context))
    return next((one for one in questions if one.state in {"pending", "interrupted"}), None)


async def settle(
    workspace: Workspace, item: ToolApprovalItem, context: Any = None,
    *, caller: CallerOf | None = None, by: str | None = None,
) -> str:  # fmt: skip
    """Reject the question of a call that a person rejects; the SDK itself tells no tool of it.

    Args:
        workspace: The open workspace.
        item: The interruption.
        context: The run's context.
        caller: As for the agent.
        by: The person's name for the record.

    Returns:
        What the model should read: the `rejection_message` of `state.reject`.
    """
    host = Host(workspace, caller)
    result = await host.settle(_of_item(host, item, context), by=by)
    return REJECTED if result is None else result.for_model().text


def question_sync(*args: Any, **named: Any) -> Confirmation | None:
    """Same as `question`, for callers that can't await; the calling thread waits."""
    return asyncio.run(question(*args, **named))


def settle_sync(*args: Any, **named: Any) -> str:
    """Same as `settle`, for callers that can't await; the calling thread waits."""
    return asyncio.run(settle(*args, **named))


class _Calls:
    """The calls of a workspace's tools by the SDK."""

    def __init__(
        self, workspace: Workspace, caller: CallerOf | None, decider: ApproverOf | None
    ) -> None:
        self.workspace, self._decider = workspace, decider
        self._host = Host(workspace, caller)
        self._tools: dict[str, tuple[dict[str, Any], FunctionTool]] = {}
        self._results: dict[str, Result] = {}
        """The results of calls that wait for nobody, until the SDK fetches them."""

    def tools(self) -> list[FunctionTool]:
        """Return the tools of all callers; one that did not change stays the same object."""
        before, self._tools = self._tools, {}
        for item in self.workspace.export("mcp"):
            same = before.get(item["name"])
            if same is None or same[0] != item:
                same = item, self._tool(item)
            self._tools[item["name"]] = same
        return [tool for _, tool in self._tools.values()]

    async def offered(self, ctx: RunContextWrapper[Any]) -> set[str]:
        """Return the names of what the run's caller may be offered now."""
        offered = await self._host.tools(self._host.caller_of(ctx.context))
        return {item["name"] for item in offered}

    async def is_offered(self, name: str, ctx: RunContextWrapper[Any], _: Any) -> bool:
        """Return whether the run's caller may be offered a tool now."""
        return name in await self.offered(ctx)

    async def begin(
        self, name: str, ctx: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str
    ) -> bool:
        """Make the call, and return whether a person must approve it: only here a run can stop."""
        call = HostCall(name, arguments, call_id, self._host.caller_of(ctx.context))
        result = await self._host.begin(call)
        if _asks(result):
            return True
        self._results[host_name_of(call.id, call.caller)] = result
        while len(self._results) > MAX_RESULTS:
            del self._results[next(iter(self._results))]
        return False

    async def invoke(self, ctx: ToolContext[Any], text: str) -> Any:
        """Return the call's result, which began before, or carry out its approval.

        Only a question that was stored for this call before can be approved: one that is new is
        the model's answer, whatever the SDK approves always.
        """
        name, caller = ctx.tool_name, self._host.caller_of(ctx.context)
        call = HostCall(name, _arguments(text), ctx.tool_call_id, caller)
        result = self._results.pop(host_name_of(call.id, caller), None)
        if result is None:
            is_approved = ctx.is_tool_approved(name, call.id) is True
            if is_approved and await self._host.questions(call):
                who = None if self._decider is None else self._decider(ctx.context)
                result = await self._host.decide(call, Decision.approve(), who=who)
            else:
                result = await self._host.begin(call)
        if _asks(result) and result.confirmation is not None:  # The SDK can't ask once more.
            result = result._replace(message=result.confirmation.prompt)
        read = result.for_model()
        return (
            [ToolOutputText(text=read.text), *map(_part, read.parts)] if read.parts else read.text
        )

    def _tool(self, item: dict[str, Any]) -> FunctionTool:
        return FunctionTool(
            name=item["name"],
            description=item.get("description") or "",
            params_json_schema=item["inputSchema"],
            on_invoke_tool=self.invoke,
            strict_json_schema=False,
            needs_approval=partial(self.begin, item["name"]),
        )


def _asks(result: Result) -> bool:
    return result.outcome in {"confirm", "review"} and result.confirmation is not None


def _arguments(text: str) -> Mapping[str, Any] | str:
    """Return the arguments, or the text as the model wrote it where it is no object."""
    try:
        read = json.loads(text)
    except ValueError:
        return text
    return read if isinstance(read, dict) else text


def _of_item(host: Host, item: ToolApprovalItem, context: Any) -> HostCall:
    arguments, caller = _arguments(item.arguments or ""), host.caller_of(context)
    return HostCall(item.name or "", arguments, item.call_id or "", caller)


def _part(part: File) -> ToolOutputImage | ToolOutputFileContent:
    url = f"data:{part.media_type};base64,{b64encode(part.data).decode()}"
    if part.media_type.startswith("image/"):
        return ToolOutputImage(image_url=url)
    return ToolOutputFileContent(file_data=url, filename=part.name or "file")
