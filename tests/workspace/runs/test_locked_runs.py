"""While the database of the runs is locked or full, runs wait and other calls continue."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from tests.definitions import skill, tool

from toolmd import Workspace
from toolmd.errors import UnreachableError

TOOL = tool(
    "say",
    "None",
    metadata="- **Idempotent**: true\n",
)
SKILL = skill(
    "walk",
    "say",
    """1. **Say** it.
   - **Use**: say
2. **Agree**.
   - **Ask**: Go on?""",
)


SAY = """from pathlib import Path


async def say():
    with Path(__file__).with_name("said").open("a") as said:
        said.write("x")
    return {}
"""
KEPT = {"store": "sqlite"}


@pytest.fixture
def project(tmp_path):
    files = {
        "toolmd.toml": 'tools = ["tools_md"]\nskills = ["skills_md"]\nplugins = []\n',
        "tools_md/say.tool.md": TOOL,
        "tools_md/say.py": SAY,
        "skills_md/walk.skill.md": SKILL,
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    with Workspace.open(tmp_path, overrides=KEPT) as workspace:
        assert workspace.diagnostics == ()
        assert workspace.run_sync("walk", run_id="r1", user="ana").outcome == "confirm"
    return tmp_path


def begin(workspace):
    return workspace.run("walk", run_id="r2", user="ana")


def show(workspace):
    return workspace.runs.trace("r1")


def answer(workspace):
    return workspace.confirmations.reject("r1/2:ask")


def page(workspace):
    return workspace.runs.list()


def get(workspace):
    return workspace.runs.get("r1", user="ana")


def steer(workspace):
    return workspace.runs.cancel("r1")


def answer_alone(workspace):
    return workspace.runs.answer("r1", answer=False)


def pending(workspace):
    return workspace.confirmations.pending()


def question(workspace):
    return workspace.confirmations.get("r1/2:ask")


def start(workspace):
    return workspace.runs.start()


async def follow(workspace):
    return await anext(workspace.runs.follow("r1"))


CHANGES = [begin, answer, steer, answer_alone]
WORK = [*CHANGES, start, show, page, get, pending, question, follow]


@pytest.mark.parametrize("work", WORK)
def test_opening_the_runs_blocks_no_other_call(project, work):
    async def main(workspace, somebody):
        somebody.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(work(workspace))
        for _ in range(20):
            # A call gives way to nobody.
            await asyncio.sleep(0)
            assert (await workspace.call("say", {})).success
        # A reader waits for no writer.
        assert not (waiting.done() and work in CHANGES)
        somebody.execute("ROLLBACK")
        return await waiting

    file = project / ".toolmd" / "store.sqlite3"
    with (
        Workspace.open(project, overrides=KEPT) as workspace,
        closing(sqlite3.connect(file, isolation_level=None)) as somebody,
    ):
        asyncio.run(main(workspace, somebody))


def test_a_run_that_cannot_be_stored_does_not_start_until_space_is_free(project, limited_disk):
    said = project / "tools_md" / "said"
    with Workspace.open(project, overrides=KEPT) as workspace:
        assert workspace.run_sync("walk", run_id="r2").outcome == "confirm"
        before = said.stat().st_size
        with limited_disk(1000), pytest.raises(UnreachableError, match="can't be reached"):
            workspace.run_sync("walk", run_id="r3")
        assert said.stat().st_size == before
        assert {run.id for run in workspace.runs.list_sync()} == {"r1", "r2"}
        assert workspace.run_sync("walk", run_id="r3").outcome == "confirm"
        assert said.stat().st_size == before + 1
