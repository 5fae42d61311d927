"""A clock for tests that only `advance` moves."""

import datetime as dt


class FakeClock:
    """A clock that only `advance` moves; calling it returns the time."""

    def __init__(self, now: dt.datetime | None = None) -> None:
        self._now = now or dt.datetime(2026, 1, 1, tzinfo=dt.UTC)

    def __call__(self) -> dt.datetime:
        """Return the time."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock forward by `seconds`."""
        self._now += dt.timedelta(seconds=seconds)
