"""An unreachable database is logged once and once more when it is back, and fails no run."""

import logging
import shutil
import threading

import pytest
from kept import Kept
from run_world import YES

from toolmd._skills.engine import Engine
from toolmd._skills.interpreter import interpret
from toolmd._store import STORE_FILE
from toolmd._store.database import SqliteDatabase
from toolmd._store.liveness import Locks
from toolmd.errors import UnreachableError

GONE = UnreachableError("the store /state/store.sqlite3 can't be reached: disk I/O error")


class Rounds(Locks):
    """The locks of a process whose looks for work end as configured, in order."""

    def __init__(self, folder, *ends):
        super().__init__(folder)
        self.ends, self.done, self.started = list(ends), threading.Event(), False

    def live(self):
        if not self.started:
            self.started = True
        elif not self.ends:
            self.done.set()
        elif (end := self.ends.pop(0)) is not None:
            raise end


class Watched(SqliteDatabase):
    """A store whose processes see each other by such locks."""

    def workers(self):
        return self.rounds


def told(caplog, tmp_path, monkeypatch, *ends):
    """Return the log of an engine for these looks."""
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr("toolmd._skills.engine.ROUND_S", 0.01)
    database = Watched(tmp_path / STORE_FILE)
    database.rounds = Rounds(tmp_path / "workers", *ends)
    engine = Engine(None, database)
    engine.start()
    assert database.rounds.done.wait(60)
    engine.close()
    database.close()
    return [record.getMessage() for record in caplog.records]


def test_an_unreachable_database_is_logged_once_and_once_when_it_is_back(
    caplog, tmp_path, monkeypatch
):
    said = told(caplog, tmp_path, monkeypatch, None, GONE, GONE, GONE, None, None)
    assert said == [f"runs can't be reclaimed now: {GONE}", "runs are reclaimed again"]


def test_two_outages_are_logged_twice(caplog, tmp_path, monkeypatch):
    said = told(caplog, tmp_path, monkeypatch, GONE, None, GONE, GONE)
    assert len(said) == 4
    assert said[:2] == said[2:]


def test_another_error_meanwhile_is_logged_with_its_traceback(caplog, tmp_path, monkeypatch):
    said = told(caplog, tmp_path, monkeypatch, GONE, GONE, KeyError("odd"), KeyError("odd"), GONE)
    assert len(said) == 4
    assert [bool(record.exc_info) for record in caplog.records] == [False, True, False, False]


def test_a_run_that_is_resumed_while_its_store_is_away_does_not_fail(tmp_path, empty_file):
    shutil.copy(empty_file, tmp_path)
    kept, file = Kept(tmp_path), tmp_path / STORE_FILE
    kept.run(kept.order())
    kept.engine.close()

    async def play_without_store(order, journal):
        file.rename(tmp_path / "away")
        try:
            return await interpret(order, journal, kept.world)
        finally:
            (tmp_path / "away").rename(file)

    kept.engine = Engine(play_without_store, kept.database, store_wait_s=0.1)
    with pytest.raises(UnreachableError):
        kept.answer(YES)
    assert kept.engine.store.view("run-1").result is None
    kept.close()
    assert kept.world.called == ["look"]
