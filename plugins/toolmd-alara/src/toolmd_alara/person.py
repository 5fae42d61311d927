"""Write and read one person's entries; other persons' entries are out of reach."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, time, timedelta
from typing import Any

from toolmd import ToolError
from toolmd.database import Database
from toolmd_alara.reminders import next_before, next_due

_AHEAD = timedelta(days=1)
"""How far a person's date may be ahead of this machine's clock."""


class Person:
    """One person's part of the log."""

    def __init__(self, database: Database, clock: Callable[[], datetime], name: str) -> None:
        self._database = database
        self._clock = clock
        self._name = name

    def write(self, table: str, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Add an entry and return `{entry_id, logged_at}`; the same key returns the same entry."""
        now = self._clock()
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

    def remind(
        self,
        key: str,
        *,
        title: str,
        at: time,
        days: Iterable[int],
        kind: str | None,
        description: str | None,
    ) -> dict[str, Any]:
        """Add a reminder on these ISO weekdays and return its next time."""
        on = sorted(set(days))
        values = {
            "title": title,
            "time": f"{at:%H:%M}",
            "days": ",".join(map(str, on)),
            "kind": kind,
            "description": description,
        }
        entry = self.write("reminder", key, values)
        due = next_due(at, on, self._clock()).isoformat()
        return {"reminder_id": entry["entry_id"], "next_due": due}

    def record_care(self, key: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Add a permanent care log of a past event."""
        occurred = values["occurred_at"]
        if occurred[:10] > (self._clock() + _AHEAD).date().isoformat():
            raise ToolError(
                f"{occurred} is in the future, and a care log records past events. Ask for "
                "the right date; for a planned date, use add_clinical_date.",
                code="not_yet_happened",
            )
        return self.write("care_log", key, values)

    def reminders(self) -> list[dict[str, Any]]:
        """Return coming reminders and announced clinical dates, the nearest first."""
        now = self._clock()
        with self._database.reading() as db:
            rows = db.execute("SELECT * FROM reminder WHERE person = ?", (self._name,)).fetchall()
        due = [
            (
                next_due(time.fromisoformat(row["time"]), map(int, row["days"].split(",")), now),
                row["title"],
                row["kind"] or "other",
            )
            for row in rows
        ]
        due += [
            (moment, row["description"], "clinical_date")
            for row in self.read("clinical_date", "remind = 1")
            if (moment := next_before(row["falls_on"], now)) is not None
        ]
        return [
            {"title": title, "reminder_type": kind, "next_due": moment.isoformat()}
            for moment, title, kind in sorted(due)
        ]

    def care_logs(self) -> list[dict[str, Any]]:
        """Return the care logs in the order of writing."""
        return self.read("care_log", "1 = 1")

    def read(self, table: str, condition: str, *values: Any) -> list[dict[str, Any]]:
        """Return this person's rows that meet a condition, in the order of writing."""
        query = f"SELECT * FROM {table} WHERE person = ? AND ({condition}) ORDER BY id"  # noqa: S608 - ours
        with self._database.reading() as db:
            rows = db.execute(query, (self._name, *values)).fetchall()
        return [dict(row) for row in rows]

    @property
    def today(self) -> str:
        """Return the person's current day, as `2026-03-02`."""
        return self._clock().date().isoformat()
