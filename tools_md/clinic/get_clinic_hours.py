"""Read the opening hours."""

from .._clinic.records import ClinicHours
from .._clinic.store import Clinic


def get_clinic_hours(*, clinic: Clinic) -> ClinicHours:
    """Return the week, and its exceptions."""
    return clinic.calendar.hours()
