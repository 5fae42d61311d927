"""Tell the time on the clinic's wall."""

from datetime import UTC, date, datetime, time


class Clock:
    """The machine's own clock and time zone, which are the clinic's."""

    def now(self) -> datetime:
        """Give the wall-clock time, without an offset, to the second."""
        return datetime.now(tz=UTC).astimezone().replace(tzinfo=None, microsecond=0)

    def today(self) -> date:
        """Give the day on the wall."""
        return self.now().date()


class StoppedClock(Clock):
    """A clock that stands still, for tests and demonstrations."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self) -> datetime:
        """Give the time at which the clock stands."""
        return self.at


def clock_face(moment: datetime | time) -> str:
    """Give the time of day as people say it: `9:00 AM`."""
    half, hour = divmod(moment.hour, 12)
    return f"{hour or 12}:{moment.minute:02d} {'PM' if half else 'AM'}"


def spoken(moment: datetime) -> str:
    """Give day and time as people say them: `Monday, March 2 at 9:00 AM`."""
    return f"{moment:%A, %B} {moment.day} at {clock_face(moment)}"
