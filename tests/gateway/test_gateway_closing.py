"""A project that closes leaves no server behind, and those of another that is open alone."""

import asyncio
import json
import time
from pathlib import Path

from guarded import Guarded, called

from toolmd import Result


def test_a_project_that_closes_keeps_the_sessions_of_one_in_the_same_folder(
    tmp_path: Path,
) -> None:
    project = Guarded(tmp_path / "p", "whoami")
    with project.open() as workspace:
        before = called(workspace, "whoami").data
        with project.open() as other:
            assert called(other, "whoami").data == before
        after = called(workspace, "whoami").data

    assert after == before
    assert len(project.lines("starts.txt")) == 1


def test_a_call_that_waits_when_its_project_closes_starts_no_server_again(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "announce", "whoami")

    async def run() -> Result:
        with project.open() as workspace:
            await workspace.call("whoami", {})
            (project.files / "silent at list").touch()
            await workspace.call("announce", {})
            call = asyncio.ensure_future(workspace.call("whoami", {}))
            # It waits for the list, which never comes.
            await asyncio.wait([call], timeout=0.2)
            assert not call.done()
            await workspace.aclose()
            return await call

    result = asyncio.run(run())

    assert result.outcome == "failed"
    assert result.error is not None
    assert "the project is closed. Nothing was sent" in result.error.message
    assert len(project.lines("starts.txt")) == 1


def test_a_server_that_does_not_answer_in_time_is_ended_at_once(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "whoami")
    command = json.dumps(["sh", "-c", "cat > /dev/null"])
    (project.root / "toolmd.toml").write_text(
        f"[servers.plain]\ncommand = {command}\nstart_timeout = 0.2\n", encoding="utf-8"
    )
    with project.open() as workspace:
        began = time.monotonic()
        result = called(workspace, "whoami")
        took = time.monotonic() - began

    assert result.error is not None
    assert "did not answer within 0.2 s" in result.error.message
    assert took < 5
