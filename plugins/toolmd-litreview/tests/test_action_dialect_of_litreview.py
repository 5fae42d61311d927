"""Seed 004 end to end: a model's terminal Action, the registry's tools, the error table."""

import asyncio
import json

import pytest


@pytest.fixture
def handle(workspace):
    def go(reply, message="Review statins.", **options):
        given = {"dialect": "action", "message": message, "user": "ana", **options}
        return asyncio.run(workspace.handle(reply, **given))

    return go


def action(tool, **args):
    return f"I will look.\n\n```json\nAction: {json.dumps({'tool': tool, 'args': args})}\n```\n"


def observed(turn):
    (message,) = turn.messages
    assert message["role"] == "user"
    return message["content"]


def test_an_action_runs_and_its_result_is_the_next_message(handle, ncbi):
    ncbi.add(11, "Statins.", "They help.")
    turn = handle(action("search_pubmed", query="statins", expand_mode="ripple"))
    assert turn.clean_message == "I will look."
    seen = json.loads(observed(turn))
    assert (seen["success"], seen["tool"]) == (True, "search_pubmed")
    assert seen["data"].keys() == {"found", "new", "clusters", "phrases_not_found"}
    assert seen["truncated"]["handle"].startswith("r-")
    assert ncbi.asked[0][1]["term"] == "statins"


def test_an_unknown_tool_is_reported_as_in_the_seed_and_changes_nothing(handle, ncbi, workspace):
    turn = handle(action("delete_everything"))
    assert observed(turn) == '{"error":"unknown_tool"}'
    assert ncbi.asked == []
    assert not (workspace.settings.state / "litreview.sqlite3").exists()


def test_a_missing_key_gets_its_default(handle, ncbi):
    ncbi.add(1)
    assert json.loads(observed(handle(action("search_pubmed", query="x", expand_mode="ripple"))))[
        "success"
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "x", "url": "http://169.254.169.254/"},
        {"query": "x", "out": "/etc/cron.d/x"},
        {"query": "x", "expand_mode": "../ripple"},
    ],
)
def test_no_argument_names_a_path_or_an_address(handle, ncbi, arguments):
    seen = json.loads(observed(handle(action("search_pubmed", **arguments))))
    assert seen["error"]["code"] == "invalid_arguments"
    assert ncbi.asked == []


def test_the_prompt_teaches_the_six_tools_and_the_syntax(workspace):
    prompt = workspace.system_prompt("action")
    assert "Action:" in prompt
    for name in workspace.tools:
        assert name in prompt
