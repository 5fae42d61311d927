"""Skills with a Schedule: a run for each tick, once among all processes, and missed ticks told."""

import datetime as dt
import logging
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests import warm_python
from tests.definitions import tool

from toolmd import Workspace
from toolmd._store import STORE_FILE
from toolmd.config import load_settings

DEADLINE_S = 60.0
TOOL = tool(
    "note",
    "- `number` (integer, required): The number.",
    metadata="- **Idempotent**: keyed\n",
)
PYTHON = """from pathlib import Path

FILE = Path(__file__).with_name("noted.txt")


def note(number: int) -> dict:
    with FILE.open("a") as file:
        file.write(f"{number}\\n")
    return {}
"""
SKILL = """# Count

Note a number by itself.

## Metadata

- **Name**: count
- **Version**: 1.0.0
- **Category**: test
- **Required Tools**: note
- **Schedule**: SCHEDULE
- **Schedule Inputs**:
  - number: 7

## Workflow

1. **Note** it.
   - **Use**: note
   - **With**:
     - number: `number`
2. **Return**:
   - at: `string(now())`

## Input Schema

- `number` (integer, required): The number.

## Output Schema

- **Type**: object (SkillResult)
"""


class Project:
    """A project with a scheduled skill, and a clock that can be put forward."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ahead = dt.timedelta()
        (folder / "toolmd.toml").write_text("")
        (folder / "tools_md").mkdir()
        (folder / "skills_md").mkdir()
        (folder / "tools_md/note.tool.md").write_text(TOOL)
        (folder / "tools_md/note.py").write_text(PYTHON)
        self.schedule("every 1h")

    def schedule(self, text: str) -> None:
        """Write the skill with a Schedule."""
        path = self.folder / "skills_md/count.skill.md"
        path.write_text(SKILL.replace("SCHEDULE", text))

    def opened(self) -> Workspace:
        """Open the project with its clock, and execute runs."""
        settings = load_settings(self.folder)
        workspace = Workspace(settings, clock=lambda: dt.datetime.now(dt.UTC) + self.ahead)
        assert workspace.runs.start_sync()
        return workspace

    def known(self) -> list[str]:
        """Return the schedules that the store has."""
        file = self.folder / ".toolmd" / STORE_FILE
        if not file.exists():
            return []
        with closing(sqlite3.connect(file)) as store:
            tables = "SELECT 1 FROM sqlite_master WHERE name = 'schedule'"
            if store.execute(tables).fetchone() is None:
                return []  # The file is there, and its tables will be.
            return [one for (one,) in store.execute("SELECT schedule FROM schedule")]

    def noted(self) -> list[str]:
        """Return what the tool noted."""
        file = self.folder / "tools_md/noted.txt"
        return file.read_text().split() if file.exists() else []


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose runs are kept."""
    monkeypatch.setenv("TOOLMD_LOAD_PLUGINS", "")
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    return Project(tmp_path)


def until(condition: Callable[[], object]) -> None:
    """Wait for what another thread or process does."""
    ends = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_a_new_schedule_starts_a_run_at_its_next_tick(project: Project) -> None:
    with project.opened() as workspace:
        until(lambda: project.known() == ["every 3600s"])
        assert workspace.runs.list_sync() == ()
        project.ahead = dt.timedelta(hours=1)
        until(lambda: [view.state for view in workspace.runs.list_sync()] == ["done"])

        (view,) = workspace.runs.list_sync()
        began = dt.datetime.fromisoformat(view.began)
        assert (began.minute, began.second) == (0, 0)
        assert view.id == f"count-{began:%Y%m%dT%H%M%SZ}"
        assert view.inputs == {"number": 7}
        assert project.noted() == ["7"]


def test_one_run_makes_up_for_those_missed_while_no_process_ran(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    with project.opened():
        until(project.known)
    project.ahead = dt.timedelta(hours=5)
    with caplog.at_level(logging.WARNING), project.opened() as workspace:
        until(lambda: [view.state for view in workspace.runs.list_sync()] == ["done"])
        until(lambda: "runs missed before that are skipped" in caplog.text)

    assert project.noted() == ["7"]


def test_an_edited_schedule_has_missed_nothing(project: Project) -> None:
    with project.opened():
        until(project.known)
    project.ahead = dt.timedelta(hours=5)
    project.schedule("`0 * * * *`")
    with project.opened() as workspace:
        until(lambda: project.known() == ["0 * * * *"])
        assert workspace.runs.list_sync() == ()


def test_two_processes_start_one_run_for_each_tick(project: Project) -> None:
    project.schedule("every 1s")
    command = [sys.executable, "-m", "toolmd", "worker"]
    workers = [
        warm_python.Popen(command, cwd=project.folder, stderr=subprocess.DEVNULL) for _ in range(2)
    ]
    try:
        until(lambda: len(project.noted()) > 3)
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait(DEADLINE_S)
    with Workspace.open(project.folder) as workspace:
        done = [view for view in workspace.runs.list_sync() if view.state == "done"]

    assert len(done) == len({view.began for view in done})
    assert len(project.noted()) == len(done)
