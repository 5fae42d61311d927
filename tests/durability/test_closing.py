"""Closing a workspace within an event loop lets the calls of its runs finish."""

import asyncio
import logging
from pathlib import Path

import pytest
from test_edited_files import FILES

from toolmd import Workspace

SLOW = '''"""Say that it began, and end once it may."""

import asyncio
from pathlib import Path

ROOT = Path(__file__).parents[1]


async def act(what: str) -> dict[str, str]:
    (ROOT / f"began {what}").touch()
    while not (ROOT / "may end").exists():
        await asyncio.sleep(0.01)
    (ROOT / f"ended {what}").touch()
    return {"line": what}
'''
SKILL = FILES["skills_md/job.skill.md"].replace("what: begin", "what: first")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = FILES | {"tools_md/act.py": SLOW, "skills_md/job.skill.md": SKILL}
    for path in ("toolmd.toml", "tools_md/act.tool.md", "tools_md/act.py", "tools_md/undo.tool.md",
                 "skills_md/job.skill.md"):  # fmt: skip
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(files[path], "utf-8")
    (tmp_path / "tools_md/undo.py").write_text(SLOW.replace("act(", "undo("), "utf-8")
    return tmp_path


def open_durable(project: Path) -> Workspace:
    return Workspace.open(project, overrides={"store": "sqlite"})


def test_an_awaited_close_lets_the_call_in_progress_finish(project: Path) -> None:
    async def main() -> None:
        workspace = open_durable(project)
        run = asyncio.create_task(workspace.run("job", {}))
        while not (project / "began first").exists():  # noqa: ASYNC110 - a file tells it
            await asyncio.sleep(0.01)
        closing = asyncio.create_task(workspace.aclose())
        await asyncio.sleep(0)
        (project / "may end").touch()
        await closing
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)

    asyncio.run(main())
    assert (project / "ended first").exists()


def test_a_close_right_after_a_run_reports_no_error(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (project / "may end").touch()

    async def main() -> None:
        for _ in range(10):
            with open_durable(project) as workspace:
                await workspace.run("job", {})

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert caplog.text == ""
