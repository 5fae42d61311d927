"""Input that a server asks for during a call goes to the same person as our confirmations."""

import asyncio
import json
import sqlite3
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from guarded import Guarded, called
from mcp import Client
from mcp.types import ElicitResult, InputRequiredResult

from toolmd import Approver, Decision, Workspace
from toolmd._gateway.servers import Servers
from toolmd._gateway.session import asked_in, following
from toolmd._mcp.callers import Callers
from toolmd._mcp.server import McpServer
from toolmd._store.store import Store
from toolmd._types.asked import Asked
from toolmd._types.call import Caller
from toolmd._types.settings import Settings
from toolmd.errors import ToolError

MODERN = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import (CallToolResult, ElicitRequest, ElicitRequestFormParams, InputRequiredResult,
                       ListToolsResult, TextContent, Tool)

SCHEMA = {"type": "object", "required": ["size"], "properties": {
    "size": {"type": "integer", "minimum": 1, "maximum": 5},
    "note": {"type": "string", "default": "none"}}}

async def list_tools(ctx, params):
    return ListToolsResult(tools=[Tool(name="ask", description="Tool ask", input_schema={
        "type": "object", "properties": {"text": {"type": "string"}}})])

async def call_tool(ctx, params):
    told = params.input_responses or {}
    if "size" not in told:
        asked = ElicitRequestFormParams(message="How large?", requested_schema=SCHEMA)
        return InputRequiredResult(input_requests={"size": ElicitRequest(params=asked)},
                                   request_state="kept")
    assert params.request_state == "kept"
    said = told["size"].model_dump_json(include={"action", "content"}, exclude_none=True)
    return CallToolResult(content=[TextContent(type="text", text=said)])

async def main():
    server = Server("modern", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""


BOX = """\
# Box

Make a box.

## Metadata

- **Name**: box
- **Version**: 1.0.0
- **Category**: general
- **Required Tools**: ask

## Input Schema

None

## Output Schema

- **Type**: any
- **Description**: What was made

## Workflow

1. **Make it**
   - Use: ask
   - Save as: made
2. **End**
   - Return: `made`
"""


@pytest.fixture(params=["2025-11-25", "2026-07-28"], scope="module")
def workspace(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Workspace]:
    """A project with one server, which asks how large it should be."""
    made = Guarded(tmp_path_factory.mktemp("asks") / "p", "ask", table="start_timeout = 60")
    made.add("ask_first", "ask", more="## Safety\n\n- **Requires Confirmation**: true")
    made.add("ask_secretly", "ask")
    file = made.root / "tools_md" / "ask_secretly.tool.md"
    head, _, returns = file.read_text("utf-8").partition("## Returns")
    returns = returns.replace("- **Type**:", "- **Sensitive**: true\n- **Type**:", 1)
    file.write_text(f"{head}## Returns{returns}", "utf-8")
    (made.root / "skills_md").mkdir()
    (made.root / "skills_md" / "box.skill.md").write_text(BOX, encoding="utf-8")
    if request.param == "2026-07-28":
        command = json.dumps([sys.executable, "-c", textwrap.dedent(MODERN)])
        (made.root / "toolmd.toml").write_text(
            f"[servers.plain]\ncommand = {command}\nstart_timeout = 60\n"
        )
    with made.open() as opened:
        yield opened


def _answered(workspace: Workspace, confirmation_id: str, **values: Any) -> Any:
    return asyncio.run(workspace.confirmations.approve(confirmation_id, values))


def test_the_question_is_a_confirmation_and_the_values_reach_the_server(
    workspace: Workspace,
) -> None:
    asked = called(workspace, "ask", text="box")
    (pending,) = asyncio.run(workspace.confirmations.pending())
    wrong = _answered(workspace, pending.id, size=9)
    result = _answered(workspace, pending.id, size=3)
    again = _answered(workspace, pending.id, size=3)

    assert asked.outcome == "confirm"
    assert asked.confirmation.prompt == "The server plain asks: How large?"
    assert pending.form["required"] == ["size"]
    assert (wrong.outcome, wrong.error.code) == ("denied", "invalid_arguments")
    assert result.outcome == "ok"
    assert json.loads(result.data)["content"] == {"size": 3, "note": "none"}
    assert (again.outcome, again.error.code) == ("denied", "confirmation_used")


def test_a_rejected_question_is_declined_and_the_server_ends_the_call(workspace: Workspace) -> None:
    asked = called(workspace, "ask")
    result = asyncio.run(workspace.confirmations.reject(asked.confirmation.id))

    assert json.loads(result.data)["action"] == "decline"


def test_words_answer_a_form_only_as_its_values(workspace: Workspace) -> None:
    asked = called(workspace, "ask")
    respond = workspace.confirmations.respond
    words = asyncio.run(respond(asked.confirmation.id, "a large one"))
    result = asyncio.run(respond(asked.confirmation.id, '{"size": 2}'))

    assert (words.outcome, words.error.code) == ("denied", "invalid_arguments")
    assert json.loads(result.data)["content"]["size"] == 2


def test_a_sensitive_result_of_a_question_is_its_callers_alone(workspace: Workspace) -> None:
    answer = Decision.respond('{"size": 2}')
    for decision in (Decision.edit({"size": 2}), answer, Decision.reject()):
        for who in (Approver("ana"), Approver(name="the operator")):
            asked = asyncio.run(workspace.call("ask_secretly", {}, user="ana"))
            assert asked.confirmation is not None
            decide = workspace.confirmations.decide
            result = asyncio.run(decide(asked.confirmation.id, decision, who))
            assert (result.data == "(hidden)") is (who.user is None), (decision, result)


def test_a_confirmation_comes_first_and_the_question_after_it(workspace: Workspace) -> None:
    pending = called(workspace, "ask_first")
    asked = asyncio.run(workspace.confirmations.approve(pending.confirmation.id))
    result = _answered(workspace, asked.confirmation.id, size=1)

    assert pending.confirmation.form is None
    assert asked.confirmation.form is not None
    assert result.outcome == "ok"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_toolmds_own_mcp_server_passes_the_question_on_to_its_client(
    workspace: Workspace, mode: str
) -> None:
    asked = []

    async def person(_context: Any, params: Any) -> ElicitResult:
        asked.append(params)
        return ElicitResult(action="accept", content={"size": 4})

    async def run(workspace: Workspace) -> str:
        server = McpServer(workspace, Callers(Caller("ana")))
        async with Client(server.low, mode=mode, elicitation_callback=person) as client:
            return (await client.call_tool("ask", {})).content[0].text

    said = asyncio.run(run(workspace))

    assert [one.message for one in asked] == ["The server plain asks: How large?"]
    assert asked[0].requested_schema["properties"]["size"]["maximum"] == 5
    assert '"size": 4' in said.replace('\\"', '"').replace('":4', '": 4')


def test_a_step_of_a_skill_asks_its_person(workspace: Workspace) -> None:
    assert [one for one in workspace.diagnostics if one.severity.name == "ERROR"] == []
    waits = asyncio.run(workspace.run("box", {}))
    (pending,) = asyncio.run(workspace.confirmations.pending())
    result = _answered(workspace, pending.id, size=5)

    assert waits.outcome == "confirm"
    assert waits.confirmation.form is not None
    assert pending.form is not None
    assert result.outcome == "ok", result
    assert json.loads(result.message)["content"]["size"] == 5


def test_another_process_can_not_answer_for_a_server_that_keeps_no_state(tmp_path: Path) -> None:
    asked = Asked("How large?", {"type": "object"}, parked="of another process")

    with closing(Store("memory", tmp_path)) as store:
        assert not Servers(Settings(root=tmp_path), store).may_answer(asked)


def test_a_call_whose_question_can_not_be_stored_is_unknown_since_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    project = Guarded(tmp_path / "p", "ask")
    with project.open() as workspace:
        asked = called(workspace, "ask", text="box")
        asyncio.run(workspace.confirmations.reject(asked.confirmation.id))
        with closing(sqlite3.connect(workspace.settings.state / "store.sqlite3")) as store:
            store.executescript(
                "DROP TABLE confirmation; CREATE TABLE confirmation (odd TEXT) STRICT"
            )
        result = called(workspace, "ask", text="box")

    assert (result.outcome, result.error.code) == ("unknown", "outcome_unknown")
    assert "its server asked for input; the question could not be stored" in result.error.message
    assert len(project.lines("calls.txt")) == 2


def test_the_answer_to_one_question_reaches_no_other(tmp_path: Path) -> None:
    with Guarded(tmp_path / "p", "ask_twice").open() as workspace:
        asked = called(workspace, "ask_twice")
        result = _answered(workspace, asked.confirmation.id, size=3)

    assert asked.confirmation.prompt == "The server plain asks: How large?"
    said = json.loads(result.data)
    assert said["q0"] == {"action": "accept", "content": {"size": 3}}
    assert "ask one after the other" in said["q1"]["message"]


def test_a_request_for_a_model_is_refused_with_the_reason() -> None:
    messages = [{"role": "user", "content": {"type": "text", "text": "hi"}}]
    request = {
        "method": "sampling/createMessage",
        "params": {"messages": messages, "maxTokens": 5},
    }
    result = InputRequiredResult.model_validate({"inputRequests": {"a": request}})

    with pytest.raises(ToolError, match="a reply of your model, which Toolmd passes to no server"):
        asked_in("plain", result, None)


def _question(**params: Any) -> dict[str, Any]:
    form = {"mode": "form", "message": "How large?", "requestedSchema": {"type": "object"}}
    return {"method": "elicitation/create", "params": params or form}


def _page(url: str) -> dict[str, Any]:
    return {"a": _question(mode="url", message="Go.", url=url, elicitationId="1")}


@pytest.mark.parametrize(
    ("questions", "state", "told"),
    [
        ({str(number): _question() for number in range(9)}, None, "more than 8 questions"),
        ({"a": _question()}, "x" * 1_100_000, "more than 1,048,576 bytes"),
        (_page("javascript:alert(1)"), None, "no address of a web page"),
        (_page("https://a.example/\nOpen https://b.example"), None, "no address of a web page"),
        (_page("https://a.example/\u202eelpmaxe"), None, "no address of a web page"),
        (_page("https://[a.example/"), None, "no address of a web page"),
    ],
)
def test_a_question_that_no_person_should_see_is_refused(
    questions: Any, state: str | None, told: str
) -> None:
    written = {"resultType": "input_required", "inputRequests": questions, "requestState": state}
    result = InputRequiredResult.model_validate(written)

    with pytest.raises(ToolError, match=told):
        asked_in("plain", result, None)


def test_the_questions_of_one_result_count_towards_the_most_of_a_call() -> None:
    questions = {str(number): _question() for number in range(8)}
    result = InputRequiredResult.model_validate({"inputRequests": questions, "requestState": "s"})
    asked: Asked | None = asked_in("plain", result, None)
    while asked is not None:
        last, asked = asked, following(asked._replace(action="accept"))

    assert last.rounds == 8
    with pytest.raises(ToolError, match="more than 8 questions"):
        asked_in("plain", result, last)


def test_a_call_that_waits_for_its_server_is_not_made_again_when_the_server_ends(
    tmp_path: Path,
) -> None:
    effects = tmp_path / "effects.txt"
    ending = f"""
    import os, threading
    if params.request_state is None:
        with open({str(effects)!r}, "a") as file:
            print("paid", file=file)
        threading.Timer(0.02, os._exit, (0,)).start()
    return InputRequiredResult(input_requests=None, request_state="later")
"""
    head, _, rest = MODERN.partition("    told = params.input_responses")
    server = f"{head}{ending}{rest[rest.index('async def main') - 1 :]}"
    project = Guarded(tmp_path / "p", "ask")
    command = json.dumps([sys.executable, "-c", server])
    (project.root / "toolmd.toml").write_text(
        f"[servers.plain]\ncommand = {command}\nstart_timeout = 60\n", encoding="utf-8"
    )
    with project.open() as workspace:
        result = called(workspace, "ask")

    assert (result.outcome, result.error.code) == ("unknown", "outcome_unknown")
    assert effects.read_text(encoding="utf-8").splitlines() == ["paid"]
