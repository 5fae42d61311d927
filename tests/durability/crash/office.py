"""The clinic on a busy day: families enough, and what each run left in its books."""

import sqlite3
import sys
from collections import Counter
from contextlib import closing
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[3]))

from tools_md._clinic.clock import StoppedClock
from tools_md._clinic.seed import seed
from tools_md._clinic.store import FILE, Clinic

ROOT = Path(__file__).parents[3]
MONDAY = "2026-03-02T08:00"
SKILL = "schedule_appointment"
DAYS = 200
"""Days of work on which the runs are spread: for each hour there are four chairs, and all of the
runs may wait with one in mind."""


class Books(NamedTuple):
    """The entries in the clinic's books, by the run that wrote them."""

    booked: Counter[str]
    texted: Counter[str]


def open_office(state: Path, families: int) -> None:
    """Make the clinic of a state folder, with as many families of one child each."""
    state.mkdir(parents=True, exist_ok=True)
    clinic = Clinic(state / FILE, StoppedClock(datetime.fromisoformat(MONDAY)))
    seed(clinic, date(2026, 3, 2))
    clinic.close()
    numbers = range(families)
    with closing(sqlite3.connect(state / FILE)) as db, db:
        db.executemany(
            "INSERT INTO patient (id, parent_name, phone_number) VALUES (?, ?, ?)",
            [(family(n), f"Parent {n}", phone(n)) for n in numbers],
        )
        db.executemany(
            "INSERT INTO child (patient_id, name, birth_date) VALUES (?, ?, '2018-05-05')",
            [(family(n), f"Kim{n}") for n in numbers],
        )


def family(number: int) -> str:
    """Return the id of a family."""
    return f"P-5{number:04}"


def phone(number: int) -> str:
    """Return the phone number of a family."""
    return f"+1214555{number:04}"


def run_id(number: int) -> str:
    """Return the id of a run."""
    return f"run-{number}"


def inputs(number: int) -> dict[str, Any]:
    """Return the inputs of a run: a separate family and day."""
    weeks, weekday = divmod(number % DAYS, 5)
    day = date(2026, 3, 9) + timedelta(weeks=weeks, days=weekday)
    part = "morning" if number // DAYS % 2 == 0 else "afternoon"
    return {"patientId": family(number), "date": day.isoformat(), "timeRange": part,
            "numChildren": 1, "parentPhone": phone(number)}  # fmt: skip


def books(state: Path) -> Books:
    """Count the active bookings and the texts, by run: keys begin with the run's id."""
    with closing(sqlite3.connect(state / FILE)) as db:
        booked = db.execute(
            "SELECT idempotency_key FROM appointment WHERE status = 'booked' "
            "AND idempotency_key LIKE 'run-%'"
        ).fetchall()
        texted = db.execute("SELECT idempotency_key FROM message").fetchall()
    return Books(*(Counter(str(key).split("/")[0] for (key,) in rows) for rows in (booked, texted)))
