"""Open the clinic: one database with its services."""

from pathlib import Path

from toolmd.database import Database

from .bookings import Bookings
from .calendar import Calendar
from .clock import Clock, Data
from .facts import SLOT_MINUTES
from .families import Families
from .outbox import Outbox
from .schema import MIGRATIONS


class Clinic:
    """The Jefferson dental clinic in one SQLite file, which is created on first use."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.database = Database(path, MIGRATIONS)
        self.clock = clock
        self.calendar = Calendar(self.database, clock)
        self.families = Families(self.database, clock)
        self.bookings = Bookings(self.database, self.calendar, clock)
        self.outbox = Outbox(self.database, clock)

    def services(self) -> list[Data]:
        """Return the bookable services, in the order of the price list."""
        with self.database.reading() as db:
            rows = db.execute("SELECT * FROM service ORDER BY position").fetchall()
        return [
            {
                "appointment_type": row["code"],
                "name": row["name"],
                "description": row["description"],
                "minutes": SLOT_MINUTES,
                "price_usd": row["price_usd"],
            }
            for row in rows
        ]

    def preparation(self, appointment_type: str) -> Data:
        """Return how to prepare for a visit of this type, and what to bring."""
        with self.database.reading() as db:
            rows = db.execute(
                "SELECT kind, text FROM preparation WHERE service = ? ORDER BY kind, position",
                (appointment_type,),
            ).fetchall()
        return {
            "appointment_type": appointment_type,
            "do": [row["text"] for row in rows if row["kind"] == "do"],
            "bring": [row["text"] for row in rows if row["kind"] == "bring"],
        }

    def close(self) -> None:
        """Close the file."""
        self.database.close()
