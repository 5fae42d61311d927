"""A Quota: how many calls, or how much of a parameter, for whom and in which time."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple
from zoneinfo import ZoneInfo

UNITS = ("minute", "hour", "day", "week", "month", "year")
"""The calendar windows, the shortest first."""
OF_A_ZONE = frozenset(UNITS[2:])
"""The windows whose begin depends on the time zone."""
EVER = "ever"
ROLLING = "rolling"
OWN_KEYS = ("user", "conversation", "project")
"""What may be counted for besides facts and expressions."""
FAR = 9e15
"""The end of what never ends, in seconds since the epoch."""


@dataclass(frozen=True)
class Quota:
    """`3 calls per user per day`, or `500 of amount per user in 24h`."""

    amount: int | float
    """The most calls, or the most of the sum."""
    per: tuple[str, ...]
    """For whom it counts: `user`, `conversation`, `project`, a fact, or an expression in backticks;
    several count together."""
    window: str
    """A unit of the calendar, `rolling`, or `ever`."""
    seconds: float | None = None
    """The length of a rolling window."""
    of: str = ""
    """The parameter that is summed; empty where calls are counted."""
    when: str = ""
    """The condition of the calls that count; empty for all."""

    def __str__(self) -> str:
        """Return the quota as a file has it."""
        what = f"of `{self.of}`" if self.of else "call" if self.amount == 1 else "calls"
        text = f"{self.amount} {what} per {' and '.join(self.per)} {self.time}"
        return f"{text} when `{self.when}`" if self.when else text

    @property
    def time(self) -> str:
        """The window as a file has it: `per day`, `in 24h`, `ever`."""
        if self.seconds is None:
            return EVER if self.window == EVER else f"per {self.window}"
        for unit, length in (("h", 3600), ("min", 60), ("s", 1)):
            if self.seconds % length == 0:
                return f"in {int(self.seconds // length)}{unit}"
        return f"in {self.seconds * 1000:g}ms"

    @property
    def subject(self) -> str:
        """What is counted: equal for two quotas that differ in the amount alone."""
        return str(Quota(2, self.per, self.window, self.seconds, self.of, self.when))


class Window(NamedTuple):
    """The window of a moment: what is counted together, and until when."""

    label: str
    begins: float
    ends: float
    """In seconds since the epoch."""


def window_of(quota: Quota, now: float, zone: ZoneInfo) -> Window:
    """Return the window in which a moment lies; a rolling one ends with each start that it has."""
    if quota.seconds is not None:
        return Window(ROLLING, now - quota.seconds, now + quota.seconds)
    if quota.window == EVER:
        return Window(EVER, 0.0, FAR)
    begins, ends = _STEPS[quota.window](dt.datetime.fromtimestamp(now, zone))
    return Window(f"{begins.timestamp():.0f}", begins.timestamp(), ends.timestamp())


_HOUR = 3600


def _of_clock(seconds: int) -> Callable[[dt.datetime], tuple[dt.datetime, dt.datetime]]:
    def step(now: dt.datetime) -> tuple[dt.datetime, dt.datetime]:
        # By the clock of the zone, whose offset may have half hours; the end is as far in UTC.
        local = now.replace(tzinfo=None)
        minute = 0 if seconds == _HOUR else local.minute
        past = local - local.replace(minute=minute, second=0, microsecond=0)
        begins = now.astimezone(dt.UTC) - past
        return begins, begins + dt.timedelta(seconds=seconds)

    return step


def _of_days(
    first: Callable[[dt.date], dt.date], after: Callable[[dt.date], dt.date]
) -> Callable[[dt.datetime], tuple[dt.datetime, dt.datetime]]:
    def step(now: dt.datetime) -> tuple[dt.datetime, dt.datetime]:
        day, midnight = first(now.date()), dt.time(tzinfo=now.tzinfo)
        return dt.datetime.combine(day, midnight), dt.datetime.combine(after(day), midnight)

    return step


def _next_month(day: dt.date) -> dt.date:
    return dt.date(day.year + day.month // 12, day.month % 12 + 1, 1)


_STEPS: Mapping[str, Callable[[dt.datetime], tuple[dt.datetime, dt.datetime]]] = {
    "minute": _of_clock(60),
    "hour": _of_clock(_HOUR),
    "day": _of_days(lambda day: day, lambda day: day + dt.timedelta(days=1)),
    "week": _of_days(
        lambda day: day - dt.timedelta(days=day.weekday()), lambda day: day + dt.timedelta(days=7)
    ),
    "month": _of_days(lambda day: day.replace(day=1), _next_month),
    "year": _of_days(
        lambda day: day.replace(month=1, day=1), lambda day: dt.date(day.year + 1, 1, 1)
    ),
}
"""Each returns when the window of a moment begins and ends."""


def as_strict(old: Quota, new: Quota) -> bool:
    """Return whether a quota surely allows no call that the old one denied."""
    same = (old.of, old.when) == (new.of, new.when) or (old.of == new.of and not new.when)
    if not same or Decimal(str(new.amount)) > Decimal(str(old.amount)):
        return False
    if not set(new.per) <= set(old.per):
        return False
    if new.window == ROLLING == old.window:
        return (new.seconds or 0) >= (old.seconds or 0)
    if new.window in {EVER, old.window} or not {old.window, new.window} <= {*UNITS}:
        return new.window in {EVER, old.window}
    # Each lies within one of the longer ones, but a week may lie in two months.
    return UNITS.index(old.window) < UNITS.index(new.window) and old.window != "week"
