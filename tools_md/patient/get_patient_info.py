"""Read a family's file."""

from toolmd import Context

from .._clinic.caller import patient_of
from .._clinic.records import Family
from .._clinic.store import Clinic


def get_patient_info(*, clinic: Clinic, context: Context) -> Family:
    """Return the family of the caller's context."""
    return clinic.families.get(patient_of(context))
