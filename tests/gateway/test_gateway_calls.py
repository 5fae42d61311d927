"""A server's tools are called through the same checks as all others."""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from guarded import Guarded, called, listed
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span

from toolmd import ConfigError, Result, Workspace


def test_a_call_reaches_the_server_and_its_result_comes_back(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "echo")
    with project.open() as workspace:
        result = called(workspace, "echo", text="hello")

    assert (result.outcome, result.data) == ("ok", {"echo": {"text": "hello"}})
    assert project.lines("calls.txt") == ['echo {"text": "hello"}']


def test_a_default_that_the_caller_left_out_is_not_sent(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "echo")
    file = project.root / "tools_md" / "echo.tool.md"
    text = file.read_text(encoding="utf-8").replace(
        "  - **Required**: false\n", "  - **Default**: x\n"
    )
    file.write_text(text, encoding="utf-8")
    with project.open() as workspace:
        assert called(workspace, "echo").data == {"echo": {}}
        assert called(workspace, "echo", text=None).data == {"echo": {}}


def test_a_denied_call_never_reaches_the_server(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "echo")
    with project.open() as workspace:
        result = called(workspace, "echo", text=1)

    assert result.outcome == "denied"
    assert project.lines("starts.txt") == []


def test_one_process_serves_calls_of_several_event_loops_at_once(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "whoami")

    async def several(workspace: Workspace) -> set[str]:
        results = await asyncio.gather(*(workspace.call("whoami", {}) for _ in range(20)))
        return {result.data for result in results}

    with project.open() as workspace:
        found = asyncio.run(several(workspace)) | asyncio.run(several(workspace))

    assert len(found) == 1


def test_each_user_has_a_session_unless_the_table_shares_it(tmp_path: Path) -> None:
    for table, processes in (("", 2), ("shared = true", 1)):
        project = Guarded(tmp_path / f"p{processes}", "whoami", table=table)
        with project.open() as workspace:
            found = {
                asyncio.run(workspace.call("whoami", {}, user=user)).data
                for user in ("ann", "bob", "ann")
            }
        assert len(found) == processes


def test_a_server_is_told_who_calls_where_its_table_says_so(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "environment", table='env = {ACTOR = "user:$TOOLMD_USER"}')
    with project.open() as workspace:
        told = [
            json.loads(workspace.call_sync("environment", {}, user=user).data)["ACTOR"]
            for user in ("ana", "ben", "$HOME")
        ]
        nobody = called(workspace, "environment")

    assert told == ["user:ana", "user:ben", "user:$HOME"]
    assert nobody.outcome == "failed"
    assert "must know who calls, and this call has no user" in nobody.error.message
    assert len(project.lines("calls.txt")) == 3


def test_a_session_that_all_share_can_not_say_who_calls(tmp_path: Path) -> None:
    table = 'shared = true\nenv = {ACTOR = "$TOOLMD_USER"}'
    project = Guarded(tmp_path / "p", "environment", table=table)

    with pytest.raises(ConfigError, match=r"a shared session has no user"):
        project.open()


def test_no_process_is_left_once_the_workspace_is_closed(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "whoami")
    with project.open() as workspace:
        number = int(called(workspace, "whoami").data)

    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_the_process_gets_exactly_the_variables_of_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_SECRET", "not for the server")
    monkeypatch.setenv("GIVEN", "for the server")
    table = 'env = {TOKEN = "$GIVEN", PLAIN = "word", LC_CTYPE = "C.UTF-8"}'
    project = Guarded(tmp_path / "p", "environment", table=table)
    with project.open() as workspace:
        result = called(workspace, "environment")

    found = json.loads(result.data)
    assert found == {"TOKEN": "[hidden]", "PLAIN": "word", "LC_CTYPE": "C.UTF-8"}


def test_a_variable_that_is_not_set_is_a_warning_and_its_calls_fail(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "echo", table='env = ["NOT_SET_ANYWHERE"]')
    with project.open() as workspace:
        result = called(workspace, "echo")
        told = [one.message for one in workspace.diagnostics if one.code == "unset-variable"]

    assert result.outcome == "failed"
    assert result.error is not None
    assert "NOT_SET_ANYWHERE" in result.error.message
    assert "Nothing was sent" in result.error.message
    assert len(told) == 1


def test_an_error_of_the_tool_is_told_without_the_secrets_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIVEN", "s3cret-value")
    project = Guarded(tmp_path / "p", "fail", "refuse", table='env = {TOKEN = "$GIVEN"}')
    with project.open() as workspace:
        failed, refused = called(workspace, "fail"), called(workspace, "refuse")

    assert failed.error is not None
    assert failed.error.message == "no room; token [hidden]"
    assert refused.error is not None
    assert refused.error.message == "The server answered with an error: bad number"


def test_a_secret_within_a_text_of_the_table_is_hidden_alone_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIVEN", "s3cret-value")
    project = Guarded(tmp_path / "p", "echo", table='env = {TOKEN = "Bearer $GIVEN"}')
    with project.open() as workspace:
        result = called(workspace, "echo", text="Bearer s3cret-value, or s3cret-value")

    assert result.data == {"echo": {"text": "[hidden], or [hidden]"}}


def test_a_lost_answer_is_unknown_and_never_sent_again(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "die", "echo", more="## Limits\n\n- **Retries**: 3")
    with project.open() as workspace:
        lost, following = called(workspace, "die"), called(workspace, "echo")

    assert lost.outcome == "unknown"
    assert lost.error is not None
    assert lost.error.code == "outcome_unknown"
    assert following.outcome == "ok"
    assert project.lines("calls.txt") == ["die {}", "echo {}"]


def test_a_server_that_died_between_calls_starts_again_and_no_call_is_lost(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "whoami")
    with project.open() as workspace:
        for _ in range(5):
            number = int(called(workspace, "whoami").data)
            os.kill(number, signal.SIGKILL)
            _until_gone(number)
        result = called(workspace, "whoami")

    assert result.outcome == "ok"
    assert len(project.lines("calls.txt")) == 6
    assert len(project.lines("starts.txt")) == 6


def test_an_endless_answer_ends_that_server_alone_and_soon(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "huge", "echo")
    began = time.process_time()
    with project.open() as workspace:
        huge, following = called(workspace, "huge"), called(workspace, "echo")

    assert huge.outcome == "unknown"
    assert following.outcome == "ok"
    assert time.process_time() - began < 5


def test_a_timeout_tells_the_server_and_keeps_the_session(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "whoami")
    project.add("slow", more="## Limits\n\n- **Timeout**: 1s")
    project.serve(listed("whoami"), listed("slow"))
    with project.open() as workspace:
        before = called(workspace, "whoami").data
        late = called(workspace, "slow")
        after = called(workspace, "whoami").data

    assert late.outcome == "unknown"
    assert before == after


def test_a_call_that_ends_while_its_server_starts_sent_nothing_and_the_start_goes_on(
    tmp_path: Path,
) -> None:
    project = Guarded(tmp_path / "p", "echo", more="## Limits\n\n- **Timeout**: 1s")
    os.mkfifo(project.files / "wait")
    with project.open() as workspace:
        early = called(workspace, "echo")
        (project.files / "wait").write_text("go on", encoding="utf-8")
        (project.files / "wait").unlink()
        late = called(workspace, "echo")

    assert early.outcome == "failed"
    assert early.error is not None
    assert early.error.message == (
        "The server of echo was not ready within 1 s. Nothing was sent. It may be called again."
    )
    assert late.outcome == "ok"
    assert len(project.lines("starts.txt")) == len(project.lines("calls.txt")) == 1


def test_a_server_that_cannot_start_is_told_by_its_reason(tmp_path: Path) -> None:
    reasons = {
        "no-such-program": "there is no program 'no-such-program' on its PATH",
        "true": "its process ended with exit code 0",
    }
    for program, reason in reasons.items():
        project = Guarded(tmp_path / program, "echo")
        (project.root / "toolmd.toml").write_text(
            f'[servers.plain]\ncommand = ["{program}"]\nenv = ["PATH"]\n', encoding="utf-8"
        )
        with project.open() as workspace:
            result = called(workspace, "echo")
        assert result.error is not None
        assert result.error.message.endswith(f"does not run: {reason}. Nothing was sent.")


def test_a_caller_that_is_cancelled_cancels_the_call_at_the_server(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "whoami", "slow")

    async def cancelled(workspace: Workspace) -> None:
        await workspace.call("whoami", {})
        begun = asyncio.Event()
        slow = workspace.call("slow", {"text": "a"}, on_event=lambda _: begun.set())
        call = asyncio.ensure_future(slow)
        await begun.wait()
        call.cancel()
        await asyncio.wait([call])
        await workspace.call("whoami", {})

    with project.open() as workspace:
        asyncio.run(cancelled(workspace))

    assert project.lines("cancelled.txt") == ["cancelled"]


def test_progress_and_the_trace_of_a_call_reach_the_other_side(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "report")
    span = NonRecordingSpan(SpanContext(7, 8, is_remote=False, trace_flags=TraceFlags(1)))
    heard: list[Any] = []

    async def call(workspace: Workspace) -> Result:
        result = await workspace.call("report", {}, on_event=heard.append)
        await asyncio.sleep(0)
        return result

    with project.open() as workspace, use_span(span):
        result = asyncio.run(call(workspace))

    assert f"{7:032x}-{8:016x}" in json.loads(result.data)["traceparent"]
    assert [tuple(one.data.values()) for one in heard] == [("half", 0.5), ("1 of 2", 0.5)]


def test_a_picture_of_the_server_is_a_part_of_the_result(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "picture")
    with project.open() as workspace:
        result = called(workspace, "picture")

    assert result.parts[1].media_type == "image/png"


def test_a_server_that_does_not_start_is_told_with_the_end_of_its_stderr(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "echo")
    settings = project.root / "toolmd.toml"
    program = "import sys; sys.exit('no licence found')"
    command = json.dumps(["python3", "-c", program])
    settings.write_text(f'[servers.plain]\ncommand = {command}\nenv = ["PATH"]\n', encoding="utf-8")
    with project.open() as workspace:
        result = called(workspace, "echo")

    assert result.outcome == "failed"
    assert result.api_offline
    assert result.error is not None
    assert "no licence found" in result.error.message


def test_a_tool_without_its_server_is_an_error_with_the_remedy(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "echo")
    (project.root / "toolmd.toml").write_text("", encoding="utf-8")
    with project.open() as workspace:
        result = called(workspace, "echo")
        (told,) = [one for one in workspace.diagnostics if one.code == "invalid-operation"]

    assert result.outcome == "failed"
    assert "[servers.plain]" in told.message


def _until_gone(number: int) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2]
        except OSError:
            return
        if state.split()[0] == "Z":
            return
    raise AssertionError("the process did not end")


def test_a_start_that_fails_is_told_by_the_first_error_of_its_stderr(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "echo")
    program = "import sys; print('Error: no such module', *'abcdefg', sep='\\n', file=sys.stderr)"
    command = json.dumps([sys.executable, "-c", program])
    (project.root / "toolmd.toml").write_text(
        f"[servers.plain]\ncommand = {command}\n", encoding="utf-8"
    )
    with project.open() as workspace:
        result = called(workspace, "echo")

    assert result.error is not None
    assert "its stderr says: Error: no such module / … / g" in result.error.message
