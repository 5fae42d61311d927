"""A Sensitive value that a tool puts into what it raises is in no log, message or prompt."""

import base64
import json
import logging
from urllib.parse import quote

import pytest

from toolmd import ToolError
from toolmd._types.call_spec import Safety
from toolmd._types.schema import Parameter, Schema
from toolmd._types.settings import AuditSettings, Settings

SECRET = Schema(types=("string",), sensitive=True)
PASSWORD = Parameter(name="password", shape=SECRET, required=True)
BELOW = Schema(types=("object",), properties=(PASSWORD,))
WORD = 'hun"ter/2 ü'


def plainly(password):
    raise RuntimeError("cannot log in with" + password)


def chained(password):
    try:
        plainly(password)
    except RuntimeError as error:
        raise ValueError("again") from error


def in_a_context(password):
    try:
        plainly(password)
    except RuntimeError:
        raise ValueError("meanwhile")  # noqa: B904 - the chain is what is tested


def noted(password):
    error = ValueError("no")
    error.add_note(f"it was {password}")
    raise error


def grouped(password):
    raise ExceptionGroup("both", [ValueError(password), KeyError(password)])


def written(password):
    encoded = base64.b64encode(f"ana:{password}".encode()).decode()
    raise RuntimeError([password, json.dumps(password), quote(password, safe=""), encoded])


@pytest.mark.parametrize("raises", [plainly, chained, in_a_context, noted, grouped, written])
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_the_log_of_a_crash_contains_no_sensitive_value(harness, tool, caplog, raises, mode):
    async def awaited(password):
        raises(password)

    function = awaited if mode == "async" else raises
    world = harness(tool("log_in", function, PASSWORD))
    with caplog.at_level(logging.DEBUG):
        for _ in range(2):
            result = world.call("log_in", json.dumps({"password": WORD}))
    assert result.error.code == "tool_error"
    assert result.error.message.split()[-1].rstrip(".") in caplog.text
    assert all(record.exc_info is None for record in caplog.records)
    assert "(hidden)" in caplog.text
    assert "Traceback" in caplog.text
    encoded = base64.b64encode(f"ana:{WORD}".encode()).decode()
    for form in ("hun", "ter/2", quote("ter/2 ü", safe=""), encoded[6:-4]):
        assert form not in caplog.text


def test_values_within_values_are_hidden_though_the_tool_changes_them(harness, tool, caplog):
    def log_in(logins):
        raise RuntimeError(f"not {logins[0].pop('password')}")

    parameter = Parameter(name="logins", shape=Schema(types=("array",), items=BELOW))
    world = harness(tool("log_in", log_in, parameter))
    world.call("log_in", '{"logins": [{"password": "hunter2"}]}')
    assert "not (hidden)" in caplog.text
    assert "hunter2" not in caplog.text


def test_a_tools_message_to_the_model_contains_no_sensitive_value(harness, tool):
    def log_in(password):
        raise ToolError(f"{password} is wrong", code="wrong")

    error = harness(tool("log_in", log_in, PASSWORD)).call("log_in", {"password": "hunter2"}).error
    assert (error.code, error.message) == ("wrong", "(hidden) is wrong")


def test_progress_contains_no_sensitive_value(harness, tool):
    told = []

    async def log_in(password, context):
        await context.progress(f"trying {password}")

    world = harness(tool("log_in", log_in, PASSWORD, context="context"))
    world.call("log_in", {"password": "hunter2"}, on_event=told.append)
    assert [event.data["text"] for event in told] == ["trying (hidden)"]


def test_a_guard_that_raises_with_a_sensitive_value_logs_none(harness, tool, caplog):
    def guard(call, arguments):
        raise RuntimeError(f"what is {arguments['password']}?")

    world = harness(tool("log_in", lambda password: 1, PASSWORD), guards=lambda bound: [guard])
    error = world.call("log_in", {"password": "hunter2"}).error
    assert error.code == "internal_guard_error"
    assert "what is (hidden)?" in caplog.text
    assert "hunter2" not in caplog.text


def test_the_log_of_a_tool_without_sensitive_values_keeps_the_exception(harness, tool, caplog):
    def log_in(name):
        raise RuntimeError(name)

    name = Parameter(name="name", shape=Schema(types=("string",)))
    harness(tool("log_in", log_in, name)).call("log_in", {"name": "hunter2"})
    assert caplog.records[-1].exc_info is not None


def test_only_the_caller_of_a_pending_call_sees_its_sensitive_values(harness, tool, tmp_path):
    safe = Safety(requires_confirmation=True)
    settings = Settings(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False))
    world = harness(tool("log_in", lambda password: 1, PASSWORD, safety=safe), settings=settings)
    for dry_run in (False, True):
        result = world.call("log_in", {"password": "hunter2"}, dry_run=dry_run)
        assert "password: hunter2" in result.confirmation.prompt
        assert "hunter2" not in result.for_model().text
        assert "hunter2" not in str(result)
    (held,) = world.dispatcher.confirmations.pending()
    assert "password: (hidden)" in held.prompt
