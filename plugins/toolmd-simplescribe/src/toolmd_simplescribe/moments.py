"""Parse FHIR's and ISO 8601's dates, precise or vague, as instants in UTC."""

import re
from calendar import isleap, monthrange
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from toolmd import ToolError

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - zones are taken off by hand: years 1 and 9999
_MICROSECOND: Final = timedelta(microseconds=1)
_DAY_US: Final = 86_400_000_000
_FORM: Final = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
    r"(Z|[+-]\d\d:\d\d)?)?)?)?",
    re.ASCII,
)
_FARTHEST_ZONE_MIN: Final = 14 * 60


class Moment(NamedTuple):
    """A date as written, with its begin and end."""

    text: str
    at: int
    """Its first instant, in microseconds since 1970 (UTC)."""
    end: int
    """The first instant after it: for a day the next midnight, for a second the next second."""


class Span(NamedTuple):
    """A time span, in microseconds since 1970 (UTC), without its end."""

    start: int
    end: int


def moment(text: str) -> Moment:
    """Parse `2024`, `2024-05`, `2024-05-07` or a date and time; the default zone is UTC.

    Raises ValueError for an invalid date, such as 30 February.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text[:40]!r} is not a date")
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    # FHIR allows the leap second, which computers' clocks do not have.
    clock = (int(hour or 0), int(minute or 0), 59 if second == "60" else int(second or 0))
    micro = int((fraction or "0").ljust(6, "0")[:6])
    begin = datetime(int(year), int(month or 1), int(day or 1), *clock, micro)  # noqa: DTZ001 - as above
    at = (begin - _EPOCH) // _MICROSECOND - _offset_min(zone) * 60_000_000
    return Moment(text, at, at + _length(begin, found))


def _offset_min(zone: str | None) -> int:
    if zone in (None, "Z"):
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours * 60 + minutes > _FARTHEST_ZONE_MIN or minutes > 59:  # noqa: PLR2004 - an hour's last
        raise ValueError(f"{zone} is not a time zone")
    return int(f"{zone[0]}1") * (hours * 60 + minutes)


def _length(begin: datetime, found: re.Match[str]) -> int:
    """Return the length of a date in microseconds, by the precision of its text."""
    _, month, day, hour, _, second, fraction, _ = found.groups()
    if fraction:
        return int(10 ** max(0, 6 - len(fraction)))
    if hour:
        return 1_000_000 if second else 60_000_000
    if day:
        return _DAY_US
    if month:
        return monthrange(begin.year, begin.month)[1] * _DAY_US
    return (366 if isleap(begin.year) else 365) * _DAY_US


def span_of(date_range: Mapping[str, str] | None) -> Span | None:
    """Return the span from the start of a range's first date to the end of its last.

    Raises ToolError `invalid_arguments` for an invalid date, or an end before the start.
    """
    if date_range is None:
        return None
    try:
        start, end = moment(date_range["start"]), moment(date_range["end"])
    except ValueError as error:
        message = f"date_range: {error}; write ISO 8601, such as 2024-01-31T00:00:00Z"
        raise ToolError(message, code="invalid_arguments") from None
    if start.at >= end.end:
        raise ToolError("date_range: it ends before it starts", code="invalid_arguments")
    return Span(start.at, end.end)
