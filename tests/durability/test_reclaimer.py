"""The reclaimer: work of a process that died between two writes is completed."""

import asyncio
import datetime as dt
import inspect
import time

import psycopg
import pytest
from dbos import DBOS
from kept import STEPS, Kept
from run_world import YES

from toolmd._skills.engine.memory import utc_now
from toolmd.errors import ToolmdError

TIMEOUT_S = 30


def come(kept, test):
    """Wait until the engine has come so far by itself."""
    until = time.monotonic() + TIMEOUT_S
    while not test():
        assert time.monotonic() < until, kept.engine.view("run-1")
        time.sleep(0.05)


def asked(kept):
    return [one.question.key for one in kept.engine.waiting()] == ["2:ask"]


def test_a_submitted_run_that_did_not_start_is_started(kept):
    order = kept.order()
    kept.engine._store.begin(order, kept.engine._clock())

    kept.engine.start()

    come(kept, lambda: asked(kept))
    assert kept.answer(YES).success


def test_a_run_with_an_unrecorded_handover_gets_its_answer(kept):
    kept.run(kept.order())
    kept.rows("UPDATE toolmd_run SET segment = 0, parked = 0")

    come(kept, lambda: kept.engine._store.find("run-1").segment == 1)
    assert kept.answer(YES).success
    assert kept.world.called == ["look", "act"]


def test_an_answer_of_a_dead_process_with_a_late_clock_counts(kept):
    kept.run(kept.order())
    yesterday = utc_now() - dt.timedelta(days=1)

    assert kept.engine._store.settle("run-1", "2:ask", YES, yesterday)

    come(kept, lambda: kept.engine._store.find("run-1").result is not None)
    assert kept.world.called == ["look", "act"]


def test_an_answer_wakes_its_run_once_and_not_at_each_later_question(kept):
    again = STEPS.replace("3. **Act**", "3. **Agree again**.\n   - **Ask**: Really?\n4. **Act**")
    kept.run(kept.order(steps=again.replace("4. **Return**", "5. **Return**")))

    kept.answer(YES)
    asyncio.run(kept.engine._process.do(lambda: kept.engine._reclaimer._round(1)))

    assert kept.engine._store.due() == ()
    assert kept.engine._store.find("run-1").segment == 2
    assert kept.answer(YES, key="3:ask").success


def test_a_workflow_that_ended_without_its_run_is_replaced(kept):
    kept.run(kept.order())
    kept.rows("UPDATE workflow_status SET status = 'ERROR' WHERE workflow_uuid = 'run-1:1'")

    come(kept, lambda: kept.engine._store.find("run-1").segment == 3)
    assert kept.answer(YES).success
    assert kept.world.called == ["look", "act"]


@pytest.mark.parametrize("owner", ["own", "somebody-who-was-buried"])
def test_an_orphaned_workflow_is_executed(kept, owner):
    kept.run(kept.order())
    name = kept.engine._locks.own if owner == "own" else owner
    kept.rows(
        "UPDATE workflow_status SET status = 'PENDING', executor_id = :name "
        "WHERE workflow_uuid = 'run-1:1'",
        name=name,
    )

    assert kept.answer(YES).success
    assert kept.world.called == ["look", "act"]


def test_waking_a_run_does_not_start_it_twice(kept):
    release, steps = asyncio.Event(), kept.order()

    async def act(**_):
        # As an impatient person does, and another worker's look.
        await kept.engine._process.do(lambda: kept.engine._process.wake("run-1", 1))
        await asyncio.wait({asyncio.ensure_future(release.wait())}, timeout=1.5)
        return {"value": "act"}

    kept.world.functions["act"] = act
    kept.run(steps)

    assert kept.answer(YES).success
    assert kept.world.called.count("act") == 1


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
def test_a_run_survives_the_loss_of_all_connections(kept):
    def act(**_):
        with psycopg.connect(kept.place, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        return {"value": "act"}

    kept.world.functions["act"] = act
    kept.run(kept.order())

    assert kept.answer(YES).success
    assert set(kept.world.keys) == {"run-1/1:look", "run-1/3:act"}


def test_the_private_dbos_call_for_takeovers_is_unchanged(kept):
    kept.run(kept.order())
    kept.rows("UPDATE workflow_status SET status = 'PENDING', executor_id = 'dead-1' "
              "WHERE workflow_uuid = 'run-1:1'")  # fmt: skip
    recover = DBOS._recover_pending_workflows
    assert list(inspect.signature(recover).parameters) == ["executor_ids"]

    handles = recover(["dead-2"]), recover(["dead-1"]), recover(["dead-1"])

    # Those of one name only, and once.
    assert [[one.workflow_id for one in some] for some in handles] == [[], ["run-1:1"], []]


def test_names_of_processes_are_never_used_twice(tmp_path, place):
    names = set()
    for _ in range(3):
        kept = Kept(tmp_path, place)
        names.add(kept.engine._locks.own)
        kept.engine.close()

    assert len(names) == 3


def test_a_process_is_registered_before_it_executes_any_run(kept, tmp_path):
    kept.engine.start()
    other = Kept(tmp_path, kept.place)
    try:
        # One process plays runs in one place only, so that this one gets no further.
        with pytest.raises(ToolmdError, match="keeps its runs in"):
            other.engine.start()

        assert other.engine._locks.own in kept.engine._locks.known()
        assert kept.engine._locks.dead() == []
    finally:
        other.engine.close()
