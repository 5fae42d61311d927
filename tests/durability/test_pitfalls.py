"""Known pitfalls of durable runs, each with a test of its solution.

Other tests cover the database (WAL, TCP), cheap waiting, dead processes and shared rates:
test_durable_database, test_durable_engine, test_reclaimer, test_shared_limits.
"""

import asyncio
import pickle
import subprocess
import sys
import time
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from kept import Kept
from test_pinned import DONE, Project

from toolmd._skills.engine.durable.workflows import VERSION
from toolmd._types.run import Answer
from toolmd.errors import ToolmdError

YES = Answer(approved=True)
SHORT = "1. **Look**\n   - **Use**: look\n2. **Act**\n   - **Use**: act\n3. **Return**: Done."
TIMEOUT_S = 20.0


def until(true: Any) -> None:
    """Wait for what other threads bring about."""
    end = time.monotonic() + TIMEOUT_S
    while not true():
        assert time.monotonic() < end


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (Path(self.path),)


def test_1_a_resumed_run_does_not_read_a_pickled_row(kept: Kept, tmp_path: Path) -> None:
    kept.cut()
    trap = tmp_path / "trap"
    row = b64encode(pickle.dumps({"args": (Trap(str(trap)), 1), "kwargs": {}})).decode()
    kept.rows("UPDATE workflow_input SET inputs = :row WHERE workflow_uuid = 'run-1:1'", row=row)
    kept.rows(
        "UPDATE workflow_status SET serialization = 'py_pickle' WHERE workflow_uuid = 'run-1:1'"
    )
    kept.leave("dead-1")
    kept.engine.start()
    tried = "SELECT 1 FROM workflow_status WHERE workflow_uuid = 'run-1:1' AND status IN (:a, :b)"
    until(lambda: kept.rows(tried, a="ERROR", b="SUCCESS"))
    assert not trap.exists()


CHANGED = '''
import sys

from dbos import DBOS

from toolmd import Workspace


@DBOS.workflow()
def another(a: int) -> int:
    """Changes the version that DBOS makes of the workflows' source."""
    return a


with Workspace.open(sys.argv[1], overrides={"store": "sqlite"}) as workspace:
    workspace.confirmations.approve_sync("run-1/2:ask")
    sys.exit(0 if workspace.runs.get_sync("run-1").result else 1)
'''


def test_2_another_source_of_the_workflows_strands_no_run(tmp_path: Path) -> None:
    project = Project(tmp_path)
    done = subprocess.run([sys.executable, "-c", CHANGED, str(tmp_path)], check=False, timeout=120)
    assert done.returncode == 0
    assert project.notes() == DONE


def test_5_keys_belong_to_the_run_and_its_step_in_any_workflow(kept: Kept) -> None:
    kept.run(kept.order())
    kept.reopen()
    kept.answer(YES)
    assert kept.world.keys == ["run-1/1:look", "run-1/3:act"]
    played = "SELECT workflow_uuid FROM operation_outputs WHERE function_name = '3:act'"
    assert kept.rows(played) == [("run-1:1",)]


def test_5_a_run_that_was_stuck_goes_on_under_the_same_keys(kept: Kept) -> None:
    kept.run(kept.order())
    kept.rows("UPDATE toolmd_run SET stuck = 1, parked = 0")
    result = asyncio.run(kept.engine.resume("run-1", ask=lambda _: asyncio.sleep(0, YES)))
    assert result.success
    assert kept.world.keys == ["run-1/1:look", "run-1/3:act"]


def test_9_a_second_database_is_rejected(kept: Kept, tmp_path: Path) -> None:
    kept.run(kept.order())
    (tmp_path / "other").mkdir()
    other = Kept(tmp_path / "other")
    try:
        with pytest.raises(ToolmdError, match="close the other workspace first"):
            other.run(other.order("run-2", SHORT))
    finally:
        other.engine.close()
    assert other.world.called == []
    assert kept.answer(YES).success


def test_9_the_same_id_with_other_inputs_is_an_error_without_a_result(kept: Kept) -> None:
    assert kept.run(kept.order("run-1", SHORT)).success
    with pytest.raises(ToolmdError, match="is the id of another run"):
        kept.run(kept.order("run-1", SHORT)._replace(inputs={"other": 1}))
    assert kept.run(kept.order("run-1", SHORT)).success
    assert kept.world.called == ["look", "act"]


def test_9_a_resumed_run_executes_in_the_loop_of_the_runs(kept: Kept) -> None:
    loops = set()

    def look(**_: Any) -> dict[str, str]:
        loops.add(id(asyncio.get_running_loop()))
        return {"value": "look"}

    kept.world.functions["act"] = look
    kept.cut()
    kept.leave("dead-1")
    process = kept.engine.start()
    until(lambda: kept.engine.view("run-1").result is not None)
    assert loops == {id(process._loop)}


def test_10_a_result_is_returned_as_soon_as_it_exists(kept: Kept) -> None:
    kept.run(kept.order("run-0", SHORT))
    took = []
    for number in range(1, 6):
        began = time.monotonic()
        kept.run(kept.order(f"run-{number}", SHORT))
        took.append(time.monotonic() - began)
    assert min(took) < 0.5


def test_stored_files_are_readable_only_by_their_owner(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.answer()
    with project.open() as workspace:
        workspace.call_sync("act", {"what": "something"})
        state = tmp_path / ".toolmd"
        assert state.stat().st_mode & 0o777 == 0o700
        loose = [path for path in state.rglob("*") if path.stat().st_mode & 0o077]
    assert loose == []


def test_the_version_is_one_for_all_releases() -> None:
    assert VERSION == "toolmd-1"
