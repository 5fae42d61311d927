"""Runs that outlive their process, in a file or on Postgres: kept, answered, taken over."""

import asyncio
import datetime as dt
import json
import time
from pathlib import Path

import pytest
from kept import DEADLINE_S, STEPS, Kept, yes
from run_world import NO, YES, tool

from toolmd._skills.store import MAX_TRIES
from toolmd.errors import NotFoundError, ToolmdError


def test_a_run_with_a_person_at_hand_ends_at_once(kept: Kept) -> None:
    result = kept.run(kept.order(), ask=yes)

    assert result.success
    assert result.data == {"value": "look"}
    assert kept.world.called == ["look", "act"]
    assert kept.world.keys == ["run-1/1:look", "run-1/3:act"]


def test_each_call_is_a_step_named_after_its_place_and_its_tool(kept: Kept) -> None:
    kept.run(kept.order(), ask=yes)

    keys = kept.rows("SELECT key FROM step ORDER BY number")
    assert keys == [("1:look",), ("3:act",)]


def test_a_run_waits_over_a_restart_and_goes_on_with_the_answer(kept: Kept) -> None:
    waiting = kept.run(kept.order())
    assert waiting.code == "waiting"
    kept.reopen()

    assert [one.question.key for one in kept.engine.store.open()] == ["2:ask"]
    result = kept.answer(YES)

    assert result.success
    assert kept.world.called == ["look", "act"]
    assert kept.engine.store.open() == ()


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
    assert kept.engine.store.view("run-1").state == "cancelled"
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


def test_two_stores_are_executed_in_one_process(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Kept(tmp_path / "other")
    for one in (kept, other):
        assert one.run(one.order()).code == "waiting"
    for one in (other, kept):
        assert one.answer(YES).success
        assert one.world.called == ["look", "act"]
    other.close()


def test_the_next_process_executes_the_orphans_of_a_dead_one(kept: Kept) -> None:
    kept.cut()
    kept.leave("dead-1")

    result = asyncio.run(kept.engine.resume("run-1"))

    assert result.success
    assert kept.world.called == ["look", "act"]
    assert kept.engine._workers.dead() == []


def test_a_run_whose_processes_are_killed_twenty_times_is_not_stuck(kept: Kept) -> None:
    kept.cut()
    for _ in range(20):
        kept.engine.store.inherit("dead-1")
        assert kept.engine.store.claim("run-1", "dead-1")
    kept.leave("dead-1")

    assert asyncio.run(kept.engine.resume("run-1")).success
    assert kept.world.called == ["look", "act"]


def test_a_run_that_is_cut_off_each_time_without_a_further_step_is_stuck(kept: Kept) -> None:
    kept.cut()
    for _ in range(MAX_TRIES):
        kept.engine.store.inherit("dead-1")
        kept.engine.store.claim("run-1", "dead-1")

    stuck = asyncio.run(kept.engine.run(kept.order()))

    assert stuck.code == "stuck"
    assert kept.world.called == ["look"]
    assert asyncio.run(kept.engine.resume("run-1")).success


def test_a_stuck_run_waits_until_a_person_resumes_it(kept: Kept) -> None:
    kept.cut()
    kept.rows("UPDATE run SET state = 'stuck', owner = NULL")
    assert asyncio.run(kept.engine.run(kept.order())).code == "stuck"
    assert kept.engine.store.view("run-1").state == "stuck"

    result = asyncio.run(kept.engine.resume("run-1"))

    assert result.success
    assert kept.world.called == ["look", "act"]


def test_runs_that_ended_long_ago_are_dropped_whole(kept: Kept) -> None:
    kept.run(kept.order(), ask=yes)
    kept.run(kept.order("run-2"))
    kept.ahead = dt.timedelta(days=31)
    kept.reopen()
    kept.engine.start()
    ends = time.monotonic() + DEADLINE_S
    while len(kept.engine.store.views()) > 1:
        assert time.monotonic() < ends
        time.sleep(0.05)

    assert [view.id for view in kept.engine.store.views()] == ["run-2"]
    assert kept.rows("SELECT 1 FROM step WHERE run = 'run-1'") == []
    assert kept.rows("SELECT 1 FROM question WHERE run = 'run-1'") == []


def test_an_answer_is_kept_as_json(kept: Kept) -> None:
    kept.run(kept.order())
    kept.answer(YES._replace(text="with pleasure"))

    (row,) = kept.rows("SELECT answer FROM question")
    assert json.loads(row[0])["text"] == "with pleasure"


def test_a_non_repeatable_call_is_made_once_or_a_person_reports_its_outcome(
    kept: Kept,
) -> None:
    plain = tool("act")
    kept.world.tools["act"] = plain
    kept.run(kept.order())
    # As a process leaves it that died between the call and its record.
    kept.rows("UPDATE step SET key = '3:act:begun1' WHERE key = '1:look'")
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
    kept.rows("UPDATE step SET key = '3:act:begun1' WHERE key = '1:look'")
    kept.answer(YES)

    assert kept.answer(NO, key="3:act:begun1:happened").success
    assert kept.world.called.count("act") == 1
