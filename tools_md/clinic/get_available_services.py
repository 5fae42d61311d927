"""Read the price list."""

from .._clinic.records import Service
from .._clinic.store import Clinic


def get_available_services(*, clinic: Clinic) -> list[Service]:
    """Return the bookable services."""
    return clinic.services()
