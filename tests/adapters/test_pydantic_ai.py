"""An agent of pydantic-ai calls the shop's tools: its approvals decide stored questions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import TypeAdapter
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied
from shop import calls_of, open_shop, write_shop

from toolmd import Workspace
from toolmd.adapters.pydantic_ai import ToolmdToolset

Calls = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    """Return the open shop."""
    with open_shop(write_shop(tmp_path / "shop")) as opened:
        yield opened


class Script:
    """A model that makes these replies, each a list of calls, and then says `done`."""

    def __init__(self, *replies: Calls) -> None:
        self.replies, self.offered, self.read = list(replies), [], ""  # type: ignore[var-annotated]

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.offered.append({tool.name for tool in info.function_tools})
        self.read = str([getattr(part, "content", "") for part in messages[-1].parts])
        done = sum(isinstance(one, ModelResponse) for one in messages)
        if done >= len(self.replies):
            return ModelResponse([TextPart("done")])
        return ModelResponse(
            [
                ToolCallPart(name, given, tool_call_id=f"c{done}-{n}")
                for n, (name, given) in enumerate(self.replies[done])
            ]
        )


def agent(ws: Workspace, model: Script) -> Agent[Any, Any]:
    """Return an agent with the workspace's tools."""
    toolset = ToolmdToolset(ws)
    return Agent(
        FunctionModel(model),
        toolsets=[toolset],
        output_type=[str, DeferredToolRequests],
        deps_type=dict,
    )


USER = {"user": "u1"}
REFUND = ("refund", {"order": "A1", "amount": 120})


def ask(ws: Workspace, model: Script) -> Any:
    """Run until a person must decide."""
    result = agent(ws, model).run_sync("Refund A1", deps=USER)
    assert isinstance(result.output, DeferredToolRequests)
    return result


def go_on(
    ws: Workspace, model: Script, result: Any, said: Any, deps: Any = USER, **metadata: Any
) -> Any:
    """Resume in a new agent, from the serialised state."""
    kind = TypeAdapter(DeferredToolRequests)
    requests = kind.validate_json(kind.dump_json(result.output))
    history = ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
    told = {name: {**one, **metadata} for name, one in requests.metadata.items()}
    results = DeferredToolResults(
        approvals={one.tool_call_id: said for one in requests.approvals}, metadata=told
    )
    return agent(ws, model).run_sync(
        message_history=history, deferred_tool_results=results, deps=deps
    )


def test_a_model_corrects_a_denied_call(ws: Workspace) -> None:
    wrong = ("look", {"order": "A1", "days": 0})
    model = Script([wrong], [wrong], [wrong], [wrong], [("look", {"order": "A1", "days": 2})])
    assert agent(ws, model).run_sync("Look", deps=USER).output == "done"
    assert len(calls_of(ws.settings.root)) == 1
    assert model.offered[0] == {"refund", "look"}


def test_an_approved_call_runs_once_for_its_caller(ws: Workspace) -> None:
    model = Script([REFUND, ("look", {"order": "A1"})])
    waits = ask(ws, model)
    for _ in range(2):
        assert go_on(ws, model, waits, True).output == "done"
    assert sorted(calls_of(ws.settings.root)) == [
        "look ['A1', 1] by u1",
        "refund ['A1', 120.0] by u1",
    ]


@pytest.mark.parametrize(
    ("said", "ran"),
    [
        (
            ToolApproved(override_args={"order": "A1", "amount": 150}),
            ["refund ['A1', 150.0] by u1"],
        ),
        (ToolDenied("no"), []),
    ],
)
def test_an_edit_is_checked_and_told_and_a_no_runs_nothing(
    ws: Workspace, said: Any, ran: list[str]
) -> None:
    model = Script([REFUND])
    assert go_on(ws, model, ask(ws, model), said).output == "done"
    assert calls_of(ws.settings.root) == ran
    assert ("changed amount" in model.read) == bool(ran)


def test_a_bad_edit_asks_again(ws: Workspace) -> None:
    model = Script([REFUND])
    said = ToolApproved(override_args={"order": "A1", "amount": 999})
    again = go_on(ws, model, ask(ws, model), said)
    assert isinstance(again.output, DeferredToolRequests)
    assert calls_of(ws.settings.root) == []


def test_settle_closes_the_question_of_a_no(ws: Workspace) -> None:
    model = Script([REFUND])
    waits = ask(ws, model)
    results = DeferredToolResults(approvals={"c0-0": ToolDenied("no")})
    ToolmdToolset(ws).settle_sync(waits.output, results, USER)
    assert ws.confirmations.pending_sync() == ()


def test_another_user_decides_nothing(ws: Workspace) -> None:
    model = Script([REFUND])
    go_on(ws, model, ask(ws, model), True, {"user": "u2"})
    assert calls_of(ws.settings.root) == []
    assert "confirmation_not_found" in model.read


def test_a_new_process_carries_the_approval_out(ws: Workspace) -> None:
    model = Script([REFUND])
    waits = ask(ws, model)
    ws.close()
    with open_shop(ws.settings.root) as again:
        assert go_on(again, model, waits, True).output == "done"
    assert len(calls_of(ws.settings.root)) == 1


def test_a_person_answers_in_the_tools_place(ws: Workspace) -> None:
    model = Script([REFUND])
    go_on(ws, model, ask(ws, model), True, respond="Paid in cash")
    assert "Paid in cash" in model.read
    assert calls_of(ws.settings.root) == []


def test_a_decision_on_the_console_is_found(ws: Workspace) -> None:
    model = Script([REFUND])
    waits = ask(ws, model)
    ws.confirmations.approve_sync(ws.confirmations.pending_sync()[0].id)
    go_on(ws, model, waits, True)
    assert len(calls_of(ws.settings.root)) == 1
    assert '"done":"refund"' in model.read


def test_changed_python_is_asked_about_again_and_an_old_yes_does_not_count(ws: Workspace) -> None:
    model = Script([REFUND])
    waits = ask(ws, model)
    python = ws.settings.root / "tools_md/refund.py"
    python.write_text(python.read_text() + "\nOTHER = 1\n")
    ws.reload()
    for _ in range(2):  # The old answer, twice: it never answers the new question.
        again = go_on(ws, model, waits, True)
        assert isinstance(again.output, DeferredToolRequests)
    assert calls_of(ws.settings.root) == []
    assert go_on(ws, model, again, True).output == "done"
    assert len(calls_of(ws.settings.root)) == 1


def test_a_reload_shows_with_the_next_request(ws: Workspace) -> None:
    model = Script([("look", {"order": "A1"})])

    def reload(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if not model.offered:
            (ws.settings.root / "tools_md/refund.tool.md").unlink()
            ws.reload()
        return model(messages, info)

    Agent(FunctionModel(reload), toolsets=[ToolmdToolset(ws)]).run_sync("Look", deps=USER)
    assert model.offered[-1] == {"look"}
