"""What pydantic-ai alone has: deferred requests with metadata, and events."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from clerk_pydantic_ai import PydanticAI
from clerks import USER
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import DeferredToolResults
from shop import REFUND, calls_of

from toolmd import Workspace
from toolmd.adapters.pydantic_ai import ToolmdProgress


def resume(clerk: PydanticAI, key: str) -> Any:
    """Approve without the metadata, as a host does that does not pass it on."""
    _, history = clerk.state
    results = DeferredToolResults(approvals={key: True})
    return clerk._run(message_history=history, deferred_tool_results=results, deps=USER)


def test_a_bare_yes_decides_the_only_question_of_a_call(ws: Workspace) -> None:
    clerk = PydanticAI(ws, [[REFUND]])
    (asked,) = clerk.run()
    assert resume(clerk, asked.key) == []
    assert calls_of(ws.settings.root) == ["refund ['A1', 120.0] by u1"]


def test_a_bare_yes_never_decides_the_second_question(ws: Workspace) -> None:
    clerk = PydanticAI(ws, [[("ask_twice", {"order": "A1"})]])
    (first,) = clerk.run()
    (second,) = clerk.answer(first)
    resume(clerk, second.key)
    assert "confirmation_not_found" in clerk.read
    assert calls_of(ws.settings.root) == []


def test_progress_arrives_before_the_result(ws: Workspace) -> None:
    clerk = PydanticAI(ws, [[("many", {})]])
    seen: list[Any] = []

    async def listen(ctx: Any, events: Any) -> None:
        seen.extend([event async for event in events])

    agent = clerk.agent(clerk.toolset())
    model = TestModel(call_tools=["many"])  # It streams, which a function alone does not.
    asyncio.run(agent.run("Go", deps=USER, model=model, event_stream_handler=listen))
    kinds = [type(one).__name__ for one in seen]
    (told,) = (one for one in seen if isinstance(one, ToolmdProgress))
    assert (told.kind, told.value["text"]) == ("progress", "half")
    assert kinds.index("ToolmdProgress") < kinds.index("FunctionToolResultEvent")
