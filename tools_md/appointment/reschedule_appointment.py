"""Move a visit in the appointment book."""

from datetime import datetime

from toolmd import Context

from .._clinic.caller import patient_of
from .._clinic.records import Booking
from .._clinic.store import Clinic
from .._clinic.visits import in_words


def reschedule_appointment(
    booking_id: str, new_time: datetime, *, clinic: Clinic, context: Context
) -> Booking:
    """Book chairs at the new time and free the old ones, or change nothing."""
    booking = clinic.bookings.reschedule(patient_of(context), booking_id, new_time)
    booking["message"] = f"Moved {in_words(booking)}."
    return booking
