"""Look up a day in the appointment book."""

from datetime import date as day_of

from toolmd import Context

from .._clinic.caller import patient_of
from .._clinic.records import Opening
from .._clinic.store import Clinic


def check_availability(
    date: day_of,
    time_range: str,
    num_children: float,
    child_names: list[str] | None = None,
    *,
    clinic: Clinic,
    context: Context,
) -> list[Opening]:
    """Return the times with a free chair for each child, at which no named child sits already."""
    busy = clinic.bookings.busy(patient_of(context), child_names) if child_names else frozenset()
    return clinic.calendar.openings(date, time_range, int(num_children), busy)
