"""A server without durable skills has few threads, and executes the runs that were left."""

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from served_kiosk import Served
from served_workers import act, project_of

from toolmd import Workspace
from toolmd._store import STORE_FILE

SKILL = """# Act once

Acts.

## Metadata

- **Name**: act_once
- **Version**: 1.0.0
- **Category**: general
- **Required Tools**: act

## Workflow

1. **Act**.
   - **Use**: act

## Input Schema

None

## Output Schema

- **Type**: object (SkillResult)
"""


def add_skill(project: Path) -> Path:
    file = project / "skills_md" / "act-once.skill.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(SKILL, encoding="utf-8")
    return file


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads as Linux lists them")
def test_a_server_of_tools_alone_has_few_threads(tmp_path: Path) -> None:
    with Served(project_of(tmp_path), TOOLMD_STORE="sqlite") as served:
        assert act(served.client)["outcome"] == "ok"

        # One of them waits for the next Python file to import; those of calls end when idle.
        tasks, ends = Path(f"/proc/{served.process.pid}/task"), time.monotonic() + 20
        while len(list(tasks.iterdir())) > 8 and time.monotonic() < ends:
            time.sleep(0.2)
        assert len(list(tasks.iterdir())) <= 8
        served.end()
        assert served.process.wait(60) == 0


def test_runs_of_a_removed_skill_are_still_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    project = project_of(tmp_path)
    skill = add_skill(project)
    with Workspace.open(project) as workspace:
        assert workspace.run_sync("act_once", {}).success
    # As a process leaves its run that was killed before the end.
    with closing(sqlite3.connect(project / ".toolmd" / STORE_FILE)) as store, store:
        store.execute("UPDATE run SET state = 'ready', result = NULL, ended = NULL")
    skill.unlink()

    with Workspace.open(project) as workspace:
        assert workspace.runs.start_sync()
        while (result := workspace.runs.list_sync()[0].result) is None:
            os.sched_yield()
    assert result.success
