"""Open the clinic: one database with its services, by the settings and the environment."""

import os
from datetime import datetime
from pathlib import Path
from typing import Final

from toolmd import ConfigError, Settings
from toolmd.database import Database

from .bookings import Bookings
from .calendar import SLOT_MINUTES, Calendar
from .clock import Clock, Data, StoppedClock
from .families import Families
from .outbox import Outbox

FILE: Final = "clinic.sqlite3"
"""The file of the database in the project's state folder."""
NOW: Final = "CLINIC_NOW"
"""Fixes the clock: `2026-03-02T08:00`; for demonstrations and tests."""
MIGRATIONS: Final = tuple(
    Path(__file__).with_name(name).read_text("utf-8") for name in ("schema.sql", "facts.sql")
)
"""`PRAGMA user_version` counts how many of these a file has; append only, change none."""


class Clinic:
    """The Jefferson dental clinic in one SQLite file, which is created on first use."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.database = Database(path, MIGRATIONS)
        self.clock = clock
        self.calendar = Calendar(self.database, clock)
        self.families = Families(self.database, clock)
        self.bookings = Bookings(self.database, clock)
        self.outbox = Outbox(self.database, clock)
        self.close = self.database.close

    def services(self) -> list[Data]:
        """Return the bookable services, in the order of the price list."""
        query = (
            "SELECT code AS appointment_type, name, description, ? AS minutes, price_usd "
            "FROM service ORDER BY position"
        )
        with self.database.reading() as db:
            return [dict(row) for row in db.execute(query, (SLOT_MINUTES,))]

    def preparation(self, appointment_type: str) -> Data:
        """Return how to prepare for a visit of this type, and what to bring."""
        query = "SELECT kind, text FROM preparation WHERE service = ? ORDER BY position"
        with self.database.reading() as db:
            rows = db.execute(query, (appointment_type,)).fetchall()
        told = {
            kind: [row["text"] for row in rows if row["kind"] == kind] for kind in ("do", "bring")
        }
        return {"appointment_type": appointment_type, **told}


def open_clinic(settings: Settings) -> Clinic:
    """Open the clinic of a project, in its state folder, on the clock of the environment."""
    stopped = os.environ.get(NOW)
    if not stopped:
        return Clinic(settings.state / FILE, Clock())
    message = f"{NOW}={stopped!r} is not a valid time: write 2026-03-02T08:00"
    try:
        at = datetime.fromisoformat(stopped)
    except ValueError:
        raise ConfigError(message) from None
    if at.tzinfo is not None:
        raise ConfigError(message)
    return Clinic(settings.state / FILE, StoppedClock(at))
