"""Runs that outlive their process, in a file or on Postgres: kept, answered, taken over."""

import asyncio
import datetime as dt
import json
import pickle
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from kept import STEPS, Kept, yes
from kept_process import worker_of
from run_world import NO, YES, tool

from toolmd._skills.engine.durable.store import MAX_TRIES
from toolmd._skills.engine.durable.workflows import VERSION
from toolmd.errors import NotFoundError, ToolmdError


def test_a_run_with_a_person_at_hand_ends_at_once(kept: Kept) -> None:
    result = kept.run(kept.order(), ask=yes)

    assert result.success
    assert result.data == {"value": "look"}
    assert kept.world.called == ["look", "act"]
    assert kept.world.keys == ["run-1/1:look", "run-1/3:act"]


def test_each_call_is_a_step_named_after_its_place_and_its_tool(kept: Kept) -> None:
    kept.run(kept.order(), ask=yes)

    named = "SELECT function_name FROM operation_outputs WHERE child_workflow_id IS NULL"
    assert {name for (name,) in kept.rows(named)} == {"1:look", "3:act"}


def test_a_run_waits_over_a_restart_and_goes_on_with_the_answer(kept: Kept) -> None:
    waiting = kept.run(kept.order())
    assert waiting.code == "waiting"
    kept.reopen()

    assert [one.question.key for one in kept.engine.waiting()] == ["2:ask"]
    result = kept.answer(YES)

    assert result.success
    assert kept.world.called == ["look", "act"]
    assert kept.engine.waiting() == ()


def test_the_first_answer_counts_and_a_later_one_gets_an_error(kept: Kept) -> None:
    kept.run(kept.order())
    kept.answer(NO._replace(by="ann"))

    with pytest.raises(NotFoundError, match="answered before by ann, with no"):
        kept.answer(YES)
    assert kept.world.called == ["look"]


def test_an_expired_question_is_a_no_and_a_late_answer_gets_an_error(kept: Kept) -> None:
    kept.run(kept.order())
    kept.ahead = dt.timedelta(hours=2)

    with pytest.raises(NotFoundError, match="time was up at"):
        kept.answer(YES)
    result = asyncio.run(kept.engine.resume("run-1"))

    assert result.code == "refused"
    assert "in time" in result.message
    assert kept.world.called == ["look"]


def test_a_cancelled_run_undoes_nothing_that_was_not_done_and_stays_ended(kept: Kept) -> None:
    kept.run(kept.order())
    result = asyncio.run(kept.engine.cancel("run-1"))

    assert result.code == "cancelled"
    assert kept.engine.view("run-1").state == "cancelled"
    assert kept.run(kept.order()) == result
    assert kept.world.called == ["look"]


def test_an_order_with_a_known_id_is_resumed_and_another_one_is_an_error(kept: Kept) -> None:
    first = kept.run(kept.order(), ask=yes)

    assert kept.run(kept.order()) == first
    other = kept.order()._replace(inputs={"a": 1})
    with pytest.raises(ToolmdError, match="another run"):
        kept.run(other)


def test_the_steps_of_a_run_are_pinned(kept: Kept) -> None:
    kept.run(kept.order())
    kept.reopen()
    changed = STEPS.replace("**Use**: act", "**Use**: undo")
    assert kept.run(kept.order(steps=changed)).code == "waiting"

    kept.answer(YES)

    assert kept.world.called == ["look", "act"]


def test_the_record_is_json_and_a_pickled_row_is_never_read(kept: Kept, tmp_path: Path) -> None:
    kept.run(kept.order())
    labels = "SELECT DISTINCT serialization FROM operation_outputs WHERE output NOTNULL"
    assert kept.rows(labels) == [("toolmd_json",)]
    trap = tmp_path / "trap"
    row = b64encode(pickle.dumps(Trap(str(trap)))).decode()
    kept.rows("UPDATE operation_outputs SET output = :row, serialization = 'py_pickle'", row=row)
    kept.rows("UPDATE workflow_input SET inputs = :row", row=row)
    kept.rows("UPDATE workflow_status SET serialization = 'py_pickle'")

    with pytest.raises(ValueError, match="the record of 1:look in run run-1 can't be read"):
        kept.engine.view("run-1")
    assert not trap.exists()


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (Path(self.path),)


def test_the_reader_rejects_a_pickle(kept: Kept) -> None:
    from dbos._serialization import DBOSDefaultSerializer

    kept.engine.start()
    with pytest.raises(ValueError, match="pickled"):
        DBOSDefaultSerializer.deserialize(b64encode(pickle.dumps({})).decode())


def test_the_version_of_waiting_runs_never_changes(kept: Kept) -> None:
    kept.run(kept.order())

    assert VERSION == "toolmd-1"
    version = "SELECT DISTINCT application_version FROM workflow_status"
    assert kept.rows(version) == [(VERSION,)]


def test_a_second_store_in_one_process_is_read_and_answered_but_not_executed(
    kept: Kept, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = Kept(tmp_path / "other")
    other.run(other.order())
    other.reopen()
    kept.run(kept.order())
    try:
        assert [view.id for view in other.engine.views()] == ["run-1"]
        with pytest.raises(ToolmdError, match="start `toolmd worker` for them"):
            other.answer(YES)
        assert other.queued() == ["run-1:1"]
        with pytest.raises(ToolmdError, match="executes the runs in"):
            other.run(other.order("run-2"))
    finally:
        other.engine.close()
    assert kept.answer(YES).success
    kept.engine.close()
    other.engine = other.opened()
    assert asyncio.run(other.engine.resume("run-1")).success
    other.engine.close()


def test_a_second_store_is_executed_by_its_own_worker(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Kept(tmp_path / "other")
    other.run(other.order())
    other.reopen()
    kept.engine.start()
    with worker_of(tmp_path / "other"):
        assert other.answer(YES).success
        assert other.run(other.order("run-2")).code == "waiting"
    other.engine.close()
    assert other.world.called == ["look"]


def test_a_second_database_for_runs_in_one_process_is_an_error(kept: Kept, tmp_path: Path) -> None:
    kept.engine.start()
    (tmp_path / "other").mkdir()
    other = Kept(tmp_path / "other")
    try:
        with pytest.raises(ToolmdError, match="executes the runs in"):
            other.engine.start()
    finally:
        other.engine.close()


def test_the_next_process_executes_the_orphans_of_a_dead_one(kept: Kept) -> None:
    kept.cut()
    kept.leave("dead-1")

    result = asyncio.run(kept.engine.resume("run-1"))

    assert result.success
    assert kept.world.called == ["look", "act"]
    assert kept.engine._locks.dead() == []


def test_a_run_whose_processes_are_killed_before_they_come_to_a_call_is_not_stuck(
    kept: Kept,
) -> None:
    kept.cut()
    for _ in range(20):
        # An attempt that found one effect, and was killed before it came to the next.
        assert kept.engine._store.head("run-1", 1, 1) is not None
    kept.leave("dead-1")

    assert asyncio.run(kept.engine.resume("run-1")).success
    assert kept.world.called == ["look", "act"]


def test_a_run_that_is_cut_off_within_the_same_call_each_time_is_stuck(kept: Kept) -> None:
    kept.cut()
    head = kept.engine._store.head("run-1", 1, 1)
    assert head is not None
    assert not head.again
    for _ in range(MAX_TRIES):
        head = kept.engine._store.head("run-1", 1, 1)
        assert head is not None
        assert head.again
        assert kept.engine._store.is_tried("run-1")
    kept.leave("dead-1")

    stuck = asyncio.run(kept.engine.resume("run-1"))

    assert stuck.code == "stuck"
    assert kept.world.called == ["look"]
    assert asyncio.run(kept.engine.resume("run-1")).success


def test_a_stuck_run_waits_until_a_person_resumes_it(kept: Kept) -> None:
    kept.run(kept.order())
    kept.rows("UPDATE toolmd_run SET attempts = 99, held = 1")
    stuck = kept.answer(YES)
    assert stuck.code == "stuck"
    assert kept.engine.view("run-1").state == "stuck"

    result = asyncio.run(kept.engine.resume("run-1"))

    assert result.success
    assert kept.world.called == ["look", "act"]


def test_runs_that_ended_long_ago_are_dropped_whole(kept: Kept) -> None:
    kept.run(kept.order(), ask=yes)
    kept.run(kept.order("run-2"))
    kept.ahead = dt.timedelta(days=31)
    kept.reopen()
    kept.engine.start()
    # Closing waits for the first look at what is old.
    kept.reopen()

    assert [view.id for view in kept.engine.views()] == ["run-2"]
    assert kept.rows("SELECT * FROM operation_outputs WHERE workflow_uuid LIKE 'run-1:%'") == []
    assert kept.rows("SELECT * FROM workflow_status WHERE workflow_uuid LIKE 'run-1:%'") == []


def test_an_answer_is_kept_as_json(kept: Kept) -> None:
    kept.run(kept.order())
    kept.answer(YES._replace(text="with pleasure"))

    (row,) = kept.rows("SELECT answer FROM toolmd_question")
    assert json.loads(row[0])["text"] == "with pleasure"


def test_a_non_repeatable_call_is_made_once_or_a_person_reports_its_outcome(
    kept: Kept,
) -> None:
    plain = tool("act")
    kept.world.tools["act"] = plain
    kept.run(kept.order())
    # As a process leaves it that died between the call and its record.
    kept.rows(
        "UPDATE operation_outputs SET function_name = '3:act:begun1' WHERE function_name = '1:look'"
    )
    doubtful = kept.answer(YES)

    assert doubtful.code == "waiting"
    assert "Did act take effect?" in doubtful.message
    assert "act" not in kept.world.called
    result = kept.answer(YES, key="3:act:begun1:happened")
    assert result.success
    assert "act" not in kept.world.called


def test_a_call_that_did_not_happen_is_made_when_a_person_says_so(kept: Kept) -> None:
    kept.world.tools["act"] = tool("act")
    kept.run(kept.order())
    kept.rows(
        "UPDATE operation_outputs SET function_name = '3:act:begun1' WHERE function_name = '1:look'"
    )
    kept.answer(YES)

    assert kept.answer(NO, key="3:act:begun1:happened").success
    assert kept.world.called.count("act") == 1
