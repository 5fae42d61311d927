"""Return how to prepare for a visit."""

from .._clinic.records import Preparation
from .._clinic.store import Clinic


def get_appointment_preparation(appointment_type: str, *, clinic: Clinic) -> Preparation:
    """Return how to prepare for a visit of this type, and what to bring."""
    return clinic.preparation(appointment_type)
