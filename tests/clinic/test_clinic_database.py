"""The file under the clinic: migrations, the seed, races between threads and processes."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime

import pytest
from tools_md._clinic.seed import seed
from tools_md._clinic.store import MIGRATIONS, Clinic

from toolmd.errors import ConfigError, ToolError

MONDAY = date(2026, 3, 2)
NINE = datetime.fromisoformat("2026-03-04T09:00")

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


@pytest.mark.parametrize("days", range(0, 800, 97))
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
