"""Cancel a visit in the appointment book."""

from toolmd import Context

from .._clinic.caller import patient_of
from .._clinic.records import Booking
from .._clinic.store import Clinic
from .._clinic.visits import in_words


def cancel_appointment(
    booking_id: str, reason: str, *, clinic: Clinic, context: Context
) -> Booking:
    """Free the visit's chairs and keep it in the history."""
    booking = clinic.bookings.cancel(patient_of(context), booking_id, reason)
    booking["message"] = f"Cancelled {in_words(booking)}."
    return booking
