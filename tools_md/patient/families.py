"""Read and write a family's file."""

from datetime import date

from toolmd import Context

from .._clinic.clock import Data
from .._clinic.families import patient_of
from .._clinic.store import Clinic


def get_patient_info(*, clinic: Clinic, context: Context) -> Data:
    """Return the family of the caller's context."""
    return clinic.families.get(patient_of(context))


def register_family(
    parent_name: str,
    phone_number: str,
    children: list[Data],
    insurance_provider: str | None = None,
    member_id: str | None = None,
    *,
    clinic: Clinic,
) -> Data:
    """Add a family and return its file."""
    insurance = (insurance_provider, member_id or "") if insurance_provider else None
    family = clinic.families.register(parent_name, phone_number, children, insurance)
    return {**family, "message": f"The family of {parent_name} is {family['patient_id']}."}


def add_child(
    name: str, birth_date: date, allergies: str = "", *, clinic: Clinic, context: Context
) -> Data:
    """Add a child to the caller's family and return its file."""
    child = {"name": name, "birth_date": birth_date.isoformat(), "allergies": allergies}
    family = clinic.families.add_child(patient_of(context), child)
    return {**family, "message": f"{name} is on file."}
