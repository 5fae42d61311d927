"""Hold a health log together: one file, and each person's own part of it."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from toolmd.database import Database
from toolmd_alara.person import Person
from toolmd_alara.schema import MIGRATIONS


class HealthLog:
    """Everybody's entries in one SQLite file, which is made where there is none."""

    def __init__(self, path: Path, clock: Callable[[], datetime]) -> None:
        """`clock` gives the time with its zone."""
        self.database = Database(path, MIGRATIONS)
        self._clock = clock

    def of(self, user: str | None) -> Person:
        """Give the part of the log that is this person's; None is the one at this machine."""
        return Person(self.database, self._clock, user or "")

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()
