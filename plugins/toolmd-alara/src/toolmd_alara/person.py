"""Write and read one person's entries; other persons' entries are out of reach."""

import sqlite3
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from toolmd import ToolError
from toolmd.database import Database
from toolmd_alara.zone import Zone


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

    def write(self, table: str, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Add an entry and return `{entry_id, logged_at}`; the same key returns the same entry."""
        now = self.now
        row = {
            "person": self._name,
            "key": key,
            "day": now.date().isoformat(),
            "at": now.isoformat(timespec="seconds"),
            **values,
        }
        with self._database.writing() as db:
            found = self._entry(db, table, key)
            if found is None:
                names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
                db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row)  # noqa: S608 - names of our own
                found = self._entry(db, table, key)
        assert found is not None
        return {"entry_id": found["id"], "logged_at": found["at"]}

    def _entry(self, db: sqlite3.Connection, table: str, key: str) -> sqlite3.Row | None:
        query = f"SELECT id, at FROM {table} WHERE person = ? AND key = ?"  # noqa: S608 - as above
        row: sqlite3.Row | None = db.execute(query, (self._name, key)).fetchone()
        return row

    def record_visit(self, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Add a visit of today or before; raises ToolError for a later one."""
        self._require_past(values["visited_on"], "a visit is logged after it")
        return self.write("doctor_visit", key, values)

    def record_care(self, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
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

    def care_logs(self) -> list[dict[str, Any]]:
        """Return the care logs in the order of writing."""
        return self.read("care_log", "1 = 1")

    def read(self, table: str, condition: str, *values: Any) -> list[dict[str, Any]]:
        """Return this person's rows that meet a condition, in the order of writing."""
        query = f"SELECT * FROM {table} WHERE person = ? AND ({condition}) ORDER BY id"  # noqa: S608 - ours
        with self._database.reading() as db:
            rows = db.execute(query, (self._name, *values)).fetchall()
        return [dict(row) for row in rows]
