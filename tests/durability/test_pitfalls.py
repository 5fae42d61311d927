"""Known pitfalls of durable runs, each with a test of its solution.

Other tests cover the database (WAL, TCP), cheap waiting, dead processes and shared rates:
test_durable_database, test_durable_engine, test_reclaimer, test_shared_limits.
"""

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from kept import Kept
from test_edited_files import Project

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


def test_5_keys_belong_to_the_run_and_its_step_in_any_workflow(kept: Kept) -> None:
    kept.run(kept.order())
    kept.reopen()
    kept.answer(YES)
    assert kept.world.keys == ["run-1/1:look", "run-1/3:act"]


def test_5_a_run_that_was_stuck_goes_on_under_the_same_keys(kept: Kept) -> None:
    kept.run(kept.order())
    kept.rows("UPDATE run SET state = 'stuck'")
    result = asyncio.run(kept.engine.resume("run-1", ask=lambda _: asyncio.sleep(0, YES)))
    assert result.success
    assert kept.world.keys == ["run-1/1:look", "run-1/3:act"]


def test_9_the_same_id_with_other_inputs_is_an_error_without_a_result(kept: Kept) -> None:
    assert kept.run(kept.order("run-1", SHORT)).success
    with pytest.raises(ToolmdError, match="is the id of another run"):
        kept.run(kept.order("run-1", SHORT)._replace(inputs={"other": 1}))
    assert kept.run(kept.order("run-1", SHORT)).success
    assert kept.world.called == ["look", "act"]


def test_9_a_resumed_run_executes_in_the_thread_of_the_runs(kept: Kept) -> None:
    names = set()

    def look(**_: Any) -> dict[str, str]:
        names.add(threading.current_thread().name)
        return {"value": "look"}

    kept.world.functions["act"] = look
    kept.cut()
    kept.leave("dead-1")
    kept.engine.start()
    until(lambda: kept.engine.store.view("run-1").result is not None)
    assert names == {"toolmd-runs"}


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
