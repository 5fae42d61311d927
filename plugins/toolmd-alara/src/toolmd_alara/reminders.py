"""Compute the next time of a reminder."""

from collections.abc import Iterable
from datetime import datetime, time, timedelta

WEEK = range(1, 8)
"""ISO weekdays, Monday 1 to Sunday 7."""
SUNDAY = 7
ANNOUNCED = time(9)
"""When a clinical date is announced, the day before and on the day."""


def from_sunday(days: Iterable[int]) -> list[int]:
    """Return ISO weekdays for days that count from Sunday 0 to Saturday 6 (seed 000)."""
    return sorted({day or SUNDAY for day in days})


def next_due(at: time, days: Iterable[int], now: datetime) -> datetime:
    """Return the next local time, without a zone, after `now`; `days` are ISO weekdays.

    A reminder at nine stays at nine across a change to summer time.
    """
    wanted = set(days)
    wall = now.replace(tzinfo=None)
    # The eighth day is today's weekday again, for a reminder that is over today.
    for ahead in range(8):
        moment = datetime.combine(wall.date() + timedelta(days=ahead), at)
        if moment.isoweekday() in wanted and moment > wall:
            return moment
    raise ValueError("a reminder needs at least one weekday of 1 to 7")


def next_before(falls_on: str, now: datetime) -> datetime | None:
    """Return when a clinical date (a day, or a time in UTC) is announced next, or None.

    Announcements come at nine local time, on the day before and on the day.
    """
    moment = datetime.fromisoformat(falls_on)
    day = (moment.astimezone(now.tzinfo) if moment.tzinfo else moment).date()
    wall = now.replace(tzinfo=None)
    for date in (day - timedelta(days=1), day):
        if (announced := datetime.combine(date, ANNOUNCED)) > wall:
            return announced
    return None
