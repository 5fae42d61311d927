"""The clinic's reminders: sent the day before a visit, and not of a cancelled one."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tools_md._clinic.store import Clinic

from toolmd import Workspace
from toolmd.config import load_settings

ROOT = Path(__file__).parents[2]
VISIT = datetime.fromisoformat("2026-03-05T10:30")
DEADLINE_S = 60.0


class Reminders:
    """The workspace of a clinic whose runs have a clock that is put forward."""

    def __init__(self, clinic: Clinic, state: Path) -> None:
        self.clinic = clinic
        self.time = datetime.fromisoformat("2026-03-02T08:00").astimezone()
        self.state = state
        self.workspace = self.opened()
        booked = clinic.bookings.book("P-1001", ["Mia"], VISIT, "exam")
        self.booking = booked["booking_id"]
        asked = {"patientId": "P-1001", "bookingId": self.booking}
        self.waiting = self.workspace.run_sync("remind_of_appointment", asked)
        assert self.waiting.outcome == "waiting", self.waiting

    def opened(self) -> Workspace:
        """Open the project's own files."""
        overrides = {"state": str(self.state), "plugins": [], "store": "sqlite"}
        return Workspace(load_settings(ROOT, overrides=overrides), clock=lambda: self.time)

    def reopen(self) -> None:
        """Restart, as the clinic's computer does at night."""
        self.workspace.close()
        self.workspace = self.opened()

    def until(self) -> list[datetime]:
        """Return the time that the run waits for, if it waits."""
        questions = self.workspace.runs.get_sync(self.waiting.run_id).questions
        return [datetime.fromisoformat(question.until) for question in questions]

    def ended(self) -> str:
        """Return the message of the run once it has ended."""
        assert self.workspace.runs.start_sync()
        ends = time.monotonic() + DEADLINE_S
        while (view := self.workspace.runs.get_sync(self.waiting.run_id)).result is None:
            assert time.monotonic() < ends, view
        return view.result.message


@pytest.fixture
def reminders(clinic: Clinic, monday: None, tmp_path: Path) -> Iterator[Reminders]:
    """A visit on Thursday, and a run that waits to remind of it."""
    made = Reminders(clinic, tmp_path / "state")
    yield made
    made.workspace.close()


def day_before(visit: datetime) -> datetime:
    return (visit - timedelta(days=1)).astimezone(UTC)


def test_the_family_is_reminded_the_day_before_over_a_restart(reminders: Reminders) -> None:
    assert reminders.until() == [day_before(VISIT)]
    assert reminders.clinic.outbox.messages() == []
    reminders.reopen()
    reminders.time = day_before(VISIT)

    assert reminders.ended() == f"The family was reminded of {reminders.booking}."
    (text,) = reminders.clinic.outbox.messages()
    assert "we see Mia on Thursday, March 5 at 10:30 AM" in text["body"]


def test_a_cancelled_visit_is_not_reminded_of(reminders: Reminders) -> None:
    reminders.clinic.bookings.cancel("P-1001", reminders.booking, "Fever")
    reminders.time = day_before(VISIT)

    said = f"Nothing was sent: the visit {reminders.booking} is cancelled."
    assert reminders.ended() == said
    assert reminders.clinic.outbox.messages() == []


def test_a_visit_that_was_moved_is_reminded_of_before_its_new_time(reminders: Reminders) -> None:
    moved = VISIT + timedelta(days=5)
    reminders.clinic.bookings.reschedule("P-1001", reminders.booking, moved)
    reminders.time = day_before(VISIT)
    assert reminders.workspace.runs.start_sync()
    ends = time.monotonic() + DEADLINE_S
    while reminders.until() != [day_before(moved)]:
        assert time.monotonic() < ends
    assert reminders.clinic.outbox.messages() == []
    reminders.time = day_before(moved)

    assert reminders.ended().startswith("The family was reminded")
    assert len(reminders.clinic.outbox.messages()) == 1


def test_a_reminder_is_cancelled_by_its_run(reminders: Reminders) -> None:
    cancelled = reminders.workspace.runs.cancel_sync(reminders.waiting.run_id)
    reminders.time = day_before(VISIT)

    assert cancelled.error.code == "cancelled"
    assert reminders.ended() == "Remind of Appointment was cancelled."
    assert reminders.clinic.outbox.messages() == []


def test_a_reminder_of_no_booking_stops(reminders: Reminders) -> None:
    asked = {"patientId": "P-1001", "bookingId": "A-9999"}
    result = reminders.workspace.run_sync("remind_of_appointment", asked)

    assert result.message == "The family has no booking A-9999."
