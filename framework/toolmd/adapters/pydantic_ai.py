"""Offer a workspace's tools and skills to an agent of pydantic-ai, as a toolset."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic_ai import ApprovalRequired, BinaryContent, CustomEvent, ModelRetry, RunContext
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelResponse, ToolCallPart, ToolReturn
from pydantic_ai.tools import (
    DeferredToolRequests,
    DeferredToolResults,
    ToolDefinition,
    ToolDenied,
)
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from toolmd._types.call import Caller
from toolmd._types.decision import Decision
from toolmd._types.result import Event, EventListener, Result
from toolmd._workspace import Workspace
from toolmd.adapters._host import Host, HostCall, approver_of

_ANYTHING = SchemaValidator(core_schema.dict_schema())
QUESTION = "question"
"""The key of the metadata with the id of the question that a person answers."""


@dataclass(kw_only=True)
class ToolmdProgress(CustomEvent):
    """The progress of a running tool, or an item that it streams."""

    kind: str
    """`progress` or `item`."""
    value: Any
    """What the tool reported."""


class ToolmdToolset(AbstractToolset[Any]):
    """The tools and skills of a workspace; each call goes through its checks."""

    def __init__(
        self,
        workspace: Workspace,
        caller: Callable[[Any], Caller] | None = None,
        *,
        id: str | None = None,  # noqa: A002 - the framework's own word
        max_retries: int = 10,
    ) -> None:
        """Keep the workspace.

        Args:
            workspace: The open workspace.
            caller: Returns the caller of the agent's `deps`; by default `deps` is a Caller, or a
                mapping of its fields.
            id: The toolset's id, as pydantic-ai uses it.
            max_retries: How many wrong calls in a row of one tool do not end the run.
        """
        self._host, self._id, self._max_retries = Host(workspace, caller), id, max_retries

    @property
    def id(self) -> str | None:
        """The toolset's id."""
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Return what the caller may be offered now; a reload shows with the next request.

        Args:
            ctx: The run's context.
        """
        offered = await self._host.tools(self._caller_of(ctx))
        return {item["name"]: self._tool(item) for item in offered}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Call a tool or skill, or carry out the approval of the call.

        Args:
            name: The tool's name.
            tool_args: The arguments, as a person edited them if one did.
            ctx: The run's context.
            tool: The tool as it was listed.

        Raises:
            ApprovalRequired: A person must decide.
            ModelRetry: The model can correct the call.
            ToolFailed: The call was denied, or it failed.
        """
        del tool
        call = HostCall(name, self._arguments(ctx, tool_args), ctx.tool_call_id or "",
                        self._caller_of(ctx))  # fmt: skip
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        telling = asyncio.create_task(_tell(ctx, events))
        try:
            if ctx.tool_call_approved:
                result = await self._decide(call, tool_args, ctx, events.put)
            else:
                result = await self._host.begin(call, events.put)
        finally:
            events.put_nowait(None)
            await telling
        return _answer(result, call.caller.conversation)

    async def settle(
        self, requests: DeferredToolRequests, results: DeferredToolResults, deps: Any = None,
        *, conversation: str | None = None,
    ) -> None:  # fmt: skip
        """Reject the questions of the calls that the results deny: pydantic-ai tells no toolset.

        Args:
            requests: What the run asked for.
            results: The decisions.
            deps: The run's `deps`.
            conversation: The run's conversation; the metadata of the requests has it, too.
        """
        for part in requests.approvals:
            approval = results.approvals.get(part.tool_call_id)
            if approval is False or isinstance(approval, ToolDenied):
                asked = requests.metadata.get(part.tool_call_id, {})
                own = conversation or asked.get("conversation")
                caller = self._host.caller_of(deps, conversation=own)
                call = HostCall(part.tool_name, part.args_as_dict(), part.tool_call_id, caller)
                by = results.metadata.get(part.tool_call_id, {}).get("by")
                await self._host.settle(call, by=by)

    def settle_sync(self, *args: Any, **named: Any) -> None:
        """Same as `settle`, for callers that can't await; the calling thread waits."""
        asyncio.run(self.settle(*args, **named))

    async def _decide(
        self, call: HostCall, tool_args: dict[str, Any], ctx: RunContext[Any], tell: EventListener
    ) -> Result:
        metadata = ctx.tool_call_metadata or {}
        edit = self._host.edit_of(call, tool_args)
        decision = Decision.edit(edit) if edit else Decision.approve()
        if text := metadata.get("respond"):
            decision = Decision.respond(str(text))
        return await self._host.decide(
            call, decision, question=metadata.get(QUESTION),
            who=approver_of(call.caller, metadata), on_event=tell,
        )  # fmt: skip

    def _arguments(self, ctx: RunContext[Any], tool_args: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments as the model wrote them, which an edit replaces."""
        for message in reversed(ctx.messages):
            for part in message.parts if isinstance(message, ModelResponse) else ():
                if isinstance(part, ToolCallPart) and part.tool_call_id == ctx.tool_call_id:
                    return dict(part.args_as_dict())
        return tool_args

    def _caller_of(self, ctx: RunContext[Any]) -> Caller:
        prompt = ctx.prompt
        if prompt is not None and not isinstance(prompt, str):
            prompt = "\n".join(one for one in prompt if isinstance(one, str))
        return self._host.caller_of(
            ctx.deps, message=prompt or "", conversation=ctx.conversation_id
        )  # fmt: skip

    def _tool(self, item: dict[str, Any]) -> ToolsetTool[Any]:
        definition = ToolDefinition(
            name=item["name"],
            description=item.get("description"),
            parameters_json_schema=item["inputSchema"],
            return_schema=item.get("outputSchema"),
            strict=False,
        )
        return ToolsetTool(
            toolset=self, tool_def=definition, max_retries=self._max_retries,
            args_validator=_ANYTHING,
        )  # fmt: skip


async def _tell(ctx: RunContext[Any], events: "asyncio.Queue[Event | None]") -> None:
    """Emit the events of a call, until there is none."""
    while (event := await events.get()) is not None:
        await ctx.emit(ToolmdProgress(kind=event.kind, value=event.data))


def _answer(result: Result, conversation: str | None) -> Any:
    """Return what the model reads. Raises the exceptions by which pydantic-ai goes on."""
    if result.outcome in {"confirm", "review"} and (one := result.confirmation) is not None:
        shown = {"prompt": one.prompt, "kind": one.kind, "shown": dict(one.shown)}
        raise ApprovalRequired({QUESTION: one.id, **shown, "conversation": conversation})
    read = result.for_model()
    if read.is_correctable:
        raise ModelRetry(read.text)
    if not result.success and result.outcome != "waiting":
        raise ToolFailed(read.text)
    parts = [BinaryContent(data=part.data, media_type=part.media_type) for part in read.parts]
    return ToolReturn([read.text, *parts] if parts else read.text, metadata=result.to_dict())
