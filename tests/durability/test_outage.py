"""An unreachable database is logged once and once more when it is back, and fails no run."""

import logging
import shutil
import threading

import pytest
from kept import Kept
from run_world import YES

from toolmd._skills.engine import utc_now
from toolmd._skills.engine.durable.engine import DurableEngine
from toolmd._skills.engine.durable.reclaimer import Reclaimer
from toolmd._skills.engine.durable.store import Store
from toolmd._skills.engine.durable.workflows import Workflows
from toolmd._skills.interpreter import Interpreter
from toolmd._store import STORE_FILE
from toolmd._store.database import Pace, address, open_database, outspoken
from toolmd.errors import UnreachableError

GONE = UnreachableError("the store /state/store.sqlite3 can't be reached: disk I/O error")


class Rounds:
    """The locks of a process whose rounds end as configured, in order."""

    own = "own"

    def __init__(self, *ends):
        self.ends, self.done = list(ends), threading.Event()

    def live(self):
        if not self.ends:
            self.done.set()
            return
        end = self.ends.pop(0)
        if end is not None:
            raise end

    def dead(self):
        return []


def told(caplog, tmp_path, *ends):
    """Return the log of a reclaimer for these rounds."""
    caplog.set_level(logging.WARNING)
    rounds = Rounds(*ends)
    database = outspoken(open_database(address("sqlite", tmp_path), Pace()))
    workflows = Workflows(database)
    store = Store(database, database, workflows)
    store.create()
    reclaimer = Reclaimer(None, store, workflows, rounds, utc_now, every_s=0.0)
    reclaimer.start()
    assert rounds.done.wait(60)
    reclaimer.end()
    database.dispose()
    return [record.getMessage() for record in caplog.records]


def test_an_unreachable_database_is_logged_once_and_once_when_it_is_back(caplog, tmp_path):
    said = told(caplog, tmp_path, None, GONE, GONE, GONE, None, None)
    assert said == [f"runs can't be reclaimed now: {GONE}", "runs are reclaimed again"]


def test_two_outages_are_logged_twice(caplog, tmp_path):
    said = told(caplog, tmp_path, GONE, None, GONE, GONE)
    assert len(said) == 4
    assert said[:2] == said[2:]


def test_another_error_meanwhile_is_logged_with_its_traceback(caplog, tmp_path):
    said = told(caplog, tmp_path, GONE, GONE, KeyError("odd"), KeyError("odd"), GONE)
    assert len(said) == 4
    assert [bool(record.exc_info) for record in caplog.records] == [False, True, False, False]


def test_a_run_that_is_resumed_while_its_store_is_away_does_not_fail(tmp_path, empty_file):
    shutil.copy(empty_file, tmp_path)
    kept, file = Kept(tmp_path), tmp_path / STORE_FILE
    kept.run(kept.order())
    kept.engine.close()
    # As an attempt leaves it that ended before its next effect.
    kept.rows("UPDATE toolmd_run SET attempts = 1")

    async def play_without_store(order, journal):
        file.rename(tmp_path / "away")
        try:
            return await Interpreter(kept.world).execute(order, journal)
        finally:
            (tmp_path / "away").rename(file)

    kept.engine = DurableEngine(
        play_without_store, "sqlite", tmp_path, clock=utc_now, store_wait_s=0.1
    )
    with pytest.raises(UnreachableError):
        kept.answer(YES)
    assert kept.engine.view("run-1").result is None
    kept.engine.close()
    assert kept.world.called == ["look"]
