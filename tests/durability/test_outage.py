"""An unreachable database is logged once, and once more when it is back."""

import logging
import threading

from toolmd._skills.engine.durable.reclaimer import Reclaimer
from toolmd.errors import UnreachableError

GONE = UnreachableError("the store /state/store.sqlite3 can't be reached: disk I/O error")


class Rounds:
    """A process whose rounds end as configured, in order."""

    def __init__(self, *ends):
        self.ends, self.done = list(ends), threading.Event()

    def wait_for(self, work):
        if not self.ends:
            self.done.set()
            return
        end = self.ends.pop(0)
        if end is not None:
            raise end


def told(caplog, *ends):
    """Return the log of a reclaimer for these rounds."""
    caplog.set_level(logging.INFO)
    rounds = Rounds(*ends)
    reclaimer = Reclaimer(rounds, None, None, None, every_s=0.0)
    reclaimer.start()
    assert rounds.done.wait(60)
    reclaimer.end()
    return [record.getMessage() for record in caplog.records]


def test_an_unreachable_database_is_logged_once_and_once_when_it_is_back(caplog):
    said = told(caplog, None, GONE, GONE, GONE, None, None)
    assert said == [f"runs can't be reclaimed now: {GONE}", "runs are reclaimed again"]


def test_two_outages_are_logged_twice(caplog):
    said = told(caplog, GONE, None, GONE, GONE)
    assert len(said) == 4
    assert said[:2] == said[2:]


def test_another_error_meanwhile_is_logged_with_its_traceback(caplog):
    said = told(caplog, GONE, GONE, KeyError("odd"), KeyError("odd"), GONE)
    assert len(said) == 4
    assert [bool(record.exc_info) for record in caplog.records] == [False, True, False, False]
