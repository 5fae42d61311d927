"""Book, move, cancel and annotate visits; each is one transaction."""

import json
import sqlite3
from datetime import datetime

from toolmd.database import Database

from . import refusal, visits
from .calendar import Calendar
from .clock import Clock
from .families import children_named, require_patient
from .records import Annotated, Booking, Visit


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
    ) -> Booking:
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
            visits.seat(db, visit, starts_at, children)
            return self._show(db, visits.find(db, patient_id, str(visit)))

    def reschedule(self, patient_id: str, booking_id: str, starts_at: datetime) -> Booking:
        """Move a whole booking; without enough chairs, the old time stays booked."""
        self._require_bookable(starts_at)
        with self._database.writing() as db:
            row = visits.find_upcoming(db, patient_id, booking_id, self._clock.now())
            children = visits.children_of(db, row)
            db.execute("DELETE FROM seat WHERE appointment_id = ?", (row["id"],))
            visits.seat(db, row["id"], starts_at, children)
            db.execute(
                "UPDATE appointment SET starts_at = ? WHERE id = ?",
                (starts_at.isoformat(), row["id"]),
            )
            return self._show(db, visits.find(db, patient_id, booking_id))

    def cancel(self, patient_id: str, booking_id: str, reason: str) -> Booking:
        """Free the chairs of a booking; a second cancellation changes neither it nor the reason."""
        with self._database.writing() as db:
            row = visits.find(db, patient_id, booking_id)
            if row["status"] != "cancelled":
                visits.require_future(row, self._clock.now())
                db.execute("DELETE FROM seat WHERE appointment_id = ?", (row["id"],))
                db.execute(
                    "UPDATE appointment SET status = 'cancelled', cancel_reason = ? WHERE id = ?",
                    (reason, row["id"]),
                )
            return self._show(db, visits.find(db, patient_id, booking_id))

    def annotate(
        self, patient_id: str, booking_id: str, text: str, *, key: str | None = None
    ) -> Annotated:
        """Add a note to a visit; the same key again adds nothing."""
        now = self._clock.now()
        with self._database.writing() as db:
            row = visits.find(db, patient_id, booking_id)
            db.execute(
                "INSERT INTO note (appointment_id, text, written_at, idempotency_key) "
                "VALUES (?, ?, ?, ?) ON CONFLICT (idempotency_key) DO NOTHING",
                (row["id"], text, now.isoformat(), key),
            )
            visit = visits.show_with_notes(db, row, now)
        return {
            "booking_id": visit["booking_id"],
            "date": visit["date"],
            "time": visit["time"],
            "notes": visit["notes"],
            "message": f"Noted on {visit['booking_id']}.",
        }

    def upcoming(self, patient_id: str, booking_id: str) -> Booking:
        """Return one future booking of the family."""
        with self._database.reading() as db:
            row = visits.find_upcoming(db, patient_id, booking_id, self._clock.now())
            return self._show(db, row)

    def history(self, patient_id: str, *, child_name: str | None = None, limit: int) -> list[Visit]:
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
            return [visits.show_with_notes(db, row, now) for row in rows]

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
            raise refusal.offset_given(starts_at)
        self._calendar.turn_to(starts_at.date())
        if visits.has_come(starts_at, now := self._clock.now()):
            raise refusal.past(starts_at, now)

    def _replayed(self, db: sqlite3.Connection, key: str | None, request: str) -> Booking | None:
        row = db.execute("SELECT * FROM appointment WHERE idempotency_key = ?", (key,)).fetchone()
        if row is None:
            return None
        if row["request"] != request:
            raise refusal.other_request(visits.number(row))
        return self._show(db, row)

    def _show(self, db: sqlite3.Connection, row: sqlite3.Row) -> Booking:
        return visits.show(db, row, self._clock.now())
