"""Allowed Hours: the minutes of a week in which a tool may be called."""

import datetime as dt
import re
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY, _WEEK = 24 * 60, 7 * 24 * 60
_PLACES = {day[:size].lower(): at for at, day in enumerate(DAYS) for size in (3, len(day))}
_TIME = r"([01]?\d|2[0-4]):([0-5]\d)"
_TO = r"\s*[-\u2013]\s*"
_PART = re.compile(rf"([a-z]+)(?:{_TO}([a-z]+))?\s+{_TIME}{_TO}{_TIME}", re.IGNORECASE)
REMEDY = "write `Mon-Fri 08:00-18:00, Sat 09:00-13:00`, with a zone such as Europe/Berlin behind it"


class Hours(NamedTuple):
    """The opening hours of a week."""

    text: str
    """The hours as a file has them, without the zone."""
    minutes: frozenset[int]
    """The open minutes of a week, which begins on Monday."""
    zone: str
    """The zone that the file names; empty for that of the settings."""

    def is_open(self, now: dt.datetime) -> bool:
        """Return whether a moment, in the zone of the hours, lies within them."""
        return _minute(now) in self.minutes

    def next(self, now: dt.datetime) -> str:
        """Return when they open next: `on Monday at 08:00`."""
        at = _minute(now)
        after = (at + step for step in range(1, _WEEK + 1))
        opens = next(minute % _WEEK for minute in after if minute % _WEEK in self.minutes)
        day, minute = divmod(opens, _DAY)
        return f"on {DAYS[day]} at {minute // 60:02}:{minute % 60:02}"

    def __str__(self) -> str:
        """Return the hours as a file has them."""
        return f"{self.text} {self.zone}".rstrip()


def _minute(now: dt.datetime) -> int:
    return now.weekday() * _DAY + now.hour * 60 + now.minute


@lru_cache(maxsize=256)
def hours_of(text: str) -> Hours:
    """Read opening hours. Raises ValueError with the remedy."""
    said, zone = text.strip(), ""
    words = said.split()
    if words and ("/" in words[-1] or words[-1] == "UTC"):
        said, zone = " ".join(words[:-1]), words[-1]
        try:
            ZoneInfo(zone)
        except (KeyError, ValueError, OSError):
            raise ValueError(f"there is no time zone {zone}: {REMEDY}") from None
    minutes: set[int] = set()
    parts = []
    for part in said.split(","):
        found = _PART.fullmatch(part.strip())
        if found is None:
            raise ValueError(REMEDY)
        first, last, *times = found.groups()
        days = [_PLACES.get(one.lower()) for one in (first, last or first)]
        (begins, ends) = (int(times[0]) * 60 + int(times[1]), int(times[2]) * 60 + int(times[3]))
        begin, end = days
        if begin is None or end is None or begins >= _DAY or ends > _DAY or begins == ends:
            raise ValueError(REMEDY)
        long = ends - begins if ends > begins else ends - begins + _DAY
        for day in range(begin, begin + (end - begin) % 7 + 1):
            start = day * _DAY + begins
            minutes |= {minute % _WEEK for minute in range(start, start + long)}
        named = DAYS[begin][:3] + (f"-{DAYS[end][:3]}" if end != begin else "")
        clock = [f"{at // 60:02}:{at % 60:02}" for at in (begins, ends)]
        parts.append(f"{named} {'-'.join(clock)}")
    return Hours(", ".join(parts), frozenset(minutes), zone)
