"""Look up a day in the appointment book."""

from datetime import date as day_of

from .._clinic.records import Opening
from .._clinic.store import Clinic


def check_availability(
    date: day_of, time_range: str, num_children: float, *, clinic: Clinic
) -> list[Opening]:
    """Return the times with a free chair for each child."""
    return clinic.calendar.openings(date, time_range, int(num_children))
