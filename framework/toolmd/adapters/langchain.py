"""Offer a workspace's tools and skills to an agent of LangChain, or to a node of LangGraph."""

import warnings
from base64 import b64encode
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import interrupt

from toolmd._types.call import Caller
from toolmd._types.confirmation import Confirmation
from toolmd._types.decision import Approver, Decision
from toolmd._types.parts import File
from toolmd._types.result import Event, Result
from toolmd._workspace import Workspace
from toolmd.adapters._host import Host, HostCall

CallerOf = Callable[[Any], Caller]
"""Returns the caller of a run's context."""
ApproverOf = Callable[[Any], Approver]
"""Returns the person who decides, by a run's context."""
Steps = Generator[Coroutine[Any, Any, Result], Result, ToolMessage]
"""The steps of a call, for a driver that awaits each and for one that waits."""
NO_CHECKPOINTER = (
    "a tool call waits for a person, but this agent has no checkpointer and can't be resumed:"
    " pass create_agent(checkpointer=…) and a thread_id; `toolmd confirm` decides the call"
)


class ToolmdMiddleware(AgentMiddleware[Any, Any]):
    """The tools and skills of a workspace for `create_agent`; each call goes through its checks.

    Its list follows a reload: each model request offers what the run's caller may call now.
    """

    def __init__(self, workspace: Workspace, caller: CallerOf | None = None, *,
                 decider: ApproverOf | None = None) -> None:  # fmt: skip
        """Keep the workspace.

        Args:
            workspace: The open workspace.
            caller: Returns the caller of the run's `context`; by default the context is a Caller,
                or a mapping of its fields.
            decider: Returns who decides, by the context of the resumed run; by default the caller.
        """
        super().__init__()
        self._host, self._decider = Host(workspace, caller), decider
        self._built: dict[str, tuple[dict[str, Any], BaseTool]] = {}

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        """Offer what the caller may be offered now.

        Args:
            request: The model request.
            handler: Makes the request.
        """
        offered = self._host.tools_sync(self._host.caller_of(request.runtime.context))
        return handler(self._offer(request, offered))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[..., Awaitable[Any]]
    ) -> Any:
        """Same as `wrap_model_call`, for an agent that awaits.

        Args:
            request: The model request.
            handler: Makes the request.
        """
        offered = await self._host.tools(self._host.caller_of(request.runtime.context))
        return await handler(self._offer(request, offered))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[..., Any]) -> Any:
        """Call a tool or skill of the workspace; the agent's other tools go on to `handler`.

        Args:
            request: The model's call.
            handler: Calls a tool of the agent itself.
        """
        if not self._is_ours(request):
            return handler(request)
        return self._run(request.tool_call, request.runtime)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[..., Awaitable[Any]]
    ) -> Any:
        """Same as `wrap_tool_call`, for an agent that awaits.

        Args:
            request: The model's call.
            handler: Calls a tool of the agent itself.
        """
        if not self._is_ours(request):
            return await handler(request)
        return await self._arun(request.tool_call, request.runtime)

    def fixed_tools(self) -> list[BaseTool]:
        """Return the tools of all callers, which go through the checks without the middleware."""
        return [self._tool(item) for item in self._host.workspace.export("mcp")]

    def _offer(self, request: ModelRequest[Any], items: list[dict[str, Any]]) -> ModelRequest[Any]:
        """Return the request with these tools; one of the agent's with the same name goes."""
        find, ours = self._host.names().find, [self._tool(item) for item in items]
        own = (one for one in request.tools if not isinstance(one, BaseTool) or not find(one.name))
        return request.override(tools=[*own, *ours])

    def _is_ours(self, request: ToolCallRequest) -> bool:
        """Return whether a call is for the workspace; so is a name that the agent lacks."""
        return request.tool is None or self._host.names().find(request.tool.name) is not None

    def _tool(self, item: dict[str, Any]) -> BaseTool:
        """Return the tool of an item, the same object while the item does not change."""
        name = item["name"]
        if (before := self._built.get(name)) is not None and before[0] == item:
            return before[1]

        # LangGraph finds the parameter by its type; its name is none that a file would use.
        def call(toolmd_runtime: ToolRuntime, **args: Any) -> ToolMessage:
            return self._run(_call_of(name, args, toolmd_runtime), toolmd_runtime)

        async def acall(toolmd_runtime: ToolRuntime, **args: Any) -> ToolMessage:
            return await self._arun(_call_of(name, args, toolmd_runtime), toolmd_runtime)

        tool = StructuredTool(
            name=name, description=item.get("description") or name,
            args_schema=item["inputSchema"], func=call, coroutine=acall,
        )  # fmt: skip
        self._built[name] = (item, tool)
        return tool

    def _run(self, called: Mapping[str, Any], runtime: ToolRuntime[Any, Any]) -> ToolMessage:
        steps = self._steps(called, runtime)
        step = _next(steps)
        while not isinstance(step, ToolMessage):
            step = _next(steps, self._host.finish_sync(step))
        return step

    async def _arun(self, called: Mapping[str, Any], runtime: ToolRuntime[Any, Any]) -> ToolMessage:
        steps = self._steps(called, runtime)
        step = _next(steps)
        while not isinstance(step, ToolMessage):
            step = _next(steps, await step)
        return step

    def _steps(self, called: Mapping[str, Any], runtime: ToolRuntime[Any, Any]) -> Steps:
        """Make a call, interrupt while it asks a person, and return the message."""

        def tell(event: Event) -> None:
            runtime.stream_writer({"kind": event.kind, "value": event.data})

        texts = [one.text for one in _messages(runtime.state) if isinstance(one, HumanMessage)]
        thread = str(runtime.config.get("configurable", {}).get("thread_id") or "") or None
        message = texts[-1] if texts else ""
        caller = self._host.caller_of(runtime.context, message=message, conversation=thread)
        call = HostCall(called["name"], called["args"], runtime.tool_call_id or "", caller)
        result = yield self._host.begin(call, tell)
        while result.outcome in {"confirm", "review"} and (one := result.confirmation) is not None:
            if runtime.execution_info is not None and runtime.execution_info.thread_id is None:
                warnings.warn(NO_CHECKPOINTER, stacklevel=2)
            # A node that starts again replays its answers in order: those to other questions
            # decide nothing here, and neither does an answer that names none.
            while (
                decision := self._decision(call, one, answer := interrupt(_asked(call, one)))
            ) is None:
                pass
            who = None if self._decider is None else self._decider(runtime.context)
            result = yield self._host.decide(call, decision, question=one.id, who=who,
                                             on_event=tell)  # fmt: skip
            if decision.kind == "reject" and answer.get("message"):
                reason = f"The person said: {answer['message']}"
                result = result._replace(notes=(*result.notes, reason))
        return _message(call, result)

    def _decision(self, call: HostCall, one: Confirmation, answer: Any) -> Decision | None:
        """Return the decision of an answer; None where it is none, or not to this question."""
        answer = answer if isinstance(answer, Mapping) and answer.get("id") == one.id else {}
        kind, message, action = (answer.get(key) for key in ("type", "message", "edited_action"))
        if kind in {"approve", "reject"}:
            return Decision.approve() if kind == "approve" else Decision.reject()
        if kind == "respond" and message:
            return Decision.respond(str(message))
        action = action if kind == "edit" and isinstance(action, Mapping) else {}
        if action.get("name") != call.name or not isinstance(action.get("args"), Mapping):
            return None
        edit = self._host.edit_of(call, action["args"], one.shown)
        return Decision.edit(edit) if edit else Decision.approve()


def tools(
    workspace: Workspace, caller: CallerOf | None = None, *, decider: ApproverOf | None = None
) -> list[BaseTool]:
    """Return the tools and skills for a ToolNode; unlike the middleware's, the list is fixed.

    Args:
        workspace: The open workspace.
        caller: Returns the caller of the run's `context`; by default the context is a Caller, or
            a mapping of its fields.
        decider: Returns who decides, by the context of the resumed run; by default the caller.
    """
    return ToolmdMiddleware(workspace, caller, decider=decider).fixed_tools()


def _next(steps: Steps, result: Any = None) -> Coroutine[Any, Any, Result] | ToolMessage:
    """Return the next step of a call, or the message at its end."""
    try:
        return steps.send(result)
    except StopIteration as end:
        message: ToolMessage = end.value
        return message


def _messages(state: Any) -> list[Any]:
    if isinstance(state, Mapping):
        return list(state.get("messages", ()))
    return list(state if isinstance(state, list) else getattr(state, "messages", ()))


def _call_of(name: str, args: Mapping[str, Any], runtime: ToolRuntime[Any, Any]) -> dict[str, Any]:
    """Return the call as the model wrote it: LangChain takes an argument named `config` out."""
    calls = (call for one in reversed(_messages(runtime.state)) if isinstance(one, AIMessage)
             for call in one.tool_calls if call["id"] == runtime.tool_call_id)  # fmt: skip
    return {"name": name, "args": next((call["args"] for call in calls), args)}


def _asked(call: HostCall, one: Confirmation) -> dict[str, Any]:
    """Return the value of an interrupt: LangChain's request for one call, and the question's id."""
    value = {"id": one.id, "type": "tool_approval", "tool_call_id": call.id, "name": call.name,
             "args": dict(one.shown), "description": one.prompt, "kind": one.kind,
             "allowed_decisions": ["approve", "edit", "reject", "respond"]}  # fmt: skip
    return value if one.form is None else {**value, "form": dict(one.form)}


def _message(call: HostCall, result: Result) -> ToolMessage:
    """Return what the model reads, with the whole result for the host."""
    read = result.for_model()
    blocks = [{"type": "text", "text": read.text}, *map(_block, read.parts)]
    status = "success" if result.success or result.outcome == "waiting" else "error"
    return ToolMessage(blocks if read.parts else read.text, name=call.name, status=status,
                       tool_call_id=call.id, artifact=result.to_dict())  # fmt: skip


def _block(part: File) -> dict[str, Any]:
    kind = part.media_type.partition("/")[0]
    block = {"type": kind if kind in {"image", "audio", "video"} else "file",
             "base64": b64encode(part.data).decode(), "mime_type": part.media_type}  # fmt: skip
    return {**block, "extras": {"filename": part.name}} if part.name else block
