"""Look up families: a parent's account and its children."""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from toolmd import Context, ToolError
from toolmd.database import Database

from .clock import Clock, Data
from .refusal import refuse

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

    def get(self, patient_id: str) -> Data:
        """Return a family; its children in the order in which they are due."""
        now = self._clock.now()
        asked = {"patient": patient_id, "now": now.isoformat()}
        with self._database.reading() as db:
            row = require_patient(db, patient_id)
            children = db.execute(_CHILDREN, asked).fetchall()
        insurance = {name: row[name] for name in ("insurance_provider", "member_id")}
        return {
            "patient_id": row["id"],
            "parent_name": row["parent_name"],
            "phone_number": row["phone_number"],
            "children": [_child(child, now.date()) for child in children],
            **({"insurance": insurance} if row["member_id"] is not None else {}),
        }

    def register(
        self,
        parent_name: str,
        phone_number: str,
        children: Sequence[Mapping[str, str]],
        insurance: tuple[str, str] | None,
    ) -> Data:
        """Add a family and its children; a parent with the same number is on file already."""
        provider, member = insurance or (None, None)
        with self._database.writing() as db:
            query = (
                "SELECT id FROM patient WHERE parent_name = ? COLLATE NOCASE AND phone_number = ?"
            )
            known = db.execute(query, (parent_name, phone_number)).fetchone()
            query = (
                "SELECT max(1000, coalesce(max(CAST(substr(id, 3) AS INTEGER)), 0)) FROM patient"
            )
            patient_id = known["id"] if known else f"P-{db.execute(query).fetchone()[0] + 1}"
            row = (patient_id, parent_name, phone_number, provider, member)
            db.execute("INSERT OR IGNORE INTO patient VALUES (?, ?, ?, ?, ?)", row)
            for child in children:
                _add_child(db, patient_id, child)
        return self.get(patient_id)

    def add_child(self, patient_id: str, child: Mapping[str, str]) -> Data:
        """Add a child to a family; one of the same name is on file already."""
        with self._database.writing() as db:
            require_patient(db, patient_id)
            _add_child(db, patient_id, child)
        return self.get(patient_id)


def _add_child(db: sqlite3.Connection, patient_id: str, child: Mapping[str, str]) -> None:
    db.execute(
        "INSERT INTO child (patient_id, name, birth_date, allergies) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (patient_id, name) DO NOTHING",
        (patient_id, child["name"].strip(), child["birth_date"], child.get("allergies", "")),
    )


def patient_of(context: Context) -> str:
    """Return the patient of the caller's context; both the tool's file and this require one."""
    patient = context.facts.get("patient")
    if not patient:
        raise ToolError("The host did not supply the family of this call.", code="no_patient")
    return patient


def require_patient(db: sqlite3.Connection, patient_id: str) -> sqlite3.Row:
    """Return the family's row, or raise ToolError."""
    row = db.execute("SELECT * FROM patient WHERE id = ?", (patient_id,)).fetchone()
    if row is None:
        if db.execute("SELECT 1 FROM patient").fetchone() is None:
            raise refuse("no_families")
        raise refuse("patient_not_found", patient_id)
    found: sqlite3.Row = row
    return found


def children_named(
    db: sqlite3.Connection, patient_id: str, names: Sequence[str]
) -> list[sqlite3.Row]:
    """Return the family's children of these names, in that order; case does not matter."""
    require_patient(db, patient_id)
    query = "SELECT id, name FROM child WHERE patient_id = ? ORDER BY birth_date, id"
    rows = db.execute(query, (patient_id,)).fetchall()
    by_name = {row["name"].casefold(): row for row in rows}
    found: list[sqlite3.Row] = []
    for name in names:
        row = by_name.get(name.strip().casefold())
        if row is None:
            raise refuse("child_not_found", name, ", ".join(row["name"] for row in rows))
        if row in found:
            raise refuse("child_named_twice", row["name"])
        found.append(row)
    return found


def _child(row: sqlite3.Row, today: date) -> Data:
    born = date.fromisoformat(row["birth_date"])
    visits = {name: row[name] for name in ("last_visit", "next_visit") if row[name] is not None}
    return {
        "name": row["name"],
        "birth_date": row["birth_date"],
        "age": today.year - born.year - ((today.month, today.day) < (born.month, born.day)),
        "allergies": row["allergies"],
        **visits,
    }
