"""A clerk of the OpenAI Agents SDK."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, RunContextWrapper, Runner, RunState, Usage, set_tracing_disabled
from agents.items import ModelResponse
from agents.models.interface import Model
from clerks import USER, Clerk, Question, in_thread
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from toolmd.adapters.openai_agents import ToolmdAgent, question_sync, settle

set_tracing_disabled(disabled=True)


class OpenAIAgents(Clerk):
    """A clerk whose approvals are interruptions; an edit decides the question before."""

    own: Any = ()
    """The agent's own tools."""

    def run(self, context: Any = USER) -> list[Question]:
        said = [{"role": "user", "content": "Refund A1"}]
        return self._run(self.agent(), said, context=context)

    def answer(
        self, one: Question, kind: str = "approve", context: Any = USER, **given: Any
    ) -> list[Question]:
        agent, confirmations = self.agent(), self.ws.confirmations
        if kind == "edit":
            confirmations.approve_sync(one.id, given, user=context["user"])
        elif kind == "respond":
            confirmations.respond_sync(one.id, given["respond"], user=context["user"])

        async def restored() -> Any:
            state = await RunState.from_string(
                agent, self.state, context_override=RunContextWrapper(context)
            )
            for item in state.get_interruptions():
                if item.call_id == one.key and kind == "reject":
                    read = await settle(self.ws, item, context)
                    state.reject(item, rejection_message=read)
                elif item.call_id == one.key:
                    state.approve(item, always_approve=kind == "always")
            return state

        return self._run(agent, asyncio.run(restored()))

    def agent(self) -> Agent[Any]:
        """Return a new agent."""
        return ToolmdAgent(
            name="clerk", model=Script(self), workspace=self.ws, tools=[*self.own], **self.fields
        )  # fmt: skip

    def _run(self, agent: Agent[Any], said: Any, **named: Any) -> list[Question]:
        if self.is_async:
            result = asyncio.run(Runner.run(agent, said, **named))
        else:
            result = in_thread(Runner.run_sync, agent, said, **named)
        self.state = result.to_state().to_string()
        context = result.context_wrapper.context
        asked = [(item, question_sync(self.ws, item, context)) for item in result.interruptions]
        return [
            Question(
                "" if one is None else one.id,
                "",
                json.loads(item.arguments or "{}"),
                item.call_id,
            )
            for item, one in asked
        ]


class Script(Model):
    """The clerk's model."""

    def __init__(self, clerk: Clerk) -> None:
        self.clerk = clerk

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        said, offered = (given[1], given[3]) if given else (named["input"], named["tools"])
        clerk = self.clerk
        clerk.offered.append({tool.name for tool in offered})
        read = [one.get("output") for one in said if one.get("output")][-2:]
        clerk.read = str(read)
        flat = [one for each in read if isinstance(each, list) for one in each]
        clerk.parts = [
            url.split(";")[0].removeprefix("data:")
            for one in flat
            if (url := one.get("image_url") or one.get("file_data"))
        ]
        done = sum(one.get("type") == "function_call_output" for one in said)
        made = 0
        for number, reply in enumerate(clerk.replies):
            if made >= done:
                clerk.before()
                output: list[Any] = [
                    ResponseFunctionToolCall(
                        type="function_call", name=name, call_id=f"c{number}-{n}",
                        arguments=json.dumps(given),
                    )
                    for n, (name, given) in enumerate(reply)
                ]  # fmt: skip
                break
            made += len(reply)
        else:
            text = ResponseOutputText(type="output_text", text="done", annotations=[])
            output = [
                ResponseOutputMessage(
                    id="m", type="message", role="assistant", status="completed", content=[text]
                )
            ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
