"""Runs that wait for a time, in a file or on Postgres: over restarts, kills, cancellations."""

import asyncio
import datetime as dt
import time
from pathlib import Path

import pytest
from kept import DEADLINE_S, Kept
from kept_process import worker_of
from run_world import YES

from toolmd.errors import NotFoundError

WAITING = """1. **Look**.
   - **Use**: look
   - **Save as**: seen
2. **Act** later.
   - **Wait**: {wait}
   - **Use**: act
   - **Undo**: undo
3. **Return**:
   - value: `seen.value`"""


def waiting(kept: Kept, wait: str = "2h") -> None:
    """Run to the Wait."""
    result = kept.run(kept.order(steps=WAITING.replace("{wait}", wait)))
    assert result.code == "waiting", result


def until(kept: Kept, state: str) -> None:
    """Wait until the run has this state, which another thread or process gives it."""
    ends = time.monotonic() + DEADLINE_S
    while kept.engine.store.view("run-1").state != state:
        assert time.monotonic() < ends, kept.engine.store.view("run-1")


def test_a_run_waits_over_a_restart_and_goes_on_by_itself(kept: Kept) -> None:
    waiting(kept)
    kept.reopen()
    (question,) = kept.engine.store.view("run-1").questions
    assert (question.key, question.kind) == ("2:wait", "wait")
    assert kept.world.called == ["look"]
    kept.ahead = dt.timedelta(hours=2)
    kept.engine.start()

    until(kept, "done")
    assert kept.world.called == ["look", "act"]


def test_nothing_is_queued_for_a_run_that_waits(kept: Kept) -> None:
    waiting(kept)

    assert kept.going() == []


def test_nobody_can_answer_a_wait(kept: Kept) -> None:
    waiting(kept)

    with pytest.raises(NotFoundError, match=r"it waits until .*, not for an answer"):
        kept.answer(YES, key="2:wait")
    assert kept.engine.store.view("run-1").state == "waiting"


def test_a_wait_that_is_resumed_after_its_time_goes_on(kept: Kept) -> None:
    waiting(kept)
    assert asyncio.run(kept.engine.resume("run-1")).code == "waiting"
    kept.ahead = dt.timedelta(hours=2)

    assert asyncio.run(kept.engine.resume("run-1")).success
    assert kept.world.called == ["look", "act"]


def test_a_cancelled_wait_does_nothing_more(kept: Kept) -> None:
    waiting(kept)

    assert asyncio.run(kept.engine.cancel("run-1")).code == "cancelled"
    assert kept.engine.store.view("run-1").state == "cancelled"
    assert kept.world.called == ["look"]


def test_a_wait_survives_the_kill_of_each_worker(kept: Kept) -> None:
    waiting(kept, "3s")
    kept.close()
    for _ in range(2):
        with worker_of(kept.state, kept.place) as worker:
            worker.kill()
            worker.wait()
    kept.engine = kept.opened()
    kept.engine.start()

    until(kept, "done")
    assert kept.world.called == ["look", "act"]


def test_a_short_wait_ends_without_anybody(tmp_path: Path, empty_file: Path) -> None:
    (tmp_path / empty_file.name).write_bytes(empty_file.read_bytes())
    kept = Kept(tmp_path)
    waiting(kept, "500ms")
    until(kept, "done")
    kept.close()


def scheduled(kept: Kept, after: dt.timedelta) -> dt.datetime:
    """Schedule a run."""
    at = dt.datetime.now(dt.UTC) + after
    result = asyncio.run(kept.engine.schedule(kept.order(steps=FIVE), at))
    assert result.code == "waiting"
    return at


FIVE = "1. **Look**.\n   - **Use**: look\n2. **Return**:\n   - at: `string(now())`"


def test_a_scheduled_run_starts_over_a_restart_and_in_another_process(kept: Kept) -> None:
    at = scheduled(kept, dt.timedelta(hours=2))
    view = kept.engine.store.view("run-1")
    assert (view.state, view.began) == ("scheduled", at.isoformat())
    kept.reopen()
    assert asyncio.run(kept.engine.resume("run-1")).code == "waiting"
    assert kept.world.called == []
    kept.ahead = dt.timedelta(hours=2)

    until(kept, "done")
    assert kept.world.called == ["look"]


def test_a_scheduled_run_that_is_due_starts_by_a_worker(kept: Kept) -> None:
    scheduled(kept, dt.timedelta(seconds=3))
    kept.reopen()
    with worker_of(kept.state, kept.place):
        until(kept, "done")


def test_a_scheduled_run_is_kept_once_and_can_be_cancelled(kept: Kept) -> None:
    at = scheduled(kept, dt.timedelta(hours=2))
    scheduled(kept, dt.timedelta(hours=3))
    (view,) = kept.engine.store.views()
    assert view.began == at.isoformat()

    assert asyncio.run(kept.engine.cancel("run-1")).code == "cancelled"
    view = kept.engine.store.view("run-1")
    assert view.state == "cancelled"
    assert view.result is not None
    assert view.result.duration_ms == 0
    assert kept.world.called == []


def test_the_last_tick_of_a_schedule_is_kept_for_all_processes(kept: Kept) -> None:
    seven = dt.datetime(2026, 3, 2, 7, tzinfo=dt.UTC)
    store, daily = kept.engine.store, "0 7 * * *"
    assert store.last_tick("trial", daily) is None
    store.keep_tick("trial", daily, seven)
    store.keep_tick("trial", daily, seven - dt.timedelta(days=1))
    kept.reopen()

    assert kept.engine.store.last_tick("trial", daily) == seven
    assert kept.engine.store.last_tick("trial", "every 900s") is None
    kept.engine.store.keep_tick("trial", "every 900s", seven - dt.timedelta(hours=1))
    assert kept.engine.store.last_tick("trial", daily) is None
