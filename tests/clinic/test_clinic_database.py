"""The file under the clinic: migrations, the seed, races between threads and processes."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from pathlib import Path

import pytest
from tools_md._clinic.schema import MIGRATIONS
from tools_md._clinic.seed import seed
from tools_md._clinic.store import Clinic

from toolmd.errors import ConfigError, ToolError

ROOT = Path(__file__).parents[2]
MONDAY = date(2026, 3, 2)
NINE = datetime.fromisoformat("2026-03-04T09:00")

RACER = """
import sys
from datetime import datetime
from pathlib import Path
from toolmd.errors import ToolError
from tools_md._clinic.clock import StoppedClock
from tools_md._clinic.store import Clinic

clinic = Clinic(Path(sys.argv[1]), StoppedClock(datetime.fromisoformat("2026-03-02T08:00")))
sys.stdin.readline()
at = datetime.fromisoformat("2026-03-04T09:00")
for family, child in (pair.split(":") for pair in sys.argv[2].split(",")):
    try:
        print(clinic.bookings.book(family, [child], at, "exam")["booking_id"])
    except ToolError as error:
        print(error.code)
"""

EVERYBODY = [
    ("P-1001", "Mia"),
    ("P-1001", "Leo"),
    ("P-1002", "Ada"),
    ("P-1002", "Chidi"),
    ("P-1002", "Zora"),
    ("P-1003", "Nils"),
    ("P-1004", "Anh"),
    ("P-1004", "Bao"),
]


def rows(clinic, query):
    with clinic.database.reading() as db:
        return [tuple(row) for row in db.execute(query)]


def test_a_new_file_gets_every_migration_write_ahead_log_and_foreign_keys(empty_clinic):
    assert rows(empty_clinic, "PRAGMA user_version") == [(len(MIGRATIONS),)]
    assert rows(empty_clinic, "PRAGMA journal_mode") == [("wal",)]
    assert rows(empty_clinic, "PRAGMA foreign_keys") == [(1,)]
    assert rows(empty_clinic, "PRAGMA foreign_key_check") == []
    assert len(empty_clinic.services()) == 4


def test_an_older_file_gets_only_what_it_lacks(empty_clinic, clock):
    with empty_clinic.database.writing() as db:
        db.execute("DELETE FROM preparation")
        db.execute("DELETE FROM service")
        db.execute("DELETE FROM opening_hours")
        db.execute("PRAGMA user_version = 1")
    again = Clinic(empty_clinic.database.path, clock)
    assert [service["price_usd"] for service in again.services()] == [65, 85, 130, 110]
    again.close()


def test_a_file_of_a_newer_version_is_left_alone(empty_clinic, clock):
    with empty_clinic.database.writing() as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(ConfigError, match="is of version 99"):
        Clinic(empty_clinic.database.path, clock)
    assert rows(empty_clinic, "PRAGMA user_version") == [(99,)]


def test_a_transaction_that_fails_leaves_nothing(clinic):
    before = rows(clinic, "SELECT count(*) FROM appointment")
    with pytest.raises(ToolError):
        clinic.bookings.book("P-1001", ["Mia"], NINE.replace(minute=1), "exam")
    with pytest.raises(sqlite3.IntegrityError):
        clinic.bookings.book("P-1001", ["Mia"], NINE, "whitening")
    assert rows(clinic, "SELECT count(*) FROM appointment") == before


def test_seeding_twice_changes_nothing(empty_clinic):
    first = seed(empty_clinic, MONDAY)
    dump = "SELECT * FROM appointment", "SELECT * FROM seat", "SELECT * FROM child"
    before = [rows(empty_clinic, query) for query in dump]
    second = seed(empty_clinic, MONDAY)
    assert (first.families, first.visits) == (6, 11)
    assert (second.families, second.visits) == (0, 0)
    assert (second.full_evening, second.closed_day) == (first.full_evening, first.closed_day)
    assert [rows(empty_clinic, query) for query in dump] == before


def test_seeding_weeks_later_adds_a_full_evening_and_a_closed_day_to_come(clinic, clock):
    clock.at = datetime.fromisoformat("2026-04-01T08:00")
    done = seed(clinic, date(2026, 4, 1))
    assert (done.families, done.visits) == (0, 6)
    assert clinic.calendar.openings(done.full_evening, "evening", 1) == []
    assert clinic.calendar.openings(done.closed_day, "morning", 1) == []


def test_seeding_gives_way_to_what_is_booked(empty_clinic):
    seed(empty_clinic, MONDAY)
    with empty_clinic.database.writing() as db:
        db.execute("DELETE FROM seat WHERE starts_at = '2026-03-05T17:00:00'")
        db.execute("UPDATE appointment SET idempotency_key = NULL WHERE patient_id = 'P-1004'")
    at = datetime.fromisoformat("2026-03-05T17:00")
    empty_clinic.bookings.book("P-1003", ["Nils"], at, "exam")
    assert seed(empty_clinic, MONDAY).visits == 0


@pytest.mark.parametrize("days", range(0, 800, 37))
def test_seeding_works_on_any_day(empty_clinic, clock, days):
    today = date.fromordinal(MONDAY.toordinal() + days)
    clock.at = datetime.combine(today, datetime.min.time())
    done = seed(empty_clinic, today)
    assert done.visits == 11
    assert empty_clinic.calendar.openings(done.full_evening, "evening", 1) == []
    assert empty_clinic.calendar.openings(done.closed_day, "morning", 1) == []


def test_racing_threads_take_each_chair_once(clinic):
    def book(family_and_child):
        family, child = family_and_child
        try:
            return clinic.bookings.book(family, [child], NINE, "exam")["booking_id"]
        except ToolError as error:
            return error.code

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(book, EVERYBODY * 8))
    assert len([a for a in answers if a.startswith("A-")]) == 4
    assert {a for a in answers if not a.startswith("A-")} <= {"slot_taken", "child_already_booked"}
    taken = rows(clinic, f"SELECT chair, child_id FROM seat WHERE starts_at = '{NINE.isoformat()}'")
    assert len({chair for chair, _ in taken}) == len({child for _, child in taken}) == 4


def test_racing_threads_with_one_key_make_one_booking(clinic):
    def book(_):
        return clinic.bookings.book("P-1001", ["Mia", "Leo"], NINE, "exam", key="run-7/4")

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(book, range(64)))
    assert len({answer["booking_id"] for answer in answers}) == 1


def test_racing_processes_take_each_chair_once(clinic):
    orders = [EVERYBODY[n:] + EVERYBODY[:n] for n in (0, 2, 4, 6)]
    racers = [
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                RACER,
                str(clinic.database.path),
                ",".join(f"{family}:{child}" for family, child in order),
            ],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for order in orders
    ]
    answers = []
    for racer in racers:
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        said, _ = racer.communicate(timeout=60)
        answers += said.split()
    assert len(answers) == len(racers) * len(EVERYBODY)
    assert len([a for a in answers if a.startswith("A-")]) == 4


def test_many_may_open_a_new_file_at_once(tmp_path, clock):
    path = tmp_path / "new" / "clinic.sqlite3"

    def open_it(_):
        clinic = Clinic(path, clock)
        services = len(clinic.services())
        clinic.close()
        return services

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(open_it, range(32))) == {4}
