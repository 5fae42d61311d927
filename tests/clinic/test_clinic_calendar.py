"""The appointment book: what is free, when."""

from datetime import date, datetime, timedelta

import pytest
from tools_md._clinic.clock import StoppedClock, spoken

from toolmd.errors import ToolError

WEDNESDAY = date(2026, 3, 4)
THURSDAY = date(2026, 3, 5)
FRIDAY = date(2026, 3, 6)
SUNDAY = date(2026, 3, 8)


def times(openings):
    return [opening["datetime"][11:16] for opening in openings]


@pytest.mark.parametrize(
    ("time_range", "expected"),
    [
        ("morning", ["08:00", "08:30", "09:00", "09:30", "10:00", "10:30", "11:00", "11:30"]),
        ("afternoon", ["13:00", "13:30", "14:00", "14:30", "15:00", "15:30", "16:00", "16:30"]),
        ("evening", ["17:00", "17:30", "18:00", "18:30"]),
    ],
)
def test_a_day_is_offered_in_half_hours_within_the_opening_hours(clinic, time_range, expected):
    assert times(clinic.calendar.openings(WEDNESDAY, time_range, 1)) == expected


def test_an_opening_says_its_day_its_time_and_its_chairs(clinic):
    assert clinic.calendar.openings(WEDNESDAY, "afternoon", 4)[0] == {
        "date": "2026-03-04",
        "time": "1:00 PM",
        "datetime": "2026-03-04T13:00:00",
        "chairs_free": 4,
    }


def test_a_sunday_a_closed_day_and_a_full_evening_have_no_openings(clinic):
    assert clinic.calendar.openings(SUNDAY, "morning", 1) == []
    assert clinic.calendar.openings(FRIDAY, "morning", 1) == []
    assert clinic.calendar.openings(THURSDAY, "evening", 1) == []
    assert clinic.calendar.openings(THURSDAY, "afternoon", 4) != []


def test_a_second_lookup_of_a_day_does_not_wait_for_a_writer(clinic):
    first = clinic.calendar.openings(WEDNESDAY, "morning", 1)
    with clinic.database.writing():
        assert clinic.calendar.openings(WEDNESDAY, "morning", 1) == first


def test_a_time_is_offered_only_where_every_child_has_a_chair(clinic):
    at = datetime.fromisoformat("2026-03-04T09:00")
    clinic.bookings.book("P-1001", ["Mia", "Leo"], at, "exam")
    for children, offered in ((1, True), (2, True), (3, False), (4, False)):
        found = times(clinic.calendar.openings(WEDNESDAY, "morning", children))
        assert ("09:00" in found) is offered


def test_today_begins_now(clinic, clock):
    clock.at = datetime.fromisoformat("2026-03-02T10:10")
    assert times(clinic.calendar.openings(clock.today(), "morning", 1))[0] == "10:30"


def test_a_past_day_is_an_error(clinic):
    with pytest.raises(ToolError, match="today is 2026-03-02") as caught:
        clinic.calendar.openings(date(2026, 3, 1), "morning", 1)
    assert caught.value.code == "date_in_past"


def test_a_day_beyond_the_book_is_an_error(clinic):
    last = date(2026, 3, 2) + timedelta(days=365)
    clinic.calendar.openings(last, "morning", 1)
    with pytest.raises(ToolError, match=f"goes to {last}") as caught:
        clinic.calendar.openings(last + timedelta(days=1), "morning", 1)
    assert caught.value.code == "date_too_far"


def test_the_hours_name_seven_days_and_the_closed_days_to_come(clinic, clock):
    hours = clinic.calendar.hours()
    assert [day["day"] for day in hours["week"] if not day["open"]] == ["Sunday"]
    assert hours["week"][5]["hours"] == ["9:00 AM to 1:00 PM"]
    assert hours["week"][0]["hours"] == ["8:00 AM to 12:00 PM", "1:00 PM to 7:00 PM"]
    assert hours["closed_days"] == [{"date": "2026-03-06", "reason": "Staff training"}]
    clock.at = datetime.fromisoformat("2026-03-07T00:00")
    assert clinic.calendar.hours()["closed_days"] == []


def test_a_moment_is_spoken_as_people_do():
    assert spoken(datetime.fromisoformat("2026-03-02T00:05")) == "Monday, March 2 at 12:05 AM"
    assert StoppedClock(datetime.fromisoformat("2026-03-02T12:00")).today() == date(2026, 3, 2)
