"""What the OpenAI Agents SDK alone has: sticky approvals, copies, and one question for a call."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, Runner, function_tool
from clerk_openai_agents import OpenAIAgents, Script
from clerks import USER, in_thread
from shop import LOOK, LOOKED, REFUND, REFUNDED, ran

from toolmd import Approver, Workspace
from toolmd.adapters.openai_agents import tools


def test_a_sticky_approval_runs_nothing_that_nobody_saw(ws: Workspace) -> None:
    clerk = OpenAIAgents(ws, [[REFUND], [("refund", {"order": "B2", "amount": 500})]])
    assert clerk.answer(clerk.run()[0], "always") == []
    assert ran(ws) == [REFUNDED]
    assert "confirm" in clerk.read
    assert len(ws.confirmations.pending_sync()) == 1


def test_the_second_question_of_a_skill_is_decided_in_the_workspace(ws: Workspace) -> None:
    clerk = OpenAIAgents(ws, [[("ask_twice", {"order": "A1"})]])
    assert clerk.answer(clerk.run()[0]) == []
    assert "The second?" in clerk.read
    (second,) = ws.confirmations.pending_sync()
    ws.confirmations.approve_sync(second.id, user="u1")
    assert ran(ws) == [LOOKED]


def test_the_decider_approves_only_what_it_may(ws: Workspace) -> None:
    clerk = OpenAIAgents(ws, [[REFUND]])
    (asked,) = clerk.run()
    before = clerk.state
    clerk.fields = {"decider": lambda context: {"user": "boss", "name": "Boss"}}
    clerk.answer(asked)
    assert ran(ws) == []  # The boss may not confirm what only the caller may.
    clerk.state = before
    clerk.fields = {"decider": lambda context: Approver(context["user"], "Ann")}
    clerk.answer(asked)
    assert ran(ws) == [REFUNDED]


def test_text_that_is_no_object_is_denied_whatever_is_approved(ws: Workspace) -> None:
    clerk = OpenAIAgents(ws, [[("refund", ["no", "object"])]])  # type: ignore[list-item]
    for asked in clerk.run():
        clerk.answer(asked)
    assert "malformed_call" in clerk.read
    assert ran(ws) == []


def test_the_fixed_list_works_in_any_agent(ws: Workspace) -> None:
    model = Script(OpenAIAgents(ws, [[LOOK]]))
    plain = Agent[Any](name="plain", model=model, tools=list(tools(ws)))
    assert in_thread(Runner.run_sync, plain, "Look", context=USER).final_output == "done"
    assert ran(ws) == [LOOKED]


def test_an_own_function_takes_no_guarded_name(ws: Workspace) -> None:
    @function_tool
    def refund(order: str, amount: float) -> str:
        return f"UNGUARDED {order} {amount}"

    @function_tool
    def add(a: int, b: int) -> int:
        return a + b

    clerk = OpenAIAgents(ws, [[("add", {"a": 1, "b": 2})], [REFUND]])
    clerk.own = [refund, add]
    assert clerk.answer(clerk.run()[0]) == []
    assert "UNGUARDED" not in clerk.read
    assert ran(ws) == [REFUNDED]


def test_a_copy_of_an_agent_has_each_tool_once(ws: Workspace) -> None:
    first = OpenAIAgents(ws, [[LOOK]]).agent()
    asyncio.run(Runner.run(first, "Look", context=USER))
    copy = first.clone(name="copy")
    asyncio.run(Runner.run(copy, "Look", context={**USER, "conversation": "k2"}))
    assert len({tool.name for tool in copy.tools}) == len(copy.tools)
    assert len(ran(ws)) == 2
