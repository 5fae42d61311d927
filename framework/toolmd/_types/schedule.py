"""Times in files: a skill's Schedule and its ticks, and a tool's Allowed Hours."""

import datetime as dt
import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, product
from typing import NamedTuple
from zoneinfo import ZoneInfo

_MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
_WEEKDAYS = "SUN MON TUE WED THU FRI SAT".split()
_FARTHEST = 41 * 366
"""The days to search for a tick: 29 February is a Monday once in 28 or 40 years."""
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_DAY = dt.timedelta(days=1)
_MINUTE = dt.timedelta(minutes=1)


def cron_text(text: str) -> str | None:
    """Return a cron expression, or one `in ZONE`, in its canonical form; None if unreadable."""
    words, joint, zone = text.partition(" in ")
    canonical = " ".join(words.upper().split()) + joint + zone.strip()
    try:
        next_tick(canonical, _EPOCH)
    except (ValueError, KeyError, OSError):  # ZoneInfo raises KeyError for an unknown zone.
        return None
    return canonical


def next_tick(schedule: str, now: dt.datetime) -> dt.datetime:
    """Return the first time of a schedule after a time, in UTC."""
    if (every := _period(schedule)) is not None:
        return last_tick(schedule, now) + every
    following = (ticks[bisect(ticks, now) :] for ticks in _days_from(schedule, now, 1))
    return next(ticks[0] for ticks in following if ticks)


def last_tick(schedule: str, now: dt.datetime) -> dt.datetime:
    """Return the last time of a schedule up to and including a time, in UTC."""
    if (every := _period(schedule)) is not None:
        return now.astimezone(dt.UTC) - (now - _EPOCH) % every
    before = (ticks[: bisect(ticks, now)] for ticks in _days_from(schedule, now, -1))
    return next(ticks[-1] for ticks in before if ticks)


def _period(schedule: str) -> dt.timedelta | None:
    """Return the duration of `every 900s`; None for a cron expression."""
    words = schedule.removeprefix("every ")
    return None if words == schedule else dt.timedelta(seconds=int(words.removesuffix("s")))


class _Cron(NamedTuple):
    """A cron expression, as sets of numbers."""

    minutes: frozenset[int]
    hours: frozenset[int]
    each_hour: bool
    """Whether the hours are `*`, so that an hour that the clock repeats counts twice."""
    days: frozenset[int]
    """Days of the month."""
    months: frozenset[int]
    weekdays: frozenset[int]
    """Days of the week; Sunday is 0."""
    either: bool
    """Whether day and weekday are both restricted: then one of them is enough."""

    def has(self, day: dt.date) -> bool:
        """Check whether the expression has ticks on a day."""
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        matches = in_month or in_week if self.either else in_month and in_week
        return matches and day.month in self.months


def _days_from(schedule: str, now: dt.datetime, step: int) -> Iterator[tuple[dt.datetime, ...]]:
    """Yield the ticks of each day from the day before a time on; with -1, from the day after back.

    Raises ValueError where no tick comes for years.
    """
    columns, _, name = schedule.partition(" in ")
    cron, zone = _read(columns), ZoneInfo(name or "UTC")
    first = now.astimezone(zone).date() - step * _DAY
    for count in range(_FARTHEST):
        if cron.has(day := first + step * count * _DAY):
            yield _ticks_of(cron, zone, day)
    raise ValueError(f"{schedule} has no tick")


@lru_cache(maxsize=16)
def _ticks_of(cron: _Cron, zone: ZoneInfo, day: dt.date) -> tuple[dt.datetime, ...]:
    """Return the ticks of a day in a zone, in UTC."""
    ticks = set()
    for hour, minute in product(cron.hours, cron.minutes):
        local = dt.datetime.combine(day, dt.time(hour, minute), zone)
        if cron.each_hour:
            # What the clock skips is left out, what it repeats counts twice.
            both = {local.replace(fold=fold).astimezone(dt.UTC) for fold in (0, 1)}
            ticks |= {tick for tick in both if tick.astimezone(zone) == local}
            continue
        while local.astimezone(dt.UTC).astimezone(zone) != local:
            local += _MINUTE  # the clock skips this time: the tick is right after the gap
        ticks.add(local.astimezone(dt.UTC))
    return tuple(sorted(ticks))


@lru_cache(maxsize=64)
def _read(columns: str) -> _Cron:
    minutes, hours, days, months, weekdays = columns.split()
    return _Cron(
        _numbers(minutes, 0, 59),
        _numbers(hours, 0, 23),
        hours == "*",
        _numbers(days, 1, 31),
        _numbers(months, 1, 12, _MONTHS),
        frozenset(day % 7 for day in _numbers(weekdays, 0, 7, _WEEKDAYS)),
        days != "*" and weekdays != "*",
    )


def _numbers(column: str, first: int, last: int, names: Sequence[str] = ()) -> frozenset[int]:
    """Return the numbers of a column: parts such as `5` or `*/15` by commas."""
    parts = (_part(part, first, last, names) for part in column.split(","))
    return frozenset(chain.from_iterable(parts))


def _part(part: str, first: int, last: int, names: Sequence[str]) -> list[int]:
    """Return the numbers of `*`, `5`, `1-5`, `*/15`, `10/20` or `FRI-MON`."""
    span, slash, step = part.partition("/")
    start, dash, end = span.partition("-")
    low, high = first, last
    if span != "*":
        low = _number(start, first, last, names)
        high = _number(end, first, last, names) if dash else last if slash else low
    around = [*range(low, last + 1), *range(first, high + 1)]
    numbers = [*range(low, high + 1)] if low <= high else around
    return numbers[:: _number(step, 1, last) if slash else 1]


def _number(text: str, first: int, last: int, names: Sequence[str] = ()) -> int:
    number = names.index(text) + first if text in names else int(text)
    if not (text in names or (text.isascii() and text.isdecimal())) or not first <= number <= last:
        raise ValueError(f"{text!r} is not between {first} and {last}")
    return number


DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY_MIN, _WEEK_MIN = 24 * 60, 7 * 24 * 60
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
        after = (at + step for step in range(1, _WEEK_MIN + 1))
        opens = next(minute % _WEEK_MIN for minute in after if minute % _WEEK_MIN in self.minutes)
        day, minute = divmod(opens, _DAY_MIN)
        return f"on {DAYS[day]} at {minute // 60:02}:{minute % 60:02}"

    def __str__(self) -> str:
        """Return the hours as a file has them."""
        return f"{self.text} {self.zone}".rstrip()


def _minute(now: dt.datetime) -> int:
    return now.weekday() * _DAY_MIN + now.hour * 60 + now.minute


@lru_cache(maxsize=256)
def hours_of(text: str) -> Hours:
    """Read opening hours. Raises ValueError with the remedy."""
    hours, zone = text.strip(), ""
    words = hours.split()
    if words and ("/" in words[-1] or words[-1] == "UTC"):
        hours, zone = " ".join(words[:-1]), words[-1]
        try:
            ZoneInfo(zone)
        except (KeyError, ValueError, OSError):
            raise ValueError(f"there is no time zone {zone}: {REMEDY}") from None
    minutes: set[int] = set()
    parts = []
    for part in hours.split(","):
        found = _PART.fullmatch(part.strip())
        if found is None:
            raise ValueError(REMEDY)
        first, last, *times = found.groups()
        days = [_PLACES.get(one.lower()) for one in (first, last or first)]
        (begins, ends) = (int(times[0]) * 60 + int(times[1]), int(times[2]) * 60 + int(times[3]))
        begin, end = days
        if begin is None or end is None or begins >= _DAY_MIN or ends > _DAY_MIN or begins == ends:
            raise ValueError(REMEDY)
        long = ends - begins if ends > begins else ends - begins + _DAY_MIN
        for day in range(begin, begin + (end - begin) % 7 + 1):
            start = day * _DAY_MIN + begins
            minutes |= {minute % _WEEK_MIN for minute in range(start, start + long)}
        named = DAYS[begin][:3] + (f"-{DAYS[end][:3]}" if end != begin else "")
        clock = [f"{at // 60:02}:{at % 60:02}" for at in (begins, ends)]
        parts.append(f"{named} {'-'.join(clock)}")
    return Hours(", ".join(parts), frozenset(minutes), zone)
