"""Keep a health log: one file, in which each person's entries are apart."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, tzinfo
from importlib.resources import files
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from toolmd import Context, ToolError
from toolmd.database import Database

FILE = "alara.sqlite3"
"""The file of the health log in the project's state folder."""
UNDONE = frozenset(
    ("check_in", "medication", "blood_pressure", "hydration", "symptom", "doctor_visit",
     "clinical_date")
)  # fmt: skip
"""The tables whose entries can be undone; a care log is permanent."""
_MIGRATIONS = (*((),) * 4, (files("toolmd_alara") / "schema.sql").read_text("utf-8"))
"""The file's version is 5: the ones before were never published."""
Row = dict[str, Any]

FACT = "timezone"
"""The fact by which the host names a caller's zone, such as `Europe/Berlin`."""


class Zone:
    """One time zone; without a name, that of this machine."""

    def __init__(self, info: tzinfo | None = None) -> None:
        """Keep the zone; None is the machine's, with its own changes to summer time."""
        self._info = info

    def local(self, moment: datetime) -> datetime:
        """Return a moment in this zone."""
        return moment.astimezone(self._info)

    def moment(self, wall: datetime) -> datetime:
        """Return the moment of a local time without a zone.

        Source: RFC 5545, 3.3.5. A time in the night without it comes an hour later by the clock.
        Of a time that a night has twice, the first counts.
        """
        plain = wall.replace(fold=0)
        aware = plain.astimezone() if self._info is None else plain.replace(tzinfo=self._info)
        return self.local(aware.astimezone(UTC))

    def read(self, text: str) -> datetime:
        """Return the moment of an ISO day or time, which is this zone's own without an offset."""
        value = datetime.fromisoformat(text)
        return self.local(value) if value.tzinfo else self.moment(value)


def zone_named(name: str) -> Zone:
    """Return a zone of the IANA database; raises ToolError for an unknown name."""
    try:
        return Zone(ZoneInfo(name))
    except (ValueError, OSError, LookupError):
        raise ToolError(
            f"The host names the time zone {name!r}, which is unknown. Nothing was read or "
            f"written: the fact `{FACT}` must be a name such as Europe/Berlin.",
            code="unknown_timezone",
        ) from None


class HealthLog:
    """All entries in one SQLite file, which is created on first use."""

    def __init__(self, path: Path, clock: Callable[[], datetime], zone: Zone | None = None) -> None:
        """Open the log.

        Args:
            path: The file.
            clock: Returns the time with its zone.
            zone: The zone of users whose host names none; the default is this machine's.
        """
        self.database = Database(path, _MIGRATIONS)
        self._clock = clock
        self._zone = zone or Zone()
        self.close = self.database.close

    def of(self, user: str | None, timezone: str | None = None) -> "Person":
        """Return this person's part of the log; a user None is the local user.

        Raises ToolError for an unknown time zone.
        """
        zone = self._zone if timezone is None else zone_named(timezone)
        return Person(self.database, self._clock, user or "", zone)

    def people(self) -> list[str]:
        """Return the names of all who have a reminder or a clinical date."""
        query = "SELECT person FROM reminder UNION SELECT person FROM clinical_date ORDER BY 1"
        with self.database.reading() as db:
            return [name for (name,) in db.execute(query)]

    def of_caller(self, context: Context) -> "Person":
        """Return the part of a call's user, in the time zone that the host names."""
        return self.of(context.user, context.facts.get(FACT))


class Person:
    """One person's part of the log, in their time zone."""

    def __init__(
        self, database: Database, clock: Callable[[], datetime], name: str, zone: Zone
    ) -> None:
        self.zone = zone
        self._database = database
        self._clock = clock
        self._name = name

    @property
    def now(self) -> datetime:
        """Return the time in the person's zone."""
        return self.zone.local(self._clock())

    @property
    def today(self) -> str:
        """Return the person's current day, as `2026-03-02`."""
        return self.now.date().isoformat()

    def write(self, table: str, key: str, values: Mapping[str, Any]) -> Row:
        """Add an entry and return `{entry_id, logged_at}`; the same key returns the same entry."""
        now = self.now
        row = {
            "person": self._name,
            "key": key,
            "day": now.date().isoformat(),
            "at": now.isoformat(timespec="seconds"),
            **values,
        }
        names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
        known = f"SELECT id, at FROM {table} WHERE person = ? AND key = ?"  # noqa: S608 - names of our own
        with self._database.writing() as db:
            found = db.execute(known, (self._name, key)).fetchone()
            if found is None:
                db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row)  # noqa: S608 - as above
                found = db.execute(known, (self._name, key)).fetchone()
        return {"entry_id": found["id"], "logged_at": found["at"]}

    def record_dose(self, key: str, values: Mapping[str, Any], taken_at: str | None) -> Row:
        """Add a dose on the day on which it was taken; without a time, it was taken now."""
        if taken_at is None:
            return self.write("medication", key, values)
        self._require_past(taken_at, "a dose is logged when it is taken")
        day = self.zone.read(taken_at).date().isoformat()
        return self.write("medication", key, {**values, "taken_at": taken_at, "day": day})

    def record_visit(self, key: str, values: Mapping[str, Any]) -> Row:
        """Add a visit of today or before; raises ToolError for a later one."""
        self._require_past(values["visited_on"], "a visit is logged after it")
        return self.write("doctor_visit", key, values)

    def record_care(self, key: str, values: Mapping[str, Any]) -> Row:
        """Add a permanent care log of a past event; raises ToolError for a later one."""
        self._require_past(values["occurred_at"], "a care log records past events")
        return self.write("care_log", key, values)

    def _require_past(self, when: str, rule: str) -> None:
        if self.zone.read(when) > self.now:
            raise ToolError(
                f"{when} is in the future, and {rule}. It is now {self.now:%Y-%m-%d %H:%M%z} "
                "where the user is. Ask for the right date; for a planned date, use "
                "add_clinical_date.",
                code="not_yet_happened",
            )

    def change(self, table: str, number: int, values: Mapping[str, Any]) -> bool:
        """Change an entry of this person; return whether there is one of this number."""
        sets = ", ".join(f"{name} = :{name}" for name in values)
        query = f"UPDATE {table} SET {sets} WHERE id = :id AND person = :person"  # noqa: S608 - names of our own
        with self._database.writing() as db:
            done = db.execute(query, {**values, "id": number, "person": self._name})
            return done.rowcount == 1

    def entry(self, table: str, number: int) -> Row | None:
        """Return an entry, also an undone one; None where there is none."""
        query = f"SELECT * FROM {table} WHERE person = ? AND id = ?"  # noqa: S608 - names of our own
        with self._database.reading() as db:
            found = db.execute(query, (self._name, number)).fetchone()
        return None if found is None else dict(found)

    def undo(self, table: str, number: int) -> None:
        """Mark an entry as undone, so that nothing reads it; a second time changes nothing."""
        if (entry := self.entry(table, number)) is None:
            message = (
                f"The user has no {table.replace('_', ' ')} {number}: read_health_log shows the "
                "numbers."
            )
            raise ToolError(message, code="no_such_entry")
        if entry["undone_at"] is None:
            self.change(table, number, {"undone_at": self.now.isoformat(timespec="seconds")})

    def read(self, table: str, condition: str, *values: Any) -> list[Row]:
        """Return this person's rows that meet a condition, in the order of writing."""
        there = " AND undone_at IS NULL" if table in UNDONE else ""
        query = f"SELECT * FROM {table} WHERE person = ? AND ({condition}){there} ORDER BY id"  # noqa: S608 - ours
        with self._database.reading() as db:
            return [dict(row) for row in db.execute(query, (self._name, *values))]
