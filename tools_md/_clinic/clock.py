"""Read the clinic's local time."""

from datetime import UTC, date, datetime, time
from typing import Any

Data = dict[str, Any]
"""An answer; the Returns section of each tool's file describes its own."""


class Clock:
    """The machine's own clock and time zone, which the clinic uses."""

    def now(self) -> datetime:
        """Return the local time, without an offset, to the second."""
        return datetime.now(tz=UTC).astimezone().replace(tzinfo=None, microsecond=0)

    def today(self) -> date:
        """Return the local date."""
        return self.now().date()


class StoppedClock(Clock):
    """A fixed clock, for tests and demonstrations."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        """Return the fixed time."""
        return self.at


def clock_face(moment: datetime | time) -> str:
    """Format the time of day for people: `9:00 AM`."""
    half, hour = divmod(moment.hour, 12)
    return f"{hour or 12}:{moment.minute:02d} {'PM' if half else 'AM'}"


def spoken(moment: datetime) -> str:
    """Format date and time for people: `Monday, March 2 at 9:00 AM`."""
    return f"{moment:%A, %B} {moment.day} at {clock_face(moment)}"
