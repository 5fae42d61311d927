"""A person's days, in the time zone that the host names for each call."""

from datetime import UTC, datetime

import pytest

from toolmd.testing import FakeClock, memory_workspace
from toolmd_alara.plugin import Alara

BERLIN = {"timezone": "Europe/Berlin"}
NEW_YORK = {"timezone": "America/New_York"}


@pytest.fixture
def at():
    """Open the log at a time in UTC; return a caller."""
    opened = []

    def go(moment):
        clock = FakeClock(datetime.fromisoformat(moment).replace(tzinfo=UTC))
        workspace = memory_workspace({"none.txt": ""}, plugins={"alara": Alara(clock)})
        opened.append(workspace)

        def call(tool, arguments, context, **options):
            said = {"confidence": 0.95, "user": "ana", "context": context, **options}
            result = workspace.call_sync(tool, arguments, **said)
            if result.confirmation is not None:
                result = workspace.confirmations.approve_sync(result.confirmation.id, user="ana")
            return result

        return call, clock

    yield go
    for workspace in opened:
        workspace.close()


def remind(call, context, time="02:30"):
    said = {"title": "Pill", "time": time}
    return call("create_reminder", said, context).data["next_due"]


@pytest.mark.parametrize(
    ("now", "context", "time", "due"),
    [
        ("2026-03-02T07:00", BERLIN, "09:00", "2026-03-02T09:00:00+01:00"),
        ("2026-07-02T07:00", BERLIN, "09:30", "2026-07-02T09:30:00+02:00"),
        ("2026-03-02T07:00", NEW_YORK, "09:00", "2026-03-02T09:00:00-05:00"),
        ("2026-03-02T07:00", {}, "09:00", datetime(2026, 3, 2, 9).astimezone().isoformat()),
        # The night without 02:30: an hour later by the clock, once.
        ("2026-03-29T00:00", BERLIN, "02:30", "2026-03-29T03:30:00+02:00"),
        ("2026-03-29T01:30", BERLIN, "02:30", "2026-03-30T02:30:00+02:00"),
        # The night with two of them: the first, and not again at the second.
        ("2026-10-25T00:00", BERLIN, "02:30", "2026-10-25T02:30:00+02:00"),
        ("2026-10-25T00:31", BERLIN, "02:30", "2026-10-26T02:30:00+01:00"),
    ],
)
def test_a_reminder_is_due_in_the_users_own_zone(at, now, context, time, due):
    call, _ = at(now)
    assert remind(call, context, time) == due


def test_the_summary_is_of_the_users_own_day(at):
    call, _ = at("2027-01-01T03:00")
    call("log_hydration", {"amount": 250}, NEW_YORK)
    here, there = (call("get_today_summary", {}, zone).data for zone in (NEW_YORK, BERLIN))
    assert (here["date"], here["hydration"]["total_ml"]) == ("2026-12-31", 250)
    assert (there["date"], there["hydration"]["total_ml"]) == ("2027-01-01", 0)


def test_a_clinical_date_stands_on_the_users_day(at):
    call, _ = at("2026-12-31T20:00")
    late = {"clinical_date": "2027-01-01T02:00:00Z", "description": "Scan"}
    call("add_clinical_date", late, NEW_YORK, message="I have a scan tonight.")
    (entry,) = call("get_today_summary", {}, NEW_YORK).data["entries"]
    assert entry["date"] == "2026-12-31T21:00:00-05:00"
    assert call("get_today_summary", {}, BERLIN).data["entries"] == []


def test_a_visit_of_yesterday_that_is_logged_today_is_not_todays(at):
    call, _ = at("2026-03-02T12:00")
    visit = {"visit_type": "appointment", "date": "2026-03-01"}
    assert call("log_doctor_visit", visit, BERLIN, message="I saw my doctor yesterday.").success
    assert call("get_today_summary", {}, BERLIN).data["entries"] == []
    (entry,) = call("read_health_log", {"first_day": "2026-03-01"}, BERLIN).data
    assert (entry["kind"], entry["title"], entry["at"]) == (
        "doctor_visit", "appointment", "2026-03-01",
    )  # fmt: skip


def test_a_visit_in_the_future_is_not_logged(at):
    call, _ = at("2026-03-02T23:30")
    said = {"message": "I saw my doctor."}
    tomorrow = {"visit_type": "appointment", "date": "2026-03-03"}
    assert call("log_doctor_visit", tomorrow, BERLIN, **said).success, "it is tomorrow in Berlin"
    result = call("log_doctor_visit", tomorrow, NEW_YORK, **said)
    assert result.error.code == "not_yet_happened"
    assert "2026-03-02 18:30-0500" in result.error.message
    result = call("log_doctor_visit", {**tomorrow, "date": "2031-01-01"}, BERLIN, **said)
    assert result.error.code == "not_yet_happened"


def test_an_unknown_zone_is_an_error_and_nothing_is_written(at):
    call, _ = at("2026-03-02T12:00")
    for name in ("Mars/Olympus", "../etc/passwd"):
        result = call("log_hydration", {"amount": 250}, {"timezone": name})
        assert result.error.code == "unknown_timezone"
    assert call("get_today_summary", {}, BERLIN).data["hydration"]["drinks"] == 0


def test_the_log_is_read_by_days_in_the_order_of_time(at):
    call, clock = at("2026-03-01T20:00")
    call("log_blood_pressure", {"systolic": 185, "diastolic": 125, "pulse": 72}, BERLIN)
    clock.advance(86400)
    call("log_medication", {"medication_name": "aspirin"}, BERLIN, message="I took my aspirin.")
    care = {"log_type": "visit", "title": "Hospital visit", "occurred_at": "2026-03-01T09:00:00Z"}
    call("add_care_log", care, BERLIN, message="I went to the hospital yesterday.")
    both = {"first_day": "2026-03-01", "last_day": "2026-03-02"}
    shown = [(one["date"], one["title"]) for one in call("read_health_log", both, BERLIN).data]
    assert shown == [
        ("2026-03-01", "Hospital visit"),
        ("2026-03-01", "185/125 mmHg, pulse 72"),
        ("2026-03-02", "aspirin"),
    ]
    only = {**both, "kinds": ["blood_pressure"]}
    (reading,) = call("read_health_log", only, BERLIN).data
    assert "dangerous range" in reading["warning"]
    assert call("read_health_log", both, BERLIN, user="ben").data == []


@pytest.mark.parametrize(
    ("reading", "words"),
    [
        ({"systolic": 185, "diastolic": 125}, "very high"),
        ({"systolic": 180, "diastolic": 80}, "very high"),
        ({"systolic": 150, "diastolic": 120}, "very high"),
        ({"systolic": 90, "diastolic": 60}, "very low"),
        ({"systolic": 120, "diastolic": 80, "pulse": 131}, "very fast"),
        ({"systolic": 120, "diastolic": 80, "pulse": 40}, "very slow"),
        ({"systolic": 179, "diastolic": 119, "pulse": 130}, ""),
        ({"systolic": 91, "diastolic": 60, "pulse": 41}, ""),
    ],
)
def test_a_reading_in_a_dangerous_range_is_logged_and_says_so(at, reading, words):
    call, _ = at("2026-03-02T12:00")
    result = call("log_blood_pressure", reading, BERLIN)
    assert result.success
    assert result.notes == ()
    if not words:
        assert "warning" not in result.data
        return
    assert words in result.message
    assert "not a diagnosis" in result.data["warning"]
    assert "emergency number" in result.message
    assert "measure again" in " ".join(result.data["proposals"])
