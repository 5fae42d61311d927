"""Read the opening hours."""

from .._clinic.records import ClinicHours
from .._clinic.store import Clinic


def get_clinic_hours(*, clinic: Clinic) -> ClinicHours:
    """Give the week, and the days that deviate from it."""
    return clinic.calendar.hours()
