"""Compute the next time of a reminder."""

from collections.abc import Iterable
from datetime import datetime, time, timedelta

from toolmd_alara.zone import Zone

WEEK = range(1, 8)
"""ISO weekdays, Monday 1 to Sunday 7."""
SUNDAY = 7
NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
"""The weekdays in the order of ISO."""
ANNOUNCED = time(9)
"""When a clinical date is announced, the day before and on the day."""


def from_sunday(days: Iterable[int]) -> list[int]:
    """Return ISO weekdays for days that count from Sunday 0 to Saturday 6 (seed 000)."""
    return sorted({day or SUNDAY for day in days})


def named(days: Iterable[int]) -> list[str]:
    """Return the names of ISO weekdays."""
    return [NAMES[day - 1] for day in days]


def next_due(at: time, days: Iterable[int], now: datetime, zone: Zone) -> datetime:
    """Return the next time after `now` in this zone; `days` are ISO weekdays.

    A reminder at nine stays at nine across a change to summer time.
    """
    wanted = set(days)
    today = zone.local(now).date()
    # The eighth day is today's weekday again, for a reminder that is over today.
    for ahead in range(8):
        day = today + timedelta(days=ahead)
        moment = zone.moment(datetime.combine(day, at))
        if day.isoweekday() in wanted and moment > now:
            return moment
    raise ValueError("a reminder needs at least one weekday of 1 to 7")


def next_before(falls_on: str, now: datetime, zone: Zone) -> datetime | None:
    """Return when a clinical date is announced next, or None.

    Announcements come at nine local time, on the day before and on the day.
    """
    day = zone.read(falls_on).date()
    for date in (day - timedelta(days=1), day):
        if (announced := zone.moment(datetime.combine(date, ANNOUNCED))) > now:
            return announced
    return None
