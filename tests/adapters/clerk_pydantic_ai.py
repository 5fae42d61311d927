"""A clerk of pydantic-ai."""

import asyncio
from typing import Any

from clerks import USER, Clerk, Question, in_thread
from pydantic import TypeAdapter
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied

from toolmd.adapters.pydantic_ai import ToolmdToolset

REQUESTS = TypeAdapter(DeferredToolRequests)


class PydanticAI(Clerk):
    """A clerk whose approvals are deferred tool requests."""

    def run(self, context: Any = USER) -> list[Question]:
        return self._run("Refund A1", deps=context)

    def answer(
        self, one: Question, kind: str = "approve", context: Any = USER, **given: Any
    ) -> list[Question]:
        requests, history, told = *self.state, {}
        toolset = self.toolset()
        said: Any = True
        if kind == "edit":
            said = ToolApproved(override_args={**one.args, **given})
        elif kind == "reject":
            said = ToolDenied("A person rejected it")
        elif kind == "respond":
            told = given
        told = {**requests.metadata[one.key], "question": one.id, **told}
        results = DeferredToolResults(approvals={one.key: said}, metadata={one.key: told})
        asyncio.run(toolset.settle(requests, results, context))
        return self._run(
            message_history=history, deferred_tool_results=results, deps=context, toolset=toolset
        )

    def toolset(self) -> ToolmdToolset:
        """Return a new toolset."""
        return ToolmdToolset(self.ws, **self.fields)

    def agent(self, toolset: ToolmdToolset) -> Agent[Any, Any]:
        """Return a new agent."""
        output = [str, DeferredToolRequests]
        return Agent(FunctionModel(self._reply), toolsets=[toolset], output_type=output)

    def _run(self, *given: Any, toolset: ToolmdToolset | None = None, **named: Any) -> Any:
        agent = self.agent(toolset or self.toolset())
        if self.is_async:
            result = asyncio.run(agent.run(*given, **named))
        else:
            result = in_thread(agent.run_sync, *given, **named)
        if not isinstance(result.output, DeferredToolRequests):
            return []
        stored = REQUESTS.dump_json(result.output)
        requests = REQUESTS.validate_json(stored)
        self.state = requests, ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
        return [
            Question(
                requests.metadata[one.tool_call_id]["question"],
                str(requests.metadata),
                one.args_as_dict(),
                one.tool_call_id,
            )
            for one in requests.approvals
        ]

    def _reply(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.offered.append({tool.name for tool in info.function_tools})
        content = [getattr(part, "content", "") for part in messages[-1].parts]
        self.read = str(content)
        flat = [one for each in content for one in (each if isinstance(each, list) else [each])]
        self.parts = [one.media_type for one in flat if isinstance(one, BinaryContent)]
        done = sum(isinstance(one, ModelResponse) for one in messages)
        if done >= len(self.replies):
            return ModelResponse([TextPart("done")])
        self.before()
        return ModelResponse(
            [
                ToolCallPart(name, given, tool_call_id=f"c{done}-{n}")
                for n, (name, given) in enumerate(self.replies[done])
            ]
        )
