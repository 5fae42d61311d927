"""Read a family's visits."""

from toolmd import Context

from .._clinic.caller import patient_of
from .._clinic.records import Visit
from .._clinic.store import Clinic


def get_appointment_history(
    child_name: str | None = None, limit: int = 10, *, clinic: Clinic, context: Context
) -> list[Visit]:
    """Return the family's visits, the latest first."""
    return clinic.bookings.history(patient_of(context), child_name=child_name, limit=limit)
