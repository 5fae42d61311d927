"""The book stays consistent after bookings, moves and cancellations in any order."""

import shutil
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tools_md._clinic.clock import StoppedClock
from tools_md._clinic.seed import FAMILIES
from tools_md._clinic.store import Clinic

from toolmd import ToolError

NOW = datetime.fromisoformat("2026-03-02T08:00")
TIMES = [datetime.fromisoformat(f"2026-03-04T09:{minute:02d}") for minute in (0, 15, 30)]
CHILDREN = {patient_id: [name for name, *_ in those] for patient_id, *_, those in FAMILIES}

families = st.sampled_from(sorted(CHILDREN))
acts = st.one_of(
    st.tuples(
        st.just("book"),
        families,
        st.integers(1, 4),
        st.sampled_from(TIMES),
        st.sampled_from(["a", "b", None]),
    ),
    st.tuples(st.just("move"), st.integers(0, 9), st.sampled_from(TIMES)),
    st.tuples(st.just("cancel"), st.integers(0, 9)),
)


def act(clinic, made, doing, *what):
    if doing == "book":
        family, count, at, key = what
        names = CHILDREN[family][:count]
        booking = clinic.bookings.book(family, names, at, "exam", key=key)
        made.append((family, booking["booking_id"]))
    elif made:
        family, number = made[what[0] % len(made)]
        if doing == "move":
            clinic.bookings.reschedule(family, number, what[1])
        else:
            clinic.bookings.cancel(family, number, "Changed plans")


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(acts, max_size=12))
def test_every_visit_that_stands_has_a_chair_for_each_child_and_no_other(seeded, steps):
    with TemporaryDirectory() as folder:
        clinic = Clinic(Path(shutil.copy(seeded, folder)), StoppedClock(NOW))
        made = []
        for doing, *what in steps:
            with suppress(ToolError):
                act(clinic, made, doing, *what)
            assert_whole(clinic)
        clinic.close()


def assert_whole(clinic):
    with clinic.database.reading() as db:
        due = db.execute(
            "SELECT starts_at, appointment_id, child_id FROM appointment_child "
            "JOIN appointment ON appointment.id = appointment_id WHERE status = 'booked'"
        ).fetchall()
        waiters = db.execute("SELECT starts_at, appointment_id, child_id FROM seat").fetchall()
        assert sorted(map(tuple, due)) == sorted(map(tuple, waiters))
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        most = db.execute("SELECT max(n) FROM (SELECT count(*) n FROM seat GROUP BY starts_at)")
        assert most.fetchone()[0] <= 4
