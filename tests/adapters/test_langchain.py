"""What LangChain alone has: answers that name their question, checkpoints and bare nodes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain")

from clerk_langchain import CONFIG, LangChain
from clerks import USER
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from shop import (
    BOTH_WAYS,
    LOOKED,
    REFUND,
    REFUNDED,
    add_review,
    change,
    open_shop,
    ran,
    write_shop,
)

from toolmd import Workspace
from toolmd.adapters.langchain import tools


@pytest.mark.parametrize(
    "answer",
    [True, "approve", {"type": "approve"}, {"id": "other", "type": "approve"},
     {"decisions": [{"type": "approve"}]}, {"id": "@", "type": "maybe"},
     {"id": "@", "type": "edit"},
     {"id": "@", "type": "edit", "edited_action": {"name": "look", "args": {}}}],
)  # fmt: skip
def test_an_answer_without_the_questions_id_decides_nothing(ws: Workspace, answer: Any) -> None:
    clerk = LangChain(ws, [[REFUND]])
    (asked,) = clerk.run()
    if isinstance(answer, dict) and answer.get("id") == "@":
        answer = {**answer, "id": asked.id}
    (again,) = clerk.invoke(Command(resume=answer))
    assert (again.id, ran(ws)) == (asked.id, [])
    assert clerk.answer(again) == []
    assert ran(ws) == [REFUNDED]


@BOTH_WAYS
def test_an_old_yes_by_order_never_answers_the_second_question(
    ws: Workspace, is_async: bool
) -> None:
    clerk = LangChain(ws, [[("ask_twice", {"order": "A1"})]], is_async=is_async)
    yes = {"id": clerk.run()[0].id, "type": "approve"}
    (second,) = clerk.invoke(Command(resume=yes))
    (again,) = clerk.invoke(Command(resume=yes))
    assert (again.id, ran(ws)) == (second.id, [])
    assert clerk.invoke(Command(resume={"id": second.id, "type": "approve"})) == []
    assert ran(ws) == [LOOKED]


def test_the_model_reads_why_a_person_rejected(ws: Workspace) -> None:
    clerk = LangChain(ws, [[REFUND]])
    (asked,) = clerk.run()
    answer = {"id": asked.id, "type": "reject", "message": "The order is too old"}
    assert clerk.invoke(Command(resume=answer)) == []
    assert "too old" in clerk.read


def test_an_optional_argument_that_a_person_takes_out_is_out(ws: Workspace) -> None:
    old = "- **Read Only**: true"
    new = f"{old}\n\n## Safety\n- **Requires Confirmation**: true"
    change(ws.settings.root, "look", old, new)
    ws.reload()
    clerk = LangChain(ws, [[("look", {"order": "A1", "days": 9})]])
    (asked,) = clerk.run()
    action = {"name": "look", "args": {"order": "A1"}}
    clerk.invoke(Command(resume={"id": asked.id, "type": "edit", "edited_action": action}))
    assert ran(ws) == [LOOKED]


def test_two_questions_are_answered_one_after_the_other(ws: Workspace) -> None:
    clerk = LangChain(ws, [[REFUND, ("refund", {"order": "B2", "amount": 5})]])
    first, second = sorted(clerk.run(), key=lambda one: one.args["order"])
    clerk.answer(first)
    clerk.answer(second, "reject")
    assert ran(ws) == [REFUNDED]
    assert ws.confirmations.pending_sync() == ()


def test_checkpoints_in_a_file_outlive_the_process(ws: Workspace, tmp_path: Path) -> None:
    saver = pytest.importorskip("langgraph.checkpoint.sqlite").SqliteSaver
    clerk = LangChain(ws, [[REFUND]], is_async=False)
    with saver.from_conn_string(str(tmp_path / "checkpoints.db")) as clerk.saver:
        (asked,) = clerk.run()
    ws.close()
    with (
        open_shop(ws.settings.root) as clerk.ws,
        saver.from_conn_string(str(tmp_path / "checkpoints.db")) as clerk.saver,
    ):
        assert clerk.answer(asked) == []
    assert ran(ws) == [REFUNDED]


def test_an_answer_can_not_name_its_approver(tmp_path: Path) -> None:
    with open_shop(add_review(write_shop(tmp_path / "reviewed"))) as ws:
        clerk = LangChain(ws, [[REFUND]])
        (asked,) = clerk.run()
        boss = {"user": "boss", "roles": ["manager"]}
        assert clerk.invoke(Command(resume={"id": asked.id, "type": "approve", **boss}))
        assert ran(ws) == []


@BOTH_WAYS
def test_progress_arrives_before_the_result(ws: Workspace, is_async: bool) -> None:
    agent = LangChain(ws, [[("many", {})]]).agent()
    given = ({"messages": [("user", "Go")]}, CONFIG)
    modes = {"context": USER, "stream_mode": ["custom", "updates"]}

    async def stream() -> list[Any]:
        return [one async for one in agent.astream(*given, **modes)]

    seen = asyncio.run(stream()) if is_async else list(agent.stream(*given, **modes))
    kinds = [mode if mode == "custom" else next(iter(value)) for mode, value in seen]
    assert kinds.index("custom") < kinds.index("tools")
    assert next(value for mode, value in seen if mode == "custom")["kind"] == "progress"


def test_a_message_has_its_status_and_the_whole_result(ws: Workspace) -> None:
    clerk = LangChain(ws, [[("report", {}), ("lok", {})]])
    clerk.run()
    image, unknown = (one for one in clerk.state if isinstance(one, ToolMessage))
    assert (image.status, image.artifact["success"]) == ("success", True)
    assert [block["type"] for block in image.content] == ["text", "image", "file"]
    assert (unknown.status, unknown.artifact["error"]["code"]) == ("error", "unknown_tool")
    assert "look" in unknown.content


def test_the_agents_own_tools_stay_and_none_takes_a_guarded_name(ws: Workspace) -> None:
    @tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    @tool
    def refund(order: str, amount: float) -> str:
        """Refund without a check."""
        return f"UNGUARDED {order} {amount}"

    clerk = LangChain(ws, [[("add", {"a": 1, "b": 2})], [REFUND]])
    clerk.own = {"tools": [add, refund]}
    clerk.answer(clerk.run()[0])
    assert "UNGUARDED" not in str(clerk.state)
    assert ran(ws) == [REFUNDED]
    assert any(one.content == "3" for one in clerk.state)


@BOTH_WAYS
def test_the_fixed_list_works_without_the_middleware(ws: Workspace, is_async: bool) -> None:
    clerk = LangChain(ws, [[REFUND, ("look", {"order": "A1", "config": 1})]], is_async=is_async)
    clerk.own = {"tools": tools(ws), "middleware": []}
    (asked,) = clerk.run()
    assert clerk.answer(asked) == []
    assert ran(ws) == [REFUNDED]  # LangChain would take an argument named `config` out unseen.


def test_a_node_of_tools_asks_too(ws: Workspace) -> None:
    graph = StateGraph(MessagesState, context_schema=dict)
    graph.add_node("tools", ToolNode(tools(ws)))
    graph.add_edge(START, "tools")
    app = graph.compile(checkpointer=InMemorySaver())
    call = {"name": REFUND[0], "args": REFUND[1], "id": "c1", "type": "tool_call"}
    said = {"messages": [("user", "Refund"), AIMessage("", tool_calls=[call])]}
    (asked,) = app.invoke(said, CONFIG, context=USER)["__interrupt__"]
    answer = {"id": asked.value["id"], "type": "approve"}
    app.invoke(Command(resume=answer), CONFIG, context=USER)
    assert ran(ws) == [REFUNDED]


def test_an_agent_without_a_checkpointer_warns(ws: Workspace) -> None:
    clerk = LangChain(ws, [[REFUND]])
    clerk.own = {"checkpointer": None}
    with pytest.warns(UserWarning, match="no checkpointer"):
        clerk.agent().invoke({"messages": [("user", "Refund")]}, context=USER)
    assert len(ws.confirmations.pending_sync()) == 1
