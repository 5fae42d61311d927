"""Read visits from the database, and assign chairs to children."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta

from . import refusal
from .clock import clock_face
from .records import BookedVisit, Booking, Visit


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
        raise refusal.no_such_booking(booking_id)
    found: sqlite3.Row = row
    return found


def find_upcoming(
    db: sqlite3.Connection, patient_id: str, booking_id: str, now: datetime
) -> sqlite3.Row:
    """Return the family's booking if it is neither cancelled nor past, or raise ToolError."""
    row = find(db, patient_id, booking_id)
    if row["status"] == "cancelled":
        raise refusal.cancelled(number(row))
    require_future(row, now)
    return row


def has_come(starts_at: datetime, now: datetime) -> bool:
    """Return whether the time of a visit has come: then it can't be offered, booked or moved."""
    return starts_at <= now


def require_future(row: sqlite3.Row, now: datetime) -> None:
    """Raise ToolError for a visit whose time has come."""
    starts_at = datetime.fromisoformat(row["starts_at"])
    if has_come(starts_at, now):
        raise refusal.over(number(row), starts_at)


def number(row: sqlite3.Row) -> str:
    """Return the booking's number as staff read it out: `A-1001`."""
    return f"A-{row['id']}"


def children_of(db: sqlite3.Connection, row: sqlite3.Row) -> list[sqlite3.Row]:
    """Return the children of a visit, the eldest first."""
    return db.execute(
        "SELECT child.id, child.name FROM appointment_child "
        "JOIN child ON child.id = appointment_child.child_id "
        "WHERE appointment_id = ? ORDER BY child.birth_date, child.id",
        (row["id"],),
    ).fetchall()


def show(db: sqlite3.Connection, row: sqlite3.Row, now: datetime) -> Booking:
    """Return a visit in the form of a tool's answer."""
    return {**_booked(db, row, now)}  # type: ignore[typeddict-item]  # the message comes later


def _booked(db: sqlite3.Connection, row: sqlite3.Row, now: datetime) -> BookedVisit:
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


def in_words(booking: Booking) -> str:
    """Return a short description of a visit: `A-1001: 9:00 AM on 2026-03-04 for Mia and Leo`."""
    when = f"{booking['time']} on {booking['date']}"
    return f"{booking['booking_id']}: {when} for {listed(booking['child_names'])}"


def listed(names: list[str]) -> str:
    """Join names for people: `Mia`, `Mia and Leo`, `Ada, Chidi and Zora`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def show_with_notes(db: sqlite3.Connection, row: sqlite3.Row, now: datetime) -> Visit:
    """Return a visit with its notes, the oldest first."""
    notes = db.execute(
        "SELECT text FROM note WHERE appointment_id = ? ORDER BY id", (row["id"],)
    ).fetchall()
    visit: Visit = {
        **_booked(db, row, now),
        "notes": [note["text"] for note in notes],
        "cancel_reason": row["cancel_reason"] or "",
        "remind_at": remind_at(datetime.fromisoformat(row["starts_at"])),
    }
    return visit


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
        raise refusal.no_such_slot(starts_at)
    for child in children:
        if db.execute(
            "SELECT 1 FROM seat WHERE starts_at = ? AND child_id = ?", (at, child["id"])
        ).fetchone():
            raise refusal.busy_child(child["name"], starts_at)
    free = [chair["chair"] for chair in chairs if chair["free"]]
    if len(free) < len(children):
        raise refusal.taken(starts_at, len(children), len(free))
    db.executemany(
        "INSERT INTO seat (starts_at, chair, appointment_id, child_id) VALUES (?, ?, ?, ?)",
        [(at, chair, visit, child["id"]) for chair, child in zip(free, children, strict=False)],
    )
