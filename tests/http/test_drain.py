"""A signal drains the server: calls end, runs stop at a recorded step."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from raw import answer, connected, head
from served_kiosk import Served
from tests import warm_python
from tests.definitions import skill

from toolmd import Workspace

SLOW_MEAL = skill(
    "slow_meal",
    "wait, note",
    """1. **Use**: `wait`

   - **With**:
     - pipe: `pipe`
   - **Save as**: came

2. **Use**: `note`

   - **With**:
     - text: `came`
   - **Save as**: made

3. **Return**:
   - made: `made`""",
    "- **pipe**: string (required) - Who comes",
)

NOTE = """# Note

Note a text.

## Metadata

- **Name**: note
- **Version**: 1.0.0
- **Category**: kiosk

## Parameters

### text

- **Type**: string
- **Required**: true
- **Description**: The text

## Returns

- **Type**: string
- **Description**: The text
"""

NOTING = """from pathlib import Path


def note(text: str) -> str:
    with Path(__file__).with_name("notes").open("a", encoding="utf-8") as file:
        file.write(text)
    return text
"""


ENDS = "a second signal ends at once"


def test_a_call_and_a_stream_end_and_no_new_call_begins(project: Path, tmp_path: Path) -> None:
    with Served(project) as served, connected(served.port) as kept:
        kept.sendall(head(served.port, "/health", method="GET"))
        assert answer(kept)[0] == 200
        thread = served.waits(tmp_path / "pipe")
        with (
            (tmp_path / "pipe").open("w") as writer,  # opens when the call reads
            served.fresh() as streams,
            streams.stream("GET", "/api/events") as stream,
        ):
            lines = stream.iter_lines()
            assert next(lines).startswith("id: ")
            served.end()
            served.tells(ENDS)
            assert [line for line in lines if "error" in line] == []  # a proper end
            assert kept.recv(65536) == b""
            with served.fresh() as other, pytest.raises(httpx.ConnectError):
                other.get("/ready")
            writer.write("done")
        thread.join()

        assert served.process.wait(30) == 0
    assert served.answers[0].json()["data"] == "done"


def test_a_call_that_takes_longer_than_the_limit_is_cut_off(project: Path, tmp_path: Path) -> None:
    with Served(project, TOOLMD_SERVE_DRAIN_TIMEOUT="0.5") as served:
        thread = served.waits(tmp_path / "pipe")
        with (tmp_path / "pipe").open("w"):
            served.end()

            assert served.process.wait(30) == 0
        thread.join()
    (cut,) = served.answers
    assert isinstance(cut, httpx.TransportError) or cut.status_code == 500


def test_a_second_signal_ends_at_once(project: Path, tmp_path: Path) -> None:
    with Served(project) as served:
        thread = served.waits(tmp_path / "pipe")
        with (tmp_path / "pipe").open("w"):
            served.end(signal.SIGTERM)
            served.tells(ENDS)
            served.end(signal.SIGTERM)

            assert served.process.wait(30) == 130
        thread.join()


def test_a_run_stops_at_its_next_step_and_the_next_start_continues_it(
    project: Path, tmp_path: Path
) -> None:
    (project / "skills_md" / "slow-meal.skill.md").write_text(SLOW_MEAL, "utf-8")
    (project / "tools_md" / "note.tool.md").write_text(NOTE, "utf-8")
    (project / "tools_md" / "note.py").write_text(NOTING, "utf-8")
    pipe, notes = tmp_path / "pipe", project / "tools_md" / "notes"
    os.mkfifo(pipe)
    kept_runs = {"TOOLMD_STORE": "sqlite"}
    with Served(project, **kept_runs) as served:
        thread = served.posts("/api/skills/slow_meal/run", {"inputs": {"pipe": str(pipe)}})
        with pipe.open("w") as writer:  # opens when the first step reads
            served.end()
            served.tells(ENDS)
            time.sleep(0.5)  # until the runs are stopped
            writer.write("soup")
        thread.join()
        assert served.process.wait(30) == 0
    (ended,) = served.answers
    assert (ended.status_code, ended.json()["code"]) == (503, "unavailable")
    assert "go on at the next start" in ended.json()["detail"]
    assert not notes.exists()

    with Served(project, **kept_runs) as served:
        (run,) = served.client.get("/api/runs").json()
        while run["state"] == "running":
            run = served.client.get(f"/api/runs/{run['id']}").json()
    assert run["state"] == "done"
    assert notes.read_text("utf-8") == "soup"


def test_a_worker_stops_its_runs_at_their_next_step(project: Path, tmp_path: Path) -> None:
    (project / "skills_md" / "slow-meal.skill.md").write_text(SLOW_MEAL, "utf-8")
    (project / "tools_md" / "note.tool.md").write_text(NOTE, "utf-8")
    (project / "tools_md" / "note.py").write_text(NOTING, "utf-8")
    pipe, notes = tmp_path / "pipe", project / "tools_md" / "notes"
    os.mkfifo(pipe)
    environment = {**os.environ, "TOOLMD_STORE": "sqlite", "TOOLMD_LOAD_PLUGINS": ""}

    def toolmd(*words: str) -> subprocess.Popen[str]:
        return warm_python.Popen(
            [sys.executable, "-m", "toolmd", *words, "--project", str(project)],
            env=environment, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    dies = toolmd("run", "slow_meal", f"pipe={pipe}")
    with pipe.open("w"):  # opens when the first step reads
        dies.kill()
        dies.communicate()
    worker = toolmd("worker")
    with pipe.open("w") as writer:
        worker.send_signal(signal.SIGTERM)
        for line in worker.stderr or ():
            if "ends when the calls of its runs have" in line:
                break
        writer.write("soup")
    worker.communicate(timeout=60)
    assert worker.returncode == 0
    with Workspace.open(project, overrides={"store": "sqlite"}) as kept:
        (run,) = kept.runs.list_sync()
        assert run.state == "running"
        assert len(kept.runs.get_sync(run.id).entries) == 1
    assert not notes.exists()

    worker = toolmd("worker")
    with Workspace.open(project, overrides={"store": "sqlite"}) as again:
        *_, last = again.runs.follow_sync(run.id)
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=60)
    assert last.view.state == "done"
    assert notes.read_text("utf-8") == "soup"
