"""Answer questions about the clinic itself."""

from datetime import date

from toolmd import nonblocking

from .._clinic.clock import Data
from .._clinic.outbox import CLINIC_PHONE
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
    return {
        "address": "412 Jefferson Avenue, Suite 2, Fairview, TX 75069",
        "phone_number": CLINIC_PHONE,
        "by_car": (
            "Leave Highway 5 at exit 38 and drive east on Jefferson Avenue for half a mile. "
            "The clinic is on the right, behind the library."
        ),
        "by_transit": (
            "Bus 12 to Jefferson and Third, then two minutes on foot, toward the library."
        ),
        "parking": (
            "Free in the garage on Third Street for two hours; bring the ticket to the desk."
        ),
        "accessibility": ("There is a ramp at the side door and an elevator to the second floor."),
    }


def get_day_book(day: date | None = None, *, clinic: Clinic) -> list[Data]:
    """Return who comes on a day, the earliest first."""
    return clinic.bookings.day(day or clinic.clock.today())
