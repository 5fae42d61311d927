"""An agent of the OpenAI Agents SDK calls the shop's tools: approvals decide stored questions."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, RunContextWrapper, Runner, RunState, Usage, set_tracing_disabled
from agents.items import ModelResponse
from agents.models.interface import Model
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from shop import add_asking_skill, add_report, calls_of, open_shop, write_shop

from toolmd import Approver, Workspace
from toolmd.adapters.openai_agents import ToolmdAgent, question_sync, settle_sync, tools

set_tracing_disabled(disabled=True)
Calls = list[tuple[str, dict[str, Any]]]
USER = {"user": "u1", "conversation": "k1"}
REFUND = ("refund", {"order": "A1", "amount": 120})
REFUNDED = "refund ['A1', 120.0] by u1"
LOOK = ("look", {"order": "A1"})


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    """Return the open shop."""
    folder = write_shop(tmp_path / "shop")
    add_asking_skill(folder)
    add_report(folder)
    with open_shop(folder) as opened:
        yield opened


class Script(Model):
    """A model that makes these replies, each a list of calls, and then says `done`."""

    def __init__(self, *replies: Calls) -> None:
        self.replies = list(replies)
        self.offered: list[set[str]] = []
        self.read = ""
        self.before: Callable[[], None] = lambda: None

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        system, said, settings, offered, *_ = given or (
            None, named["input"], None, named["tools"]
        )  # fmt: skip
        del system, settings
        self.offered.append({tool.name for tool in offered})
        self.read = str([one.get("output") for one in said if one.get("output")][-2:])
        done = sum(one.get("type") == "function_call_output" for one in said)
        made = 0
        for number, reply in enumerate(self.replies):
            if made >= done:
                self.before()
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


def agent(ws: Workspace, model: Script, **fields: Any) -> ToolmdAgent:
    """Return an agent with the workspace's tools."""
    return ToolmdAgent(name="clerk", model=model, workspace=ws, **fields)


def run(ws: Workspace, model: Script, **fields: Any) -> Any:
    """Run until the model is done or a person must decide."""
    said = [{"role": "user", "content": "Refund A1"}]
    return asyncio.run(Runner.run(agent(ws, model, **fields), said, context=USER))  # type: ignore[arg-type]


async def _restored(agent: Agent[Any], text: str, context: Any) -> Any:
    return await RunState.from_string(agent, text, context_override=context)


def go_on(
    ws: Workspace, model: Script, result: Any, said: bool | str, context: Any = USER, **fields: Any
) -> Any:
    """Resume in a new agent, from the serialised state."""
    clerk = agent(ws, model, **fields)
    text = result.to_state().to_string()
    state = asyncio.run(_restored(clerk, text, RunContextWrapper(context)))
    for item in state.get_interruptions():
        if said:
            state.approve(item, always_approve=said == "always")
        else:
            state.reject(item, rejection_message=settle_sync(ws, item, context))
    return asyncio.run(Runner.run(clerk, state))


def ran(ws: Workspace) -> list[str]:
    """Return the calls that ran."""
    return calls_of(ws.settings.root)


def test_a_model_corrects_a_denied_call(ws: Workspace) -> None:
    wrong = ("look", {"order": "A1", "days": 0})
    model = Script([wrong], [wrong], [wrong], [wrong], [("look", {"order": "A1", "days": 2})])
    assert run(ws, model).final_output == "done"
    assert ran(ws) == ["look ['A1', 2] by u1"]
    assert {"refund", "look"} <= model.offered[0]


def test_an_approved_call_runs_once_and_so_does_its_neighbour(ws: Workspace) -> None:
    model = Script([REFUND, LOOK])
    waits = run(ws, model)
    assert [item.call_id for item in waits.interruptions] == ["c0-0"]
    for _ in range(2):
        assert go_on(ws, model, waits, True).final_output == "done"
    assert sorted(ran(ws)) == ["look ['A1', 1] by u1", REFUNDED]


def test_a_new_process_carries_the_approval_out(ws: Workspace) -> None:
    model = Script([REFUND])
    waits = run(ws, model)
    ws.close()
    with open_shop(ws.settings.root) as again:
        assert go_on(again, model, waits, True).final_output == "done"
    assert ran(ws) == [REFUNDED]


def test_a_no_runs_nothing_and_leaves_no_question(ws: Workspace) -> None:
    model = Script([REFUND])
    go_on(ws, model, run(ws, model), False)
    assert (ran(ws), ws.confirmations.pending_sync()) == ([], ())
    assert "rejected" in model.read


def test_an_edit_of_the_question_is_what_the_model_reads(ws: Workspace) -> None:
    model = Script([REFUND])
    waits = run(ws, model)
    asked = question_sync(ws, waits.interruptions[0], USER)
    assert asked is not None
    bad = ws.confirmations.approve_sync(asked.id, {"amount": 999}, user="u1")
    assert (bad.error and bad.error.code, ran(ws)) == ("invalid_arguments", [])
    ws.confirmations.approve_sync(asked.id, {"amount": 150}, user="u1")
    go_on(ws, model, waits, True)
    assert ran(ws) == ["refund ['A1', 150.0] by u1"]
    assert "changed the arguments" in model.read


def test_a_sticky_approval_runs_nothing_that_nobody_saw(ws: Workspace) -> None:
    model = Script([REFUND], [("refund", {"order": "B2", "amount": 500})])
    assert go_on(ws, model, run(ws, model), "always").final_output == "done"
    assert ran(ws) == [REFUNDED]
    assert "confirm" in model.read
    assert len(ws.confirmations.pending_sync()) == 1


def test_another_user_decides_nothing(ws: Workspace) -> None:
    model = Script([REFUND])
    go_on(ws, model, run(ws, model), True, {**USER, "user": "u2"})
    assert ran(ws) == []


def test_changed_python_is_asked_about_again(ws: Workspace) -> None:
    model = Script([REFUND])
    waits = run(ws, model)
    python = ws.settings.root / "tools_md/refund.py"
    python.write_text(python.read_text() + "\nOTHER = 1\n")
    ws.reload()
    for _ in range(2):  # The old answer, twice: it never answers the new question.
        go_on(ws, model, waits, True)
    assert ran(ws) == []
    assert len(ws.confirmations.pending_sync()) == 1


def test_a_yes_to_the_first_question_of_a_skill_never_answers_the_second(ws: Workspace) -> None:
    model = Script([("ask_twice", {"order": "A1"})])
    waits = run(ws, model)
    for _ in range(2):
        assert go_on(ws, model, waits, True).final_output == "done"
    assert ran(ws) == []
    (second,) = ws.confirmations.pending_sync()
    assert second.prompt == "The second?"
    ws.confirmations.approve_sync(second.id, user="u1")
    assert ran(ws) == ["look ['A1', 1] by u1"]


def test_the_decider_approves_for_the_caller(ws: Workspace) -> None:
    model = Script([REFUND])
    waits = run(ws, model)
    go_on(ws, model, waits, True, decider=lambda context: Approver("boss", "Boss"))
    assert ran(ws) == []  # The boss may not confirm what only the caller may.
    go_on(ws, model, waits, True, decider=lambda context: Approver(context["user"], "Ann"))
    assert ran(ws) == [REFUNDED]


def test_a_reload_shows_with_the_next_request(ws: Workspace) -> None:
    model = Script([LOOK])

    def remove() -> None:
        (ws.settings.root / "tools_md/refund.tool.md").unlink()
        ws.reload()

    model.before = remove
    run(ws, model)
    assert "refund" in model.offered[0]
    assert "refund" not in model.offered[-1]


def test_an_image_is_an_image_and_confidence_stays_out(ws: Workspace) -> None:
    model = Script([("report", {"_confidence": 0.9})])
    assert run(ws, model).final_output == "done"
    assert "input_image" in model.read
    assert ran(ws) == []


def test_text_that_is_no_object_is_denied_whatever_is_approved(ws: Workspace) -> None:
    model = Script([("refund", ["no", "object"])])  # type: ignore[list-item]
    go_on(ws, model, run(ws, model), True)
    assert "malformed_call" in model.read
    assert ran(ws) == []


@pytest.mark.filterwarnings("ignore:asynchronous generator")
def test_the_fixed_list_works_in_any_agent_and_without_await(ws: Workspace) -> None:
    model = Script([LOOK])
    plain = Agent[Any](name="plain", model=model, tools=list(tools(ws)))
    with ThreadPoolExecutor() as pool:  # Another test's loop would be closed.
        done = pool.submit(Runner.run_sync, plain, "Look", context=USER).result()
    assert done.final_output == "done"
    assert ran(ws) == ["look ['A1', 1] by u1"]


def test_a_copy_of_an_agent_has_each_tool_once(ws: Workspace) -> None:
    model = Script([LOOK])
    clerk = agent(ws, model)
    asyncio.run(Runner.run(clerk, "Look", context=USER))
    copy = clerk.clone(name="copy")
    asyncio.run(Runner.run(copy, "Look", context={**USER, "conversation": "k2"}))
    assert len({tool.name for tool in copy.tools}) == len(copy.tools)
    assert len(ran(ws)) == 2
