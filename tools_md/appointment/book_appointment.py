"""Book a visit in the appointment book."""

from datetime import datetime

from toolmd import Context

from .._clinic.caller import patient_of
from .._clinic.records import Booking
from .._clinic.store import Clinic
from .._clinic.visits import in_words


def book_appointment(
    child_names: list[str],
    appointment_time: datetime,
    appointment_type: str,
    *,
    clinic: Clinic,
    context: Context,
) -> Booking:
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
