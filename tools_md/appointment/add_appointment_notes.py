"""Write a note on a visit."""

from toolmd import Context

from .._clinic.caller import patient_of
from .._clinic.records import Annotated
from .._clinic.store import Clinic


def add_appointment_notes(
    booking_id: str, notes: str, *, clinic: Clinic, context: Context
) -> Annotated:
    """Add the note, once per request."""
    return clinic.bookings.annotate(
        patient_of(context), booking_id, notes, key=context.idempotency_key
    )
