"""The reclaimer: work of a process that died between two writes is completed."""

import asyncio
import datetime as dt
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import psycopg
import pytest
from kept import STEPS, Kept
from run_world import YES

from toolmd._skills.engine import LATE, utc_now
from toolmd._types.result import SkillResult

TIMEOUT_S = 30


def come(kept, test):
    """Wait until the engine has come so far by itself."""
    until = time.monotonic() + TIMEOUT_S
    while not test():
        assert time.monotonic() < until, kept.engine.store.view("run-1")
        time.sleep(0.05)


def asked(kept):
    return [one.question.key for one in kept.engine.store.open()] == ["2:ask"]


def test_a_submitted_run_that_did_not_start_is_started(kept):
    assert kept.engine.store.add(kept.order(), utc_now(), "dead-1")
    kept.leave("dead-1")

    kept.engine.start()

    come(kept, lambda: asked(kept))
    assert kept.answer(YES).success


def test_an_answer_of_a_dead_process_with_a_late_clock_counts(kept):
    kept.run(kept.order())
    yesterday = utc_now() - dt.timedelta(days=1)

    assert kept.engine.store.settle("run-1", "2:ask", YES, yesterday)[0]

    come(kept, lambda: kept.engine.store.view("run-1").result is not None)
    assert kept.world.called == ["look", "act"]


def test_a_question_whose_time_is_up_is_answered_with_a_no_by_itself(kept):
    kept.run(kept.order())
    kept.ahead = dt.timedelta(hours=2)

    come(kept, lambda: kept.engine.store.view("run-1").result is not None)

    assert kept.engine.store.view("run-1").result.error.code == "refused"
    assert kept.world.called == ["look"]


def test_an_answer_wakes_its_run_once_and_not_at_each_later_question(kept):
    again = STEPS.replace("3. **Act**", "3. **Agree again**.\n   - **Ask**: Really?\n4. **Act**")
    kept.run(kept.order(steps=again.replace("4. **Return**", "5. **Return**")))

    kept.answer(YES)

    kept.rest()
    assert kept.answer(YES, key="3:ask").success


def test_a_run_that_its_process_no_longer_executes_is_resumed(kept):
    kept.cut("own")

    assert asyncio.run(kept.engine.resume("run-1")).success
    assert kept.world.called == ["look", "act"]


def test_resuming_a_run_does_not_start_it_twice(kept):
    release, tasks = asyncio.Event(), []

    async def act(**_):
        # As an impatient person does.
        tasks.append(asyncio.ensure_future(kept.engine.resume("run-1")))
        await asyncio.wait({asyncio.ensure_future(release.wait())}, timeout=1.5)
        return {"value": "act"}

    kept.world.functions["act"] = act
    kept.run(kept.order())

    assert kept.answer(YES).success
    assert kept.world.called.count("act") == 1


def test_a_run_that_is_ordered_again_while_it_executes_is_executed_once(kept):
    async def look(**_):
        # Longer than two looks for runs that nothing executes.
        await asyncio.sleep(2.5)
        return {"value": "look"}

    kept.world.functions["look"] = look

    async def order_twice():
        first = asyncio.ensure_future(kept.engine.run(kept.order()))
        await asyncio.sleep(0.5)
        return await asyncio.gather(first, kept.engine.run(kept.order()))

    assert [one.code for one in asyncio.run(order_twice())] == ["waiting", "waiting"]
    assert kept.world.called == ["look"]


def test_a_result_counts_only_where_the_run_still_belongs_to_its_process(kept):
    def act(**_):
        # As another process does that took this one for dead.
        kept.engine.store.inherit(kept.engine.own)
        assert kept.engine.store.claim("run-1", "heir")
        kept.engine.store.finish("run-1", "heir", SkillResult(True, message="heir's"), utc_now())
        return {"value": "act"}

    kept.world.functions["act"] = act
    kept.run(kept.order())

    assert kept.answer(YES).message == "heir's"


def test_an_answer_and_the_end_of_its_time_in_one_instant_wake_a_run_once(kept):
    orders = [kept.order(f"run-{number}") for number in range(5)]
    for order in orders:
        kept.run(order)
    store, now, both = kept.engine.store, utc_now(), Barrier(2)

    def settle(order, answer):
        both.wait()
        return store.settle(order.id, "2:ask", answer, now)[0]

    def result(order):
        return kept.engine.store.view(order.id).result

    with ThreadPoolExecutor(2) as threads:
        for order in orders:
            won = list(threads.map(partial(settle, order), (YES, LATE)))
            assert sorted(won) == [False, True]
            come(kept, partial(result, order))
            assert result(order).success == won[0]

    assert kept.world.called.count("act") <= len(orders)


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


def test_names_of_processes_are_never_used_twice(tmp_path, place):
    names = set()
    for _ in range(3):
        kept = Kept(tmp_path, place)
        names.add(kept.engine.own)
        kept.close()

    assert len(names) == 3


def test_a_process_shows_that_it_is_alive_before_it_executes_any_run(kept, tmp_path):
    kept.engine.start()
    other = Kept(tmp_path, kept.place)
    try:
        other.engine.start()

        assert other.engine.own in kept.workers()
        assert kept.engine._workers.dead() == []
    finally:
        other.close()
