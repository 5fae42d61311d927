"""The health log itself: whose it is, what is permanent, when a reminder is due."""

import sqlite3
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd import ConfigError, ToolError
from toolmd_alara.days import in_words, today
from toolmd_alara.log import HealthLog, Zone
from toolmd_alara.reminders import Agenda, from_sunday, next_due

COLUMNS = "person, key, day, at, kind, title, occurred_at"
REST = "'d', 'a', 'visit', 't', 'o'"
CARE = {"kind": "visit", "title": "Checkup", "occurred_at": "2026-03-02T06:00:00Z"}


def remind(person, key="k", **changes):
    values = {"title": "Pill", "at": time(9), "days": range(1, 8), "kind": None}
    return Agenda(person).add(key, **{**values, "description": None, **changes})


def test_a_care_log_cannot_be_changed_deleted_or_replaced(log):
    log.of("ana").record_care("k", CARE)
    with sqlite3.connect(log.database.path) as other:
        for attack in (
            "UPDATE care_log SET title = 'x'",
            "UPDATE OR REPLACE care_log SET id = 7",
            "DELETE FROM care_log",
            "REPLACE INTO care_log SELECT * FROM care_log",
            f"INSERT OR REPLACE INTO care_log (id, {COLUMNS}) VALUES (1, 'x', 'y', {REST})",
            f"INSERT OR REPLACE INTO care_log ({COLUMNS}) VALUES ('ana', 'k', {REST})",
        ):
            with pytest.raises(sqlite3.DatabaseError, match="permanent"):
                other.execute(attack)
    other.close()
    (kept,) = log.of("ana").read("care_log", "1 = 1")
    assert kept["title"] == "Checkup"


def test_a_care_log_of_a_future_event_is_an_error(log):
    with pytest.raises(ToolError, match="is in the future") as caught:
        log.of("ana").record_care("k", {**CARE, "occurred_at": "2026-03-04"})
    assert caught.value.code == "not_yet_happened"
    with pytest.raises(ToolError, match="is in the future"):
        log.of("ana").record_care("k", {**CARE, "occurred_at": "2026-03-03T01:00:00+14:00"})
    log.of("ana").record_care("k", {**CARE, "occurred_at": "2026-03-02T20:59:00+14:00"})


def test_one_key_writes_one_entry(log):
    first = log.of("ana").write("hydration", "k", {"amount_ml": 250})
    assert log.of("ana").write("hydration", "k", {"amount_ml": 250}) == first
    log.of("ana").write("hydration", "k2", {"amount_ml": 250})
    log.of("ben").write("hydration", "k", {"amount_ml": 250})
    assert today(log.of("ana"))["hydration"] == {"total_ml": 500, "drinks": 2}


def test_no_user_sees_anothers_entries(log):
    for name, amount in (("ana", 1), ("ben", 10), (None, 100)):
        person = log.of(name)
        person.write("hydration", "k", {"amount_ml": amount})
        person.write("check_in", "k", {"mood": str(name)})
        person.record_care("k", {**CARE, "title": str(name)})
        remind(person, title=str(name))
    for name, amount in (("ana", 1), ("ben", 10), (None, 100)):
        person = log.of(name)
        summary = today(person)
        assert summary["hydration"]["total_ml"] == amount
        assert [check["mood"] for check in summary["check_ins"]] == [str(name)]
        assert [entry["title"] for entry in summary["entries"]] == [str(name)]
        assert [reminder["title"] for reminder in summary["reminders"]] == [str(name)]
        assert [care["title"] for care in person.read("care_log", "1 = 1")] == [str(name)]
    assert today(log.of("an"))["hydration"]["drinks"] == 0


def test_a_summary_is_computed_from_todays_entries_only(log, clock):
    ana = log.of("ana")
    ana.write("hydration", "k0", {"amount_ml": 999})
    clock.advance(timedelta(days=1).total_seconds())
    assert today(ana)["hydration"]["total_ml"] == 0
    ana.write("blood_pressure", "k1", {"systolic": 120, "diastolic": 80, "pulse": 70})
    ana.write("blood_pressure", "k2", {"systolic": 131, "diastolic": 85})
    ana.write("medication", "k", {"name": "aspirin", "dose": "1 tablet"})
    ana.write("check_in", "k", {"mood": "great"})
    ana.write("hydration", "k3", {"amount_ml": 250})
    ana.write("hydration", "k4", {"amount_ml": 500})
    ana.write("doctor_visit", "k", {"kind": "emergency", "visited_on": "2026-03-03"})
    summary = today(ana)
    assert summary["date"] == "2026-03-03"
    assert summary["blood_pressure"]["average"] == {"systolic": 125.5, "diastolic": 82.5}
    assert summary["blood_pressure"]["latest"]["systolic"] == 131
    assert summary["blood_pressure"]["readings"][0]["pulse"] == 70
    assert summary["medications"][0]["dose"] == "1 tablet"
    assert summary["hydration"] == {"total_ml": 750, "drinks": 2}
    assert in_words(summary) == (
        "Today, 2026-03-03: 1 check-in, 1 medication, blood pressure 131/85, 750 ml drunk, 1 entry"
    )


def test_a_clinical_date_is_announced_the_day_before_and_on_the_day(log, clock):
    ana = log.of("ana")
    values = {"description": "Blood test", "falls_on": "2026-03-04T23:30:00Z", "remind": 1}
    ana.write("clinical_date", "k", values)
    ana.write("clinical_date", "k2", {**values, "remind": 0})
    # Half past eleven at night in UTC is the next day here, an hour ahead.
    (due,) = Agenda(ana).coming()
    assert due["next_due"] == "2026-03-04T09:00:00+01:00"
    clock.advance(timedelta(days=2, hours=2).total_seconds())
    assert Agenda(ana).coming()[0]["next_due"] == "2026-03-05T09:00:00+01:00"
    clock.advance(timedelta(days=1).total_seconds())
    assert Agenda(ana).coming() == []


ZONES = [Zone(ZoneInfo(name)) for name in ("Europe/Berlin", "America/New_York", "UTC")]


@given(
    st.datetimes(*map(datetime.fromisoformat, ("2000-01-01", "2100-01-01"))),
    st.times().map(lambda at: at.replace(second=0, microsecond=0)),
    st.sets(st.integers(1, 7), min_size=1),
    st.sampled_from(ZONES),
)
def test_a_reminder_is_due_on_its_day_and_time_within_a_week(moment, at, days, zone):
    now = moment.replace(tzinfo=UTC)
    due = next_due(at, days, now, zone)
    assert now < due <= now + timedelta(days=7, hours=1)
    assert due.isoweekday() in days
    wall = due.replace(tzinfo=None, fold=0).time()
    assert wall == at or (due - timedelta(hours=1)).utcoffset() != due.utcoffset()
    for earlier in range(1, 7):
        day = due.date() - timedelta(days=earlier)
        before = zone.moment(datetime.combine(day, at))
        assert before <= now or day.isoweekday() not in days


def test_days_that_count_from_sunday_become_iso_weekdays():
    assert from_sunday([0, 1, 6]) == [1, 6, 7]
    assert from_sunday(range(7)) == list(range(1, 8))


def test_a_file_of_a_later_version_is_an_error_and_left_alone(tmp_path, clock):
    path = tmp_path / "new.sqlite3"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(ConfigError, match="version 99"):
        HealthLog(path, clock)
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    db.close()


def test_a_failed_write_leaves_nothing(log):
    with pytest.raises(sqlite3.IntegrityError):
        log.of("ana").write("blood_pressure", "k", {"systolic": 80, "diastolic": 120})
    assert today(log.of("ana"))["blood_pressure"] == {"readings": []}
