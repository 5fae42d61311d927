"""Book, move, cancel and annotate visits; each is one transaction."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import date, datetime, timedelta

from toolmd.database import Database

from .calendar import Calendar
from .clock import Clock, Data, clock_face, has_come
from .families import children_named, require_patient
from .refusal import chairs as chairs_of
from .refusal import refuse


class Bookings:
    """The visits of all families; a family sees and changes only its own."""

    def __init__(self, database: Database, calendar: Calendar, clock: Clock) -> None:
        self._database = database
        self._calendar = calendar
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
        request = json.dumps([patient_id, child_names, starts_at.isoformat(), appointment_type])
        with self._database.reading() as db:
            if known := self._replayed(db, key, request):
                return known
        self._require_bookable(starts_at)
        with self._database.writing() as db:
            # Another process may have used the same key since.
            if known := self._replayed(db, key, request):
                return known
            children = children_named(db, patient_id, child_names)
            visit = db.execute(
                "INSERT INTO appointment (patient_id, starts_at, appointment_type, booked_at, "
                "idempotency_key, request) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
                (
                    patient_id,
                    starts_at.isoformat(),
                    appointment_type,
                    self._clock.now().isoformat(),
                    key,
                    request,
                ),
            ).fetchone()["id"]
            db.executemany(
                "INSERT INTO appointment_child (appointment_id, child_id) VALUES (?, ?)",
                [(visit, child["id"]) for child in children],
            )
            seat(db, visit, starts_at, children)
            return self._booking(db, find(db, patient_id, str(visit)))

    def reschedule(self, patient_id: str, booking_id: str, starts_at: datetime) -> Data:
        """Move a whole booking; without enough chairs, the old time stays booked."""
        self._require_bookable(starts_at)
        with self._database.writing() as db:
            row = find_upcoming(db, patient_id, booking_id, self._clock.now())
            children = children_of(db, row)
            db.execute("DELETE FROM seat WHERE appointment_id = ?", (row["id"],))
            seat(db, row["id"], starts_at, children)
            db.execute(
                "UPDATE appointment SET starts_at = ? WHERE id = ?",
                (starts_at.isoformat(), row["id"]),
            )
            return self._booking(db, find(db, patient_id, booking_id))

    def cancel(self, patient_id: str, booking_id: str, reason: str) -> Data:
        """Free the chairs of a booking; a second cancellation changes neither it nor the reason."""
        with self._database.writing() as db:
            row = find(db, patient_id, booking_id)
            if row["status"] != "cancelled":
                require_future(row, self._clock.now())
                db.execute("DELETE FROM seat WHERE appointment_id = ?", (row["id"],))
                db.execute(
                    "UPDATE appointment SET status = 'cancelled', cancel_reason = ? WHERE id = ?",
                    (reason, row["id"]),
                )
            return self._booking(db, find(db, patient_id, booking_id))

    def annotate(
        self, patient_id: str, booking_id: str, text: str, *, key: str | None = None
    ) -> Data:
        """Add a note to a visit; the same key again adds nothing."""
        now = self._clock.now()
        with self._database.writing() as db:
            row = find(db, patient_id, booking_id)
            db.execute(
                "INSERT INTO note (appointment_id, text, written_at, idempotency_key) "
                "VALUES (?, ?, ?, ?) ON CONFLICT (idempotency_key) DO NOTHING",
                (row["id"], text, now.isoformat(), key),
            )
            visit = show_with_notes(db, row, now)
        return {
            "booking_id": visit["booking_id"],
            "date": visit["date"],
            "time": visit["time"],
            "notes": visit["notes"],
            "message": f"Noted on {visit['booking_id']}.",
        }

    def upcoming(self, patient_id: str, booking_id: str) -> Data:
        """Return one future booking of the family."""
        with self._database.reading() as db:
            row = find_upcoming(db, patient_id, booking_id, self._clock.now())
            return self._booking(db, row)

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
            return [show_with_notes(db, row, now) for row in rows]

    def day(self, day: date) -> list[Data]:
        """Return who comes on a day, the earliest first."""
        query = (
            "SELECT appointment.*, parent_name, phone_number FROM appointment "
            "JOIN patient ON patient.id = patient_id "
            "WHERE starts_at LIKE ? || 'T%' AND status = 'booked' "
            "ORDER BY starts_at, appointment.id"
        )
        with self._database.reading() as db:
            return [
                {
                    **shown,
                    "patient_id": row["patient_id"],
                    "parent_name": row["parent_name"],
                    "phone_number": row["phone_number"],
                    "allergies": "; ".join(
                        f"{child['name']}: {child['allergies']}"
                        for child in children_of(db, row)
                        if child["allergies"]
                    ),
                    "notes": shown_notes(db, row),
                }
                for row in db.execute(query, (day.isoformat(),)).fetchall()
                for shown in [booked(db, row, self._clock.now())]
            ]

    def find(self, patient_id: str, booking_id: str) -> Data:
        """Return one booking of the family."""
        with self._database.reading() as db:
            return self._booking(db, find(db, patient_id, booking_id))

    def busy(self, patient_id: str, child_names: list[str]) -> frozenset[str]:
        """Return the times at which one of these children of a family sits in a chair."""
        with self._database.reading() as db:
            children = children_named(db, patient_id, child_names)
            rows = [
                row
                for child in children
                for row in db.execute(
                    "SELECT starts_at FROM seat WHERE child_id = ?", (child["id"],)
                )
            ]
        return frozenset(row["starts_at"] for row in rows)

    def _require_bookable(self, starts_at: datetime) -> None:
        if starts_at.tzinfo is not None:
            raise refuse("time_with_offset", starts_at.isoformat())
        self._calendar.turn_to(starts_at.date())
        if has_come(starts_at, now := self._clock.now()):
            raise refuse("time_in_past", starts_at, now)

    def _replayed(self, db: sqlite3.Connection, key: str | None, request: str) -> Data | None:
        row = db.execute("SELECT * FROM appointment WHERE idempotency_key = ?", (key,)).fetchone()
        if row is None:
            return None
        if row["request"] != request:
            raise refuse("idempotency_conflict", number(row))
        return self._booking(db, row)

    def _booking(self, db: sqlite3.Connection, row: sqlite3.Row) -> Data:
        return booked(db, row, self._clock.now())


def find(db: sqlite3.Connection, patient_id: str, booking_id: str) -> sqlite3.Row:
    """Return the family's booking, or raise ToolError; `A-1001` and `1001` both name it."""
    digits = booking_id.strip().upper().removeprefix("A-")
    row = None
    if digits.isascii() and digits.isdigit():
        row = db.execute(
            "SELECT * FROM appointment WHERE id = ? AND patient_id = ?",
            (min(int(digits), 2**62), patient_id),
        ).fetchone()
    if row is None:
        raise refuse("booking_not_found", booking_id)
    found: sqlite3.Row = row
    return found


def find_upcoming(
    db: sqlite3.Connection, patient_id: str, booking_id: str, now: datetime
) -> sqlite3.Row:
    """Return the family's booking if it is neither cancelled nor past, or raise ToolError."""
    row = find(db, patient_id, booking_id)
    if row["status"] == "cancelled":
        raise refuse("booking_cancelled", number(row))
    require_future(row, now)
    return row


def require_future(row: sqlite3.Row, now: datetime) -> None:
    """Raise ToolError for a visit whose time has come."""
    starts_at = datetime.fromisoformat(row["starts_at"])
    if has_come(starts_at, now):
        raise refuse("booking_over", number(row), starts_at)


def number(row: sqlite3.Row) -> str:
    """Return the booking's number as staff read it out: `A-1001`."""
    return f"A-{row['id']}"


def children_of(db: sqlite3.Connection, row: sqlite3.Row) -> list[sqlite3.Row]:
    """Return the children of a visit, the eldest first."""
    return db.execute(
        "SELECT child.id, child.name, child.allergies FROM appointment_child "
        "JOIN child ON child.id = appointment_child.child_id "
        "WHERE appointment_id = ? ORDER BY child.birth_date, child.id",
        (row["id"],),
    ).fetchall()


def booked(db: sqlite3.Connection, row: sqlite3.Row, now: datetime) -> Data:
    """Return a visit in the form of a tool's answer."""
    moment = datetime.fromisoformat(row["starts_at"])
    passed = row["status"] == "booked" and has_come(moment, now)
    return {
        "booking_id": number(row),
        "status": "completed" if passed else row["status"],
        "date": moment.date().isoformat(),
        "time": clock_face(moment),
        "datetime": row["starts_at"],
        "appointment_type": row["appointment_type"],
        "child_names": [child["name"] for child in children_of(db, row)],
    }


def in_words(booking: Data) -> str:
    """Return a short description of a visit: `A-1001: 9:00 AM on 2026-03-04 for Mia and Leo`."""
    when = f"{booking['time']} on {booking['date']}"
    return f"{booking['booking_id']}: {when} for {listed(booking['child_names'])}"


def listed(names: list[str]) -> str:
    """Join names for people: `Mia`, `Mia and Leo`, `Ada, Chidi and Zora`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def show_with_notes(db: sqlite3.Connection, row: sqlite3.Row, now: datetime) -> Data:
    """Return a visit with its notes, the oldest first."""
    visit: Data = {
        **booked(db, row, now),
        "notes": shown_notes(db, row),
        "cancel_reason": row["cancel_reason"] or "",
        "remind_at": remind_at(datetime.fromisoformat(row["starts_at"])),
    }
    return visit


def shown_notes(db: sqlite3.Connection, row: sqlite3.Row) -> list[str]:
    """Return the staff's notes on a visit, the oldest first."""
    query = "SELECT text FROM note WHERE appointment_id = ? ORDER BY id"
    return [note["text"] for note in db.execute(query, (row["id"],))]


def remind_at(starts_at: datetime) -> str:
    """Return the same hour of the day before, with the offset that the clinic has then."""
    return (starts_at - timedelta(days=1)).astimezone().isoformat()


def seat(
    db: sqlite3.Connection, visit: int, starts_at: datetime, children: Sequence[sqlite3.Row]
) -> None:
    """Book a free chair for each child at one time, or raise ToolError; constraints enforce it."""
    at = starts_at.isoformat()
    chairs = db.execute(
        "SELECT chair, child_id IS NULL AS free FROM slot LEFT JOIN seat "
        "USING (starts_at, chair) WHERE starts_at = ? ORDER BY chair",
        (at,),
    ).fetchall()
    if not chairs:
        raise refuse("slot_not_offered", starts_at)
    for child in children:
        if db.execute(
            "SELECT 1 FROM seat WHERE starts_at = ? AND child_id = ?", (at, child["id"])
        ).fetchone():
            raise refuse(
                "child_already_booked", child["name"], clock_face(starts_at), starts_at.date()
            )
    free = [chair["chair"] for chair in chairs if chair["free"]]
    if len(free) < len(children):
        raise refuse(
            "slot_taken",
            starts_at,
            chairs_of(len(free)),
            chairs_of(len(children)),
            "is" if len(children) == 1 else "are",
        )
    db.executemany(
        "INSERT INTO seat (starts_at, chair, appointment_id, child_id) VALUES (?, ?, ?, ?)",
        [(at, chair, visit, child["id"]) for chair, child in zip(free, children, strict=False)],
    )
