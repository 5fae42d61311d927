"""Read the time of an option: relative, on the clock, or exact."""

import datetime as dt

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import stop


def moment(text: str) -> dt.datetime:
    """Return the time that `now`, `in 2h`, `18:30` or an ISO time means; stop for any other.

    Local time unless it names a zone; a time on the clock is the next one.
    """
    now = dt.datetime.now(dt.UTC).astimezone()
    at = _read(text.strip(), now)
    if at is None:
        help_ = "write `in 2h`, `18:30`, `2026-05-04T18:30`, or `2026-05-04T18:30Z`"
        stop(ExitCode.USAGE, f"--at can't be read from '{text}'", help_)
    if at < now:
        stop(ExitCode.USAGE, f"--at names a time in the past: {at:%Y-%m-%d %H:%M:%S %z}")
    return at


def past(text: str, option: str) -> dt.datetime:
    """Return the time that `2h ago`, `2026-05-04` or an ISO time means; stop for any other."""
    from toolmd._parse.words.scalars import duration

    words = text.strip()
    try:
        if words.endswith(" ago"):
            earlier = duration(words.removesuffix(" ago"))
            if earlier is not None:
                return dt.datetime.now(dt.UTC) - dt.timedelta(seconds=earlier)
        return dt.datetime.fromisoformat(words).astimezone()
    except (ValueError, OverflowError):
        help_ = "write `2h ago`, `2026-05-04`, `2026-05-04T18:30`, or `2026-05-04T18:30Z`"
        stop(ExitCode.USAGE, f"{option} can't be read from '{text}'", help_)


def _read(text: str, now: dt.datetime) -> dt.datetime | None:
    from toolmd._parse.words.scalars import duration

    if text == "now":
        return now
    try:
        if text.startswith("in "):
            later = duration(text.removeprefix("in "))
            return None if later is None else now + dt.timedelta(seconds=later)
        if len(text) <= len("18:30:00") or text[2] == ":":
            # The naive time of each day, so that a change of the clock does not move it.
            clock = dt.time.fromisoformat(text)
            today = dt.datetime.combine(now.astimezone(clock.tzinfo).date(), clock)
            at = today.astimezone()
            return at if at >= now else (today + dt.timedelta(days=1)).astimezone()
        return dt.datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        return None
