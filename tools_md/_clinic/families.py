"""Look up families: a parent's account and its children."""

import sqlite3
from collections.abc import Sequence
from datetime import date
from typing import Final

from toolmd.database import Database

from . import refusal
from .clock import Clock
from .records import Child, Family

# The child with the longest wait is first, so that a booking for some of the children includes
# those who are due.
_CHILDREN: Final = """
SELECT child.*,
    max(starts_at) FILTER (WHERE starts_at <= :now) AS last_visit,
    min(starts_at) FILTER (WHERE starts_at > :now) AS next_visit
FROM child
LEFT JOIN appointment_child ON appointment_child.child_id = child.id
LEFT JOIN appointment ON appointment.id = appointment_child.appointment_id
    AND appointment.status = 'booked'
WHERE child.patient_id = :patient
GROUP BY child.id
ORDER BY last_visit, child.birth_date, child.id
"""


class Families:
    """The clinic's patients."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def get(self, patient_id: str) -> Family:
        """Return a family; its children in the order in which they are due."""
        now = self._clock.now()
        with self._database.reading() as db:
            row = require_patient(db, patient_id)
            children = db.execute(
                _CHILDREN, {"patient": patient_id, "now": now.isoformat()}
            ).fetchall()
        family: Family = {
            "patient_id": row["id"],
            "parent_name": row["parent_name"],
            "phone_number": row["phone_number"],
            "children": [_child(child, now.date()) for child in children],
        }
        if row["insurance_provider"] is not None:
            family["insurance"] = {
                "insurance_provider": row["insurance_provider"],
                "member_id": row["member_id"],
            }
        return family


def require_patient(db: sqlite3.Connection, patient_id: str) -> sqlite3.Row:
    """Return the family's row, or raise ToolError."""
    row = db.execute("SELECT * FROM patient WHERE id = ?", (patient_id,)).fetchone()
    if row is None:
        raise refusal.no_such_patient(patient_id)
    found: sqlite3.Row = row
    return found


def children_named(
    db: sqlite3.Connection, patient_id: str, names: Sequence[str]
) -> list[sqlite3.Row]:
    """Return the family's children of these names, in that order; case does not matter."""
    require_patient(db, patient_id)
    rows = db.execute(
        "SELECT id, name FROM child WHERE patient_id = ? ORDER BY birth_date, id", (patient_id,)
    ).fetchall()
    by_name = {row["name"].casefold(): row for row in rows}
    found: list[sqlite3.Row] = []
    for name in names:
        row = by_name.get(name.strip().casefold())
        if row is None:
            raise refusal.no_such_child(name, [row["name"] for row in rows])
        if row in found:
            raise refusal.named_twice(row["name"])
        found.append(row)
    return found


def _child(row: sqlite3.Row, today: date) -> Child:
    born = date.fromisoformat(row["birth_date"])
    child: Child = {
        "name": row["name"],
        "birth_date": row["birth_date"],
        "age": today.year - born.year - ((today.month, today.day) < (born.month, born.day)),
        "allergies": row["allergies"],
    }
    if row["last_visit"] is not None:
        child["last_visit"] = row["last_visit"]
    if row["next_visit"] is not None:
        child["next_visit"] = row["next_visit"]
    return child
