"""Book, move, cancel and annotate visits; each is one transaction."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from toolmd.database import Database

from .calendar import lay_out, require_open
from .clock import Clock, Data, clock_face
from .families import children_named, require_patient
from .refusal import chairs as chairs_of
from .refusal import refuse


class Bookings:
    """The visits of all families; a family sees and changes only its own."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def book(
        self,
        patient_id: str,
        child_names: list[str],
        starts_at: datetime,
        appointment_type: str,
        *,
        key: str | None = None,
    ) -> Data:
        """Book a chair for each child, side by side; the same key returns the same booking."""
        now = self._clock.now()
        request = json.dumps([patient_id, child_names, starts_at.isoformat(), appointment_type])
        with self._database.writing() as db:
            known = db.execute("SELECT * FROM appointment WHERE idempotency_key = ?", (key,))
            if (row := known.fetchone()) is not None:
                if row["request"] != request:
                    raise refuse("idempotency_conflict", number(row))
                return _booked(db, row, now)
            _require_bookable(db, starts_at, now)
            children = children_named(db, patient_id, child_names)
            row = db.execute(
                "INSERT INTO appointment (patient_id, starts_at, appointment_type, booked_at, "
                "idempotency_key, request) VALUES (?, ?, ?, ?, ?, ?) RETURNING *",
                (
                    patient_id,
                    starts_at.isoformat(),
                    appointment_type,
                    now.isoformat(),
                    key,
                    request,
                ),
            ).fetchone()
            db.executemany(
                "INSERT INTO appointment_child (appointment_id, child_id) VALUES (?, ?)",
                [(row["id"], child["id"]) for child in children],
            )
            _seat(db, row["id"], starts_at, children)
            return _booked(db, row, now)

    def reschedule(self, patient_id: str, booking_id: str, starts_at: datetime) -> Data:
        """Move a whole booking; without enough chairs, the old time stays booked."""
        now = self._clock.now()
        with self._database.writing() as db:
            _require_bookable(db, starts_at, now)
            row = _find(db, patient_id, booking_id)
            _require_upcoming(row, now)
            db.execute("DELETE FROM seat WHERE appointment_id = ?", (row["id"],))
            _seat(db, row["id"], starts_at, _children_of(db, row))
            query = "UPDATE appointment SET starts_at = ? WHERE id = ? RETURNING *"
            moved = db.execute(query, (starts_at.isoformat(), row["id"])).fetchone()
            return _booked(db, moved, now)

    def cancel(self, patient_id: str, booking_id: str, reason: str) -> Data:
        """Free the chairs of a booking; a second cancellation changes neither it nor the reason."""
        now = self._clock.now()
        with self._database.writing() as db:
            row = _find(db, patient_id, booking_id)
            if row["status"] != "cancelled":
                _require_upcoming(row, now)
                db.execute("DELETE FROM seat WHERE appointment_id = ?", (row["id"],))
                db.execute(
                    "UPDATE appointment SET status = 'cancelled', cancel_reason = ? WHERE id = ?",
                    (reason, row["id"]),
                )
            return _booked(db, _find(db, patient_id, booking_id), now)

    def annotate(
        self, patient_id: str, booking_id: str, text: str, *, key: str | None = None
    ) -> Data:
        """Add a note to a visit; the same key again adds nothing."""
        now = self._clock.now()
        with self._database.writing() as db:
            row = _find(db, patient_id, booking_id)
            db.execute(
                "INSERT INTO note (appointment_id, text, written_at, idempotency_key) "
                "VALUES (?, ?, ?, ?) ON CONFLICT (idempotency_key) DO NOTHING",
                (row["id"], text, now.isoformat(), key),
            )
            visit = _with_notes(db, row, now)
        shown = {name: visit[name] for name in ("booking_id", "date", "time", "notes")}
        return {**shown, "message": f"Noted on {visit['booking_id']}."}

    def find(self, patient_id: str, booking_id: str) -> Data:
        """Return one booking of the family."""
        with self._database.reading() as db:
            return _booked(db, _find(db, patient_id, booking_id), self._clock.now())

    def upcoming(self, patient_id: str, booking_id: str) -> Data:
        """Return one future booking of the family."""
        with self._database.reading() as db:
            row = _find(db, patient_id, booking_id)
            _require_upcoming(row, self._clock.now())
            return _booked(db, row, self._clock.now())

    def history(self, patient_id: str, *, child_name: str | None = None, limit: int) -> list[Data]:
        """Return the family's visits, the latest first, of one child or of all."""
        now = self._clock.now()
        with self._database.reading() as db:
            require_patient(db, patient_id)
            child: int | None = None
            if child_name is not None:
                child = children_named(db, patient_id, [child_name])[0]["id"]
            rows = db.execute(
                "SELECT * FROM appointment WHERE patient_id = :patient AND (:child IS NULL "
                "OR EXISTS (SELECT 1 FROM appointment_child "
                "WHERE appointment_id = appointment.id AND child_id = :child)) "
                "ORDER BY starts_at DESC, id DESC LIMIT :limit",
                {"patient": patient_id, "child": child, "limit": limit},
            ).fetchall()
            return [_with_notes(db, row, now) for row in rows]

    def day(self, day: date) -> list[Data]:
        """Return who comes on a day, the earliest first."""
        now = self._clock.now()
        query = (
            "SELECT appointment.*, parent_name, phone_number FROM appointment "
            "JOIN patient ON patient.id = patient_id "
            "WHERE starts_at LIKE ? || 'T%' AND status = 'booked' "
            "ORDER BY starts_at, appointment.id"
        )
        with self._database.reading() as db:
            return [
                {
                    **_booked(db, row, now),
                    **{name: row[name] for name in ("patient_id", "parent_name", "phone_number")},
                    "allergies": "; ".join(
                        f"{child['name']}: {child['allergies']}"
                        for child in _children_of(db, row)
                        if child["allergies"]
                    ),
                    "notes": _notes(db, row),
                }
                for row in db.execute(query, (day.isoformat(),)).fetchall()
            ]

    def busy(self, patient_id: str, child_names: list[str]) -> frozenset[str]:
        """Return the times at which one of these children of a family sits in a chair."""
        query = "SELECT starts_at FROM seat WHERE child_id IN (SELECT value FROM json_each(?))"
        with self._database.reading() as db:
            ids = [child["id"] for child in children_named(db, patient_id, child_names)]
            return frozenset(at for (at,) in db.execute(query, (json.dumps(ids),)))


def number(row: sqlite3.Row) -> str:
    """Return the booking's number as staff read it out: `A-1001`."""
    return f"A-{row['id']}"


def in_words(booking: Data) -> str:
    """Return a short description of a visit: `A-1001: 9:00 AM on 2026-03-04 for Mia and Leo`."""
    when = f"{booking['time']} on {booking['date']}"
    return f"{booking['booking_id']}: {when} for {listed(booking['child_names'])}"


def listed(names: list[str]) -> str:
    """Join names for people: `Mia`, `Mia and Leo`, `Ada, Chidi and Zora`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _require_bookable(db: sqlite3.Connection, starts_at: datetime, now: datetime) -> None:
    if starts_at.tzinfo is not None:
        raise refuse("time_with_offset", starts_at.isoformat())
    require_open(starts_at.date(), now.date())
    if starts_at <= now:
        raise refuse("time_in_past", starts_at, now)
    lay_out(db, starts_at.date())


def _find(db: sqlite3.Connection, patient_id: str, booking_id: str) -> sqlite3.Row:
    """Return the family's booking, or raise ToolError; `A-1001` and `1001` both name it."""
    digits = booking_id.strip().upper().removeprefix("A-")
    if digits.isascii() and digits.isdigit():
        query = "SELECT * FROM appointment WHERE id = ? AND patient_id = ?"
        row: sqlite3.Row | None = db.execute(
            query, (min(int(digits[:19]), 2**62), patient_id)
        ).fetchone()
        if row is not None:
            return row
    raise refuse("booking_not_found", booking_id)


def _require_upcoming(row: sqlite3.Row, now: datetime) -> None:
    """Raise ToolError for a visit that is cancelled or past."""
    if row["status"] == "cancelled":
        raise refuse("booking_cancelled", number(row))
    if (starts_at := datetime.fromisoformat(row["starts_at"])) <= now:
        raise refuse("booking_over", number(row), starts_at)


def _children_of(db: sqlite3.Connection, row: sqlite3.Row) -> list[sqlite3.Row]:
    """Return the children of a visit, the eldest first."""
    return db.execute(
        "SELECT child.id, child.name, child.allergies FROM appointment_child "
        "JOIN child ON child.id = appointment_child.child_id "
        "WHERE appointment_id = ? ORDER BY child.birth_date, child.id",
        (row["id"],),
    ).fetchall()


def _booked(db: sqlite3.Connection, row: sqlite3.Row, now: datetime) -> Data:
    """Return a visit in the form of a tool's answer."""
    moment = datetime.fromisoformat(row["starts_at"])
    passed = row["status"] == "booked" and moment <= now
    return {
        "booking_id": number(row),
        "status": "completed" if passed else row["status"],
        "date": moment.date().isoformat(),
        "time": clock_face(moment),
        "datetime": row["starts_at"],
        "appointment_type": row["appointment_type"],
        "child_names": [child["name"] for child in _children_of(db, row)],
    }


def _with_notes(db: sqlite3.Connection, row: sqlite3.Row, now: datetime) -> Data:
    """Return a visit with its notes, and the hour of the day before, with the offset of then."""
    starts_at = datetime.fromisoformat(row["starts_at"])
    return {
        **_booked(db, row, now),
        "notes": _notes(db, row),
        "cancel_reason": row["cancel_reason"] or "",
        "remind_at": (starts_at - timedelta(days=1)).astimezone().isoformat(),
    }


def _notes(db: sqlite3.Connection, row: sqlite3.Row) -> list[str]:
    query = "SELECT text FROM note WHERE appointment_id = ? ORDER BY id"
    return [note["text"] for note in db.execute(query, (row["id"],))]


def _seat(
    db: sqlite3.Connection, visit: int, starts_at: datetime, children: Sequence[sqlite3.Row]
) -> None:
    """Book a free chair for each child at one time, or raise ToolError; constraints enforce it."""
    at = starts_at.isoformat()
    query = (
        "SELECT chair, child_id FROM slot LEFT JOIN seat USING (starts_at, chair) "
        "WHERE starts_at = ? ORDER BY chair"
    )
    seats = db.execute(query, (at,)).fetchall()
    if not seats:
        raise refuse("slot_not_offered", starts_at)
    sitting = {one["child_id"] for one in seats}
    for child in children:
        if child["id"] in sitting:
            when = clock_face(starts_at), starts_at.date()
            raise refuse("child_already_booked", child["name"], *when)
    free = [one["chair"] for one in seats if one["child_id"] is None]
    if len(free) < len(children):
        needed = chairs_of(len(children)), "is" if len(children) == 1 else "are"
        raise refuse("slot_taken", starts_at, chairs_of(len(free)), *needed)
    db.executemany(
        "INSERT INTO seat (starts_at, chair, appointment_id, child_id) VALUES (?, ?, ?, ?)",
        [(at, chair, visit, child["id"]) for chair, child in zip(free, children, strict=False)],
    )
