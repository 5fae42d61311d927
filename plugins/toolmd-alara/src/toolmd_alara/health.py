"""Open a health log: one file with each person's own part."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from toolmd import Context
from toolmd.database import Database
from toolmd_alara.person import Person
from toolmd_alara.schema import MIGRATIONS
from toolmd_alara.zone import FACT, Zone, zone_named


class HealthLog:
    """All entries in one SQLite file, which is created on first use."""

    def __init__(self, path: Path, clock: Callable[[], datetime], zone: Zone | None = None) -> None:
        """Open the log.

        Args:
            path: The file.
            clock: Returns the time with its zone.
            zone: The zone of users whose host names none; the default is this machine's.
        """
        self.database = Database(path, MIGRATIONS)
        self._clock = clock
        self._zone = zone or Zone()

    def of(self, user: str | None, timezone: str | None = None) -> Person:
        """Return this person's part of the log; a user None is the local user.

        Raises ToolError for an unknown time zone.
        """
        zone = self._zone if timezone is None else zone_named(timezone)
        return Person(self.database, self._clock, user or "", zone)

    def of_caller(self, context: Context) -> Person:
        """Return the part of a call's user, in the time zone that the host names."""
        return self.of(context.user, context.facts.get(FACT))

    def close(self) -> None:
        """Close the file."""
        self.database.close()
