"""A skill's Schedule: a cron expression of five fields, or `every 15m`, and its ticks."""

import datetime as dt
import re
from typing import Any
from zoneinfo import ZoneInfo

_COLUMNS = 5
_NAMES = frozenset("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC SUN MON TUE WED THU FRI SAT L"
                   .split())  # fmt: skip
_SECOND = dt.timedelta(seconds=1)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def cron_text(text: str) -> str | None:
    """Return a cron expression, or one `in ZONE`, in its canonical form; None if unreadable."""
    words, joint, zone = text.partition(" in ")
    columns = words.upper().split()
    names = set(re.findall("[A-Z]+", words.upper()))
    if len(columns) != _COLUMNS or not names <= _NAMES:
        return None
    canonical = " ".join(columns) + joint + zone.strip()
    try:
        next_tick(canonical, _EPOCH)
    except (ValueError, KeyError, OSError):  # ZoneInfo raises KeyError for an unknown zone.
        return None
    return canonical


def next_tick(schedule: str, now: dt.datetime) -> dt.datetime:
    """Return the first time of a schedule after a time, in UTC."""
    if (every := _period(schedule)) is not None:
        return last_tick(schedule, now) + every
    tick = _cron(schedule, now).get_next(dt.datetime).astimezone(dt.UTC)
    return next_tick(schedule, tick) if _comes_again(schedule, tick) else tick


def last_tick(schedule: str, now: dt.datetime) -> dt.datetime:
    """Return the last time of a schedule up to and including a time, in UTC."""
    if (every := _period(schedule)) is not None:
        return now.astimezone(dt.UTC) - (now - _EPOCH) % every
    later = now.replace(microsecond=0) + _SECOND
    tick = _cron(schedule, later).get_prev(dt.datetime).astimezone(dt.UTC)
    return last_tick(schedule, tick - _SECOND) if _comes_again(schedule, tick) else tick


def _comes_again(schedule: str, tick: dt.datetime) -> bool:
    """Return whether a tick repeats a local time, because the clock was set back.

    It counts only with `*` as the hour.
    """
    columns, zone = _parts(schedule)
    return columns.split()[1] != "*" and tick.astimezone(zone).fold == 1


def _period(schedule: str) -> dt.timedelta | None:
    """Return the duration of `every 900s`; None for a cron expression."""
    words = schedule.removeprefix("every ")
    return None if words == schedule else dt.timedelta(seconds=int(words.removesuffix("s")))


def _cron(schedule: str, now: dt.datetime) -> Any:
    # Few projects have a schedule, so the library is imported where one is read.
    from croniter import croniter

    columns, zone = _parts(schedule)
    return croniter(columns, now.astimezone(zone))


def _parts(schedule: str) -> tuple[str, ZoneInfo]:
    columns, _, zone = schedule.partition(" in ")
    return columns, ZoneInfo(zone or "UTC")
