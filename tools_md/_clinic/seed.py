"""Fill the clinic with demonstration families and a partly full book."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Final, NamedTuple

from toolmd import ToolError

from .bookings import Bookings
from .clock import StoppedClock
from .store import Clinic

THURSDAY: Final = 3
FRIDAY: Final = 4

FAMILIES: Final = (
    ("P-1001", "Elena Rivera", "+12145550142", ("Lone Star Dental", "LSD-204418"),
     (("Mia", "2015-04-12", ""), ("Leo", "2018-09-30", "Penicillin"))),
    ("P-1002", "Samuel Okafor", "+12145550117", ("Bluebonnet Health", "BBH-55-1290"),
     (("Ada", "2013-01-22", ""), ("Chidi", "2016-07-08", "Latex"), ("Zora", "2020-11-03", ""))),
    ("P-1003", "Ingrid Lindqvist", "+12145550163", (None, None), (("Nils", "2017-02-14", ""),)),
    ("P-1004", "Huong Nguyen", "+12145550128", ("Lone Star Dental", "LSD-310077"),
     (("Anh", "2012-05-19", ""), ("Bao", "2014-08-25", ""), ("Chau", "2016-12-01", "Nuts"),
      ("Duc", "2019-03-17", ""))),
    ("P-1005", "Maryam Haddad", "+12145550139", ("Bluebonnet Health", "BBH-55-0083"),
     (("Noor", "2014-10-10", ""), ("Sami", "2017-06-21", "Ibuprofen"))),
    ("P-1006", "Grace Brooks", "+12145550171", (None, None),
     (("Ellis", "2013-09-09", ""), ("June", "2015-11-27", ""), ("Theo", "2018-01-05", ""),
      ("Wren", "2021-06-13", ""))),
)  # fmt: skip
"""The demonstration families: id, parent, a fictitious number, the insurer and member as
`insurer.POLICIES` has them, and the children with birth date and allergies."""

LONG_AGO: Final = timedelta(days=300)
"""The demonstration visits are booked as of this time: the earliest are in the past today."""


class Seeded(NamedTuple):
    """The additions of a seeding, and the days on which a booking meets a difficulty."""

    families: int
    visits: int
    full_evening: date
    """A Thursday with a fully booked evening."""
    closed_day: date
    """A Friday on which the clinic is closed."""


class _Visit(NamedTuple):
    key: str
    patient_id: str
    child_names: list[str]
    starts_at: datetime
    appointment_type: str
    note: str = ""


def seed(clinic: Clinic, today: date) -> Seeded:
    """Add the demonstration data as of `today`; existing data stays unchanged."""
    full_evening, closed_day = _coming(today, THURSDAY), _coming(today, FRIDAY)
    families = _add_families(clinic)
    clinic.calendar.close_day(closed_day, "Staff training")
    then = StoppedClock(datetime.combine(today - LONG_AGO, time(6)))
    bookings = Bookings(clinic.database, then)
    visits = [*_past_visits(today), *_full_evening(full_evening)]
    added = sum(_add_visit(clinic, bookings, visit) for visit in visits)
    return Seeded(families, added, full_evening, closed_day)


def _add_families(clinic: Clinic) -> int:
    added = 0
    with clinic.database.writing() as db:
        for patient_id, parent, phone, insurance, children in FAMILIES:
            family = (patient_id, parent, phone, *insurance)
            query = "INSERT OR IGNORE INTO patient VALUES (?, ?, ?, ?, ?)"
            added += db.execute(query, family).rowcount
            db.executemany(
                "INSERT INTO child (patient_id, name, birth_date, allergies) "
                "VALUES (?, ?, ?, ?) ON CONFLICT (patient_id, name) DO NOTHING",
                [(patient_id, *child) for child in children],
            )
    return added


def _add_visit(clinic: Clinic, bookings: Bookings, visit: _Visit) -> bool:
    with clinic.database.reading() as db:
        query = "SELECT 1 FROM appointment WHERE idempotency_key = ?"
        if db.execute(query, (visit.key,)).fetchone():
            return False
    try:
        booking = bookings.book(*visit[1:5], key=visit.key)
    except ToolError:
        # These chairs were booked meanwhile; real bookings have priority.
        return False
    if visit.note:
        bookings.annotate(visit.patient_id, booking["booking_id"], visit.note, key=visit.key)
    return True


def _past_visits(today: date) -> Iterator[_Visit]:
    for key, patient_id, names, days, kind, note in (
        ("1", "P-1001", ["Mia"], 205, "exam_and_cleaning", "Sealant on a molar; check it next."),
        ("2", "P-1001", ["Leo"], 240, "cleaning", ""),
        ("3", "P-1002", ["Ada", "Chidi"], 190, "exam", "Chidi: gloves without latex."),
        ("4", "P-1004", ["Anh", "Bao", "Chau"], 215, "cleaning", ""),
        ("5", "P-1005", ["Noor"], 120, "emergency", "Chipped front tooth, smoothed."),
    ):
        day = today - timedelta(days=days)
        # A weekend moves back to its Friday.
        day -= timedelta(days=max(0, day.weekday() - FRIDAY))
        yield _Visit(
            f"seed:past:{key}", patient_id, names, datetime.combine(day, time(9)), kind, note
        )


def _full_evening(day: date) -> Iterator[_Visit]:
    children = {patient_id: [name for name, *_ in those] for patient_id, *_, those in FAMILIES}
    for start, patients in (
        (time(17), ["P-1004"]),
        (time(17, 30), ["P-1001", "P-1005"]),
        (time(18), ["P-1002", "P-1003"]),
        (time(18, 30), ["P-1006"]),
    ):
        for patient in patients:
            key, at = f"seed:evening:{day}:{patient}", datetime.combine(day, start)
            yield _Visit(key, patient, children[patient], at, "cleaning")


def _coming(today: date, weekday: int) -> date:
    """Return the first such weekday that is at least two days away."""
    soonest = today + timedelta(days=2)
    return soonest + timedelta(days=(weekday - soonest.weekday()) % 7)
