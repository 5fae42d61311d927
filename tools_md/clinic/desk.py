"""Answer questions about the clinic itself."""

from datetime import date

from toolmd import nonblocking

from .._clinic.clock import Data
from .._clinic.facts import DIRECTIONS
from .._clinic.store import Clinic


def get_appointment_preparation(appointment_type: str, *, clinic: Clinic) -> Data:
    """Return how to prepare for a visit of this type, and what to bring."""
    return clinic.preparation(appointment_type)


def get_available_services(*, clinic: Clinic) -> list[Data]:
    """Return the bookable services."""
    return clinic.services()


def get_clinic_hours(*, clinic: Clinic) -> Data:
    """Return the week, and its exceptions."""
    return clinic.calendar.hours()


@nonblocking
def get_directions() -> dict[str, str]:
    """Return the address and the directions."""
    return dict(DIRECTIONS)


def get_day_book(day: date | None = None, *, clinic: Clinic) -> list[Data]:
    """Return who comes on a day, the earliest first."""
    return clinic.bookings.day(day or clinic.clock.today())
