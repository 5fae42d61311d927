"""Open a health log: one file with each person's own part."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from toolmd.database import Database
from toolmd_alara.person import Person
from toolmd_alara.schema import MIGRATIONS


class HealthLog:
    """All entries in one SQLite file, which is created on first use."""

    def __init__(self, path: Path, clock: Callable[[], datetime]) -> None:
        """Open the log; `clock` returns the time with its zone."""
        self.database = Database(path, MIGRATIONS)
        self._clock = clock

    def of(self, user: str | None) -> Person:
        """Return this person's part of the log; None is the local user."""
        return Person(self.database, self._clock, user or "")

    def close(self) -> None:
        """Close the file."""
        self.database.close()
