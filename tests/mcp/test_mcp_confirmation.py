"""Confirmations over MCP: a form asks the user once, and nothing runs without an answer."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import (
    CallToolResult,
    ElicitResult,
)
from mcp_clients import code

from toolmd import Workspace
from toolmd._mcp.server import McpServer

MakeClient = Callable[..., Client]


WALK = {"title": "Walk", "hour": 9}


def call(
    client: Client, name: str = "remind", arguments: Any = None, **options: Any
) -> CallToolResult:
    async def run() -> CallToolResult:
        async with client as connected:
            given = WALK if arguments is None else arguments
            return await connected.call_tool(name, given, **options)

    return asyncio.run(run())


def texts(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content]  # type: ignore[union-attr]


def test_an_accepted_call_runs_with_the_shown_arguments(client: MakeClient, reminders: Any) -> None:
    made = client("accept")

    result = call(made)

    assert result.structured_content == {"title": "Walk", "hour": 9, "tone": "soft"}
    assert reminders() == [{"title": "Walk", "hour": 9, "tone": "soft"}]
    (asked,) = made.elicitation_callback.asked
    assert asked.message == "I'd like to remind: title: Walk, hour: 9. Is this correct?"


def test_the_form_contains_the_flat_arguments(client: MakeClient) -> None:
    made = client("decline")

    call(made, arguments={**WALK, "secret": "xyz", "places": ["home"], "extra": {"a": 1}})

    (asked,) = made.elicitation_callback.asked
    fields = asked.requested_schema["properties"]
    assert {name: field["default"] for name, field in fields.items()} == {
        "title": "Walk", "hour": 9, "tone": "soft", "places": ["home"],
    }  # fmt: skip
    assert fields["title"]["maxLength"] == 40
    assert (fields["hour"]["minimum"], fields["hour"]["maximum"]) == (0, 23)
    assert fields["tone"]["enum"] == ["soft", "loud"]
    assert fields["places"]["items"] == {"type": "string", "enum": ["home", "work"]}
    assert "secret: xyz" in asked.message


def test_an_edit_runs_with_the_new_values_and_adds_a_note(
    client: MakeClient, reminders: Any
) -> None:
    result = call(client({"title": "Tea", "hour": 9, "tone": "loud"}))

    assert reminders() == [{"title": "Tea", "hour": 9, "tone": "loud"}]
    assert 'The user changed title: "Walk" → "Tea", tone: "soft" → "loud".' in texts(result)


def test_a_confirmed_call_reports_its_progress(
    client: MakeClient, workspace: Workspace, project: Path
) -> None:
    file = project / "tools_md" / "count.tool.md"
    safety = "\n## Safety\n\n- **Requires Confirmation**: true\n"
    file.write_text(file.read_text("utf-8") + safety, "utf-8")
    workspace.reload()
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    result = call(client("accept"), "count", {"to": 3}, progress_callback=hear)

    assert result.structured_content == {"result": 3}
    assert heard == ["1", "2", "3"]


def test_an_edit_that_does_not_fit_is_asked_again_with_the_reason(
    client: MakeClient, reminders: Any
) -> None:
    made = client({"title": "Tea", "hour": 99}, {"title": "Tea", "hour": 10})

    result = call(made)

    assert result.structured_content == {"title": "Tea", "hour": 10, "tone": "soft"}
    first, second = made.elicitation_callback.asked
    assert "hour must be in 0..23" in second.message
    assert first.message in second.message
    assert len(reminders()) == 1


def test_a_form_that_did_not_fit_and_is_closed_does_not_blame_the_model(
    client: MakeClient, workspace: Workspace, reminders: Any
) -> None:
    result = call(client({"title": "Tea", "hour": 99}, "cancel"))

    assert code(result) == "confirmation_required"
    assert "hour must be" not in result.content[0].text
    assert len(workspace.confirmations.pending_sync()) == 1
    assert reminders() == []


def test_a_form_adds_no_argument(client: MakeClient, reminders: Any) -> None:
    call(client({"admin": True}, "decline"))

    assert reminders() == []


@pytest.mark.parametrize(
    ("answer", "ends"), [("decline", "rejected"), ("cancel", "confirmation_required")]
)
def test_a_no_or_no_answer_runs_nothing(
    client: MakeClient, reminders: Any, answer: str, ends: str
) -> None:
    assert code(call(client(answer))) == ends
    assert reminders() == []


def test_a_no_ends_the_call_and_no_answer_keeps_it_pending(
    client: MakeClient, workspace: Workspace, reminders: Any
) -> None:
    call(client("decline"))
    assert workspace.confirmations.pending_sync() == ()

    call(client("cancel"))
    (waiting,) = workspace.confirmations.pending_sync()
    assert workspace.confirmations.approve_sync(waiting.id).success
    assert len(reminders()) == 1


def test_a_client_that_cannot_ask_gets_no_call_run(
    client: MakeClient, workspace: Workspace, reminders: Any
) -> None:
    result = call(client())

    (waiting,) = workspace.confirmations.pending_sync()
    assert code(result) == "confirmation_required"
    assert result.structured_content["confirmation"]["id"] == waiting.id
    assert f"toolmd confirm {waiting.id}" in result.content[-1].text
    assert reminders() == []


def test_an_edited_critical_call_needs_another_confirmation(client: MakeClient) -> None:
    made = client({"amount": 6}, "accept")

    result = call(made, "transfer", {"amount": 5})

    assert result.structured_content == {"result": "6 euros"}
    messages = [asked.message for asked in made.elicitation_callback.asked]
    assert ["amount: 5" in messages[0], "amount: 6" in messages[1]] == [True, True]


def test_a_call_with_a_changed_definition_needs_another_confirmation(
    server: McpServer, workspace: Workspace, mode: str, reminders: Any
) -> None:
    asked: list[str] = []

    async def person(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        if len(asked) == 1:
            file = workspace.settings.root / "tools_md" / "remind.tool.md"
            file.write_text(file.read_text("utf-8").replace("1.0.0", "1.0.1"), "utf-8")
            workspace.reload()
            assert reminders() == []
        return YES

    result = call(Client(server.low, mode=mode, elicitation_callback=person))

    assert not result.is_error
    prompt, anew = asked
    assert prompt.removesuffix(". Is this correct?") in anew
    assert "must be confirmed again" in anew
    assert len(reminders()) == 1


def test_a_skills_question_is_asked_like_a_call(client: MakeClient, reminders: Any) -> None:
    made = client({"hour": 10})

    result = call(made, "remind_politely", {"name": "Ana", "title": "Tea"})

    assert result.structured_content["data"] == {"greeting": "Hello, Ana!", "hour": 10}
    assert made.elicitation_callback.asked[0].message.startswith("Remind Ana of Tea?")
    assert reminders() == [{"title": "Tea", "hour": 10, "tone": "soft"}]


def test_a_no_to_a_skills_question_stops_the_skill(client: MakeClient, reminders: Any) -> None:
    result = call(client("decline"), "remind_politely", {"name": "Ana", "title": "Tea"})

    assert result.is_error
    assert "Nothing was set." in texts(result)[0]
    assert reminders() == []


def test_a_skills_question_is_answered_in_words(client: MakeClient) -> None:
    made = client({"user_name": "Ana"}, {"wish": "tea, and a walk"})

    result = call(made, "interview", {})

    assert result.structured_content["data"] == {"name": "Ana", "wish": "tea, and a walk"}
    first, second = made.elicitation_callback.asked
    assert [first.message, second.message] == ["What is your name?", "What do you wish, Ana?"]
    assert first.requested_schema == {
        "type": "object",
        "properties": {"user_name": {"type": "string", "title": "User name"}},
    }


@pytest.mark.parametrize("content", [{}, {"user_name": " "}, {"other": "Ana"}, {"user_name": 3}])
def test_an_answer_without_words_is_a_plain_yes(
    client: MakeClient, content: dict[str, Any]
) -> None:
    result = call(client(content or "accept", {"wish": "tea"}), "interview", {})

    assert result.structured_content["data"] == {"name": True, "wish": "tea"}


def test_a_rejected_or_missing_answer_ends_the_skill(client: MakeClient) -> None:
    assert call(client({"user_name": "Ana"}, "decline"), "interview", {}).is_error
    open_ = call(client({"user_name": "Ana"}, "cancel"), "interview", {})
    assert code(open_) == "confirmation_required"
    assert "The steps before it ran" in texts(open_)[0]
    assert "Nothing ran" not in texts(open_)[0]


def test_a_broken_form_is_not_a_confirmation(
    server: McpServer, workspace: Workspace, reminders: Any
) -> None:
    async def broken(context: Any, params: Any) -> ElicitResult:
        raise RuntimeError("the form crashed")

    result = call(Client(server.low, mode="legacy", elicitation_callback=broken))

    assert code(result) == "confirmation_required"
    assert len(workspace.confirmations.pending_sync()) == 1
    assert reminders() == []


YES = ElicitResult(action="accept", content={})
