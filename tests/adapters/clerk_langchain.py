"""A clerk of LangChain."""

import asyncio
from typing import Any

from clerks import USER, Clerk, Question
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from toolmd.adapters.langchain import ToolmdMiddleware

CONFIG = {"configurable": {"thread_id": "k1"}}


class LangChain(Clerk):
    """A clerk whose approvals are interrupts."""

    saver: Any = None
    """The checkpoints."""
    own: Any = None
    """What `create_agent` is given besides."""

    def run(self, context: Any = USER) -> list[Question]:
        return self.invoke({"messages": [("user", "Refund A1")]}, context)

    def answer(
        self, one: Question, kind: str = "approve", context: Any = USER, **given: Any
    ) -> list[Question]:
        answer: dict[str, Any] = {"id": one.id, "type": kind}
        if kind == "edit":
            action = {"name": one.key.value["name"], "args": {**one.args, **given}}
            answer["edited_action"] = action
        elif kind == "respond":
            answer["message"] = given["respond"]
        return self.invoke(Command(resume={one.key.id: answer}), context)

    def agent(self) -> Any:
        """Return a new agent."""
        self.saver = self.saver or InMemorySaver()
        own: dict[str, Any] = {"tools": [], "checkpointer": self.saver, **(self.own or {})}
        own.setdefault("middleware", [ToolmdMiddleware(self.ws, **self.fields)])
        return create_agent(Script(clerk=self), context_schema=dict, **own)

    def invoke(self, given: Any, context: Any = USER) -> list[Question]:
        """Run until the model is done or a person must decide."""
        if self.is_async:
            result = asyncio.run(self.agent().ainvoke(given, CONFIG, context=context))
        else:
            result = self.agent().invoke(given, CONFIG, context=context)
        self.state = result["messages"]
        return [
            Question(one.value["id"], str(one.value), one.value["args"], one)
            for one in result.get("__interrupt__", ())
        ]


class Script(BaseChatModel):
    """The clerk's model."""

    clerk: Any

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.clerk.offered.append({one.name for one in tools})
        return self

    @property
    def _llm_type(self) -> str:
        return "script"

    def _generate(self, messages: list[Any], *_: Any, **__: Any) -> ChatResult:
        done = sum(isinstance(one, AIMessage) for one in messages)
        read = [one.content for one in messages if isinstance(one, ToolMessage)][-2:]
        self.clerk.read = str(read)
        flat = [one for each in read if isinstance(each, list) for one in each]
        self.clerk.parts = [one["mime_type"] for one in flat if "mime_type" in one]
        if done == len(self.clerk.replies):
            return ChatResult(generations=[ChatGeneration(message=AIMessage("done"))])
        self.clerk.before()
        calls = [
            {"name": name, "args": given, "id": f"c{done}-{n}", "type": "tool_call"}
            for n, (name, given) in enumerate(self.clerk.replies[done])
        ]
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=calls))])
