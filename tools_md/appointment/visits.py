"""Look up, book, move, cancel and annotate a family's visits."""

from datetime import date as day_of
from datetime import datetime

from toolmd import Context, ToolError

from .._clinic.bookings import in_words
from .._clinic.clock import Data
from .._clinic.families import patient_of
from .._clinic.outbox import CLINIC_NAME, CLINIC_PHONE, Notifier
from .._clinic.store import Clinic


def add_appointment_notes(booking_id: str, notes: str, *, clinic: Clinic, context: Context) -> Data:
    """Add the note, once per request."""
    return clinic.bookings.annotate(
        patient_of(context), booking_id, notes, key=context.idempotency_key
    )


def book_appointment(
    child_names: list[str],
    appointment_time: datetime,
    appointment_type: str,
    *,
    clinic: Clinic,
    context: Context,
) -> Data:
    """Book a chair for each child, all or none."""
    booking = clinic.bookings.book(
        patient_of(context),
        child_names,
        appointment_time,
        appointment_type,
        key=context.idempotency_key,
    )
    booking["message"] = f"Booked {in_words(booking)}."
    return booking


def cancel_appointment(
    booking_id: str, reason: str, *, clinic: Clinic, notifier: Notifier, context: Context
) -> Data:
    """Free the visit's chairs, keep it in the history, and text the parent."""
    patient_id = patient_of(context)
    booking = clinic.bookings.cancel(patient_id, booking_id, reason)
    visit = in_words(booking)
    phone = clinic.families.get(patient_id)["phone_number"]
    body = f"{CLINIC_NAME}: your visit {visit} is cancelled. Questions: {CLINIC_PHONE}."
    try:
        notifier.text(phone, body, key=f"{context.idempotency_key}:cancelled")
    except ToolError as error:
        context.note(str(error))
    return {**booking, "message": f"Cancelled {visit}."}


def check_availability(
    date: day_of,
    time_range: str,
    num_children: float,
    child_names: list[str] | None = None,
    *,
    clinic: Clinic,
    context: Context,
) -> list[Data]:
    """Return the times with a free chair for each child, at which no named child sits already."""
    busy = clinic.bookings.busy(patient_of(context), child_names) if child_names else frozenset()
    children = int(num_children)
    found = clinic.calendar.openings(date, time_range, children, busy)
    if not found:
        context.note(clinic.calendar.why_none(date, time_range, children))
    return found


def get_appointment_history(
    child_name: str | None = None, limit: int = 10, *, clinic: Clinic, context: Context
) -> list[Data]:
    """Return the family's visits, the latest first."""
    return clinic.bookings.history(patient_of(context), child_name=child_name, limit=limit)


def reschedule_appointment(
    booking_id: str, new_time: datetime, *, clinic: Clinic, context: Context
) -> Data:
    """Book chairs at the new time and free the old ones, or change nothing."""
    booking = clinic.bookings.reschedule(patient_of(context), booking_id, new_time)
    booking["message"] = f"Moved {in_words(booking)}."
    return booking


def get_appointment(booking_id: str, *, clinic: Clinic, context: Context) -> Data:
    """Return one visit of the family."""
    booking = clinic.bookings.find(patient_of(context), booking_id)
    return {**booking, "summary": in_words(booking)}
