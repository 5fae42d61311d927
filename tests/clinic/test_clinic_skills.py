"""The clinic's skills, run from end to end over the project's own files."""

import asyncio
import shutil
from datetime import date, datetime
from pathlib import Path

import pytest
from tools_md._clinic.insurer import ELIGIBILITY_URL

from toolmd import Workspace

ROOT = Path(__file__).parents[2]
WEDNESDAY, THURSDAY, FRIDAY = "2026-03-04", "2026-03-05", "2026-03-06"
TEXT = (
    "your visit is booked, 8:00 AM on 2026-03-04 for Leo and Mia. "
    "To change it call +1 214 555 0100."
)

RIVERA = {
    "patientId": "P-1001",
    "date": WEDNESDAY,
    "timeRange": "morning",
    "numChildren": 2,
    "parentPhone": "+1 214 555 0142",
}


def yes(question):
    return True


def no(question):
    return False


def upcoming(clinic, patient="P-1001"):
    visits = clinic.bookings.history(patient, limit=50)
    return [(v["datetime"], v["child_names"]) for v in visits if v["status"] == "booked"]


def project_with(tmp_path, name):
    """Open a copy of the clinic's project that has one more skill."""
    folder = tmp_path / "project"
    skip = shutil.ignore_patterns("__pycache__")
    for part in ("tools_md", "skills_md"):
        shutil.copytree(ROOT / part, folder / part, ignore=skip)
    (folder / "toolmd.toml").write_text('tools = ["tools_md"]\nskills = ["skills_md"]\n')
    shutil.copy(Path(__file__).parent / "skills" / name, folder / "skills_md" / name)
    return Workspace.open(folder, overrides={"state": str(tmp_path / "state"), "plugins": []})


def test_the_skill_books_the_earliest_time_and_texts_the_parent(workspace, clinic):
    result = workspace.run_sync("schedule_appointment", RIVERA, ask=yes)
    assert result.success, result
    assert result.data == {
        "appointmentId": "A-1012",
        "datetime": f"{WEDNESDAY}T08:00:00",
        "time": "8:00 AM",
        "childNames": ["Leo", "Mia"],
    }
    assert (f"{WEDNESDAY}T08:00:00", ["Mia", "Leo"]) in upcoming(clinic)
    assert [(m["phone_number"], m["body"]) for m in clinic.outbox.messages()] == [
        ("+12145550142", f"Jefferson Dental: {TEXT}")
    ]


def test_a_run_whose_record_is_lost_books_and_texts_nothing_more(workspace, clinic, tmp_path):
    first = workspace.run_sync("schedule_appointment", RIVERA, ask=yes, run_id="run-7")
    booked = upcoming(clinic)
    # A workspace that knows nothing of the run, as after the loss of its record.
    settings = {"state": str(tmp_path / "state"), "plugins": [], "store": "memory"}
    with Workspace.open(ROOT, overrides=settings) as other:
        again = other.run_sync("schedule_appointment", RIVERA, ask=yes, run_id="run-7")
    # The children sit at the first time now, and the run's key belongs to that booking.
    assert (first.success, again.success) == (True, False)
    assert upcoming(clinic) == booked
    assert len(clinic.outbox.messages()) == 1


def test_one_child_of_two_is_the_one_who_has_waited_longer(workspace):
    result = workspace.run_sync("schedule_appointment", {**RIVERA, "numChildren": 1}, ask=yes)
    assert result.data["childNames"] == ["Leo"]


def test_a_parent_who_says_no_gets_no_booking_and_no_text(workspace, clinic):
    before = upcoming(clinic)
    result = workspace.run_sync("schedule_appointment", RIVERA, ask=no)
    assert not result.success
    assert result.message == "Nothing was booked."
    assert upcoming(clinic) == before
    assert clinic.outbox.messages() == []


def test_more_children_than_are_on_file_are_not_booked(workspace):
    result = workspace.run_sync("schedule_appointment", {**RIVERA, "numChildren": 3}, ask=yes)
    assert not result.success
    assert result.message == "The file of Elena Rivera has 2 children, not 3."


def test_a_full_evening_names_three_days_with_room(workspace, clinic):
    before = upcoming(clinic)
    asked = {**RIVERA, "date": THURSDAY, "timeRange": "evening"}
    result = workspace.run_sync("schedule_appointment", asked, ask=yes)
    assert not result.success
    assert result.message == (
        "No slots in the evening of 2026-03-05. Days with room: 2026-03-09, 2026-03-10, 2026-03-11."
    )
    assert upcoming(clinic) == before


def test_a_full_evening_with_one_other_day_names_that_day(workspace, clinic):
    for day in (9, 10, 11):
        clinic.calendar.close_day(date(2026, 3, day), "Flood")
    asked = {**RIVERA, "date": THURSDAY, "timeRange": "evening"}
    result = workspace.run_sync("schedule_appointment", asked, ask=yes)
    assert result.message.endswith("Days with room: 2026-03-12.")


def test_a_week_without_room_says_so(workspace, clinic):
    for day in range(6, 14):
        clinic.calendar.close_day(date(2026, 3, day), "Flood")
    asked = {**RIVERA, "date": FRIDAY}
    result = workspace.run_sync("schedule_appointment", asked, ask=yes)
    assert result.message == (
        "No slots in the morning of 2026-03-06, nor on the seven days after it."
    )


def test_a_text_that_can_not_be_sent_does_not_undo_the_booking(workspace, clinic):
    result = workspace.run_sync("schedule_appointment", {**RIVERA, "parentPhone": "?"}, ask=yes)
    assert result.success
    assert clinic.outbox.messages() == []
    assert result.message == "Schedule Appointment: done. Not done: Text the parent."
    (note,) = result.notes
    assert note.startswith("Step 8 (Text the parent) failed: ")
    view = workspace.runs.get_sync(result.run_id)
    assert view.result.notes == result.notes


def test_a_second_run_takes_the_next_time_at_which_the_children_do_not_sit(workspace, clinic):
    first = workspace.run_sync("schedule_appointment", RIVERA, ask=yes)
    second = workspace.run_sync("schedule_appointment", RIVERA, ask=yes)
    times = [result.data["datetime"] for result in (first, second)]
    assert times == [f"{WEDNESDAY}T08:00:00", f"{WEDNESDAY}T08:30:00"]


def test_a_time_that_somebody_else_takes_meanwhile_is_replaced_by_the_second_best(
    workspace, clinic
):
    asked = []

    def ask(question):
        asked.append(question.prompt)
        if len(asked) == 1:
            eight = datetime.fromisoformat(f"{WEDNESDAY}T08:00")
            clinic.bookings.book("P-1004", ["Anh", "Bao", "Chau"], eight, "exam")
        return True

    result = workspace.run_sync("schedule_appointment", RIVERA, ask=ask)
    assert result.success, result
    assert result.data["time"] == "8:30 AM"
    assert result.notes == ()
    assert asked[1].startswith("That time was taken meanwhile. Book exam at 8:30 AM")
    (text,) = clinic.outbox.messages()
    assert "8:30 AM" in text["body"]


def test_a_booking_that_fails_for_another_reason_is_not_tried_again(workspace, clinic):
    with clinic.database.writing() as db:
        db.execute(
            "CREATE TRIGGER broken BEFORE INSERT ON appointment "
            "BEGIN SELECT RAISE(ABORT, 'broken'); END"
        )
    result = workspace.run_sync("schedule_appointment", RIVERA, ask=yes)
    assert result.message == "8:00 AM on 2026-03-04 is free and could not be booked."


def test_an_unknown_family_is_reported(workspace):
    result = workspace.run_sync("schedule_appointment", {**RIVERA, "patientId": "P-9999"}, ask=yes)
    assert not result.success
    assert "P-9999" in result.message


def test_an_insured_visit_is_booked_with_its_plan_noted(workspace, clinic, monkeypatch, insurer):
    monkeypatch.setenv(ELIGIBILITY_URL, insurer.url)
    result = workspace.run_sync("schedule_insured_visit", RIVERA, ask=yes)
    assert result.success, result
    assert result.data == {
        "appointmentId": "A-1012",
        "time": "8:00 AM",
        "childNames": ["Leo", "Mia"],
        "plan": "Family Plus",
        "copayUsd": 15,
        "bring": ["Your insurance card", "A list of medicines the child takes"],
    }
    visit = next(
        v
        for v in clinic.bookings.history("P-1001", limit=50)
        if v["booking_id"] == result.data["appointmentId"]
    )
    assert visit["notes"] == ["Lone Star Dental, plan Family Plus, copay 15 USD a child."]


@pytest.mark.parametrize(
    ("patient", "said"),
    [
        ("P-1003", "No insurance is on file for Ingrid Lindqvist."),
        ("P-1005", "The policy ended on 2020-06-30."),
    ],
)
def test_a_family_without_cover_is_not_booked(
    workspace, clinic, monkeypatch, insurer, patient, said
):
    before = upcoming(clinic, patient)
    monkeypatch.setenv(ELIGIBILITY_URL, insurer.url)
    asked = {**RIVERA, "patientId": patient, "numChildren": 1}
    result = workspace.run_sync("schedule_insured_visit", asked, ask=yes)
    assert not result.success
    assert said in result.message
    assert upcoming(clinic, patient) == before


def test_without_an_insurer_to_ask_nothing_is_booked(workspace, clinic, monkeypatch):
    monkeypatch.setenv(ELIGIBILITY_URL, "http://127.0.0.1:1")
    before = upcoming(clinic)
    result = workspace.run_sync("schedule_insured_visit", RIVERA, ask=yes)
    assert result.message == "The insurer can't be asked right now, so nothing was booked."
    assert upcoming(clinic) == before


MOVE = {
    "patientId": "P-1001",
    "bookingId": "",
    "days": [FRIDAY, "2026-03-10"],
    "timeRange": "morning",
    "parentPhone": "+1 214 555 0142",
}


def test_a_visit_moves_to_the_first_day_with_room_near_its_old_hour(workspace, clinic):
    at = datetime.fromisoformat(f"{WEDNESDAY}T10:30")
    number = clinic.bookings.book("P-1001", ["Mia"], at, "exam")["booking_id"]
    result = workspace.run_sync("move_appointment", {**MOVE, "bookingId": number}, ask=yes)
    assert result.success, result
    assert result.message == "Moved to 10:30 AM on 2026-03-10 for Mia."
    assert result.data["appointmentId"] == number
    assert len(clinic.outbox.messages()) == 1


def test_a_visit_without_another_day_stays(workspace, clinic):
    at = datetime.fromisoformat(f"{WEDNESDAY}T10:30")
    number = clinic.bookings.book("P-1001", ["Mia"], at, "exam")["booking_id"]
    asked = {**MOVE, "bookingId": number, "days": [FRIDAY]}
    result = workspace.run_sync("move_appointment", asked, ask=yes)
    assert not result.success
    assert result.message == (
        "No room in the morning of 2026-03-06. The visit stays at 10:30 AM on 2026-03-04."
    )


def test_a_visit_of_another_family_does_not_move(workspace, clinic):
    at = datetime.fromisoformat(f"{WEDNESDAY}T10:30")
    number = clinic.bookings.book("P-1002", ["Ada"], at, "exam")["booking_id"]
    result = workspace.run_sync("move_appointment", {**MOVE, "bookingId": number}, ask=yes)
    assert result.message == f"No visit {number} lies ahead. Nothing was moved."


def test_racing_runs_book_each_chair_once(workspace, clinic):
    families = ["P-1001", "P-1002", "P-1003", "P-1004", "P-1005", "P-1006"]

    async def run(patient):
        asked = {**RIVERA, "patientId": patient, "numChildren": 1}
        return await workspace.run("schedule_appointment", asked, ask=yes)

    async def race():
        return await asyncio.gather(*(run(patient) for patient in families))

    results = asyncio.run(race())
    booked = [r for r in results if r.success]
    for result in results:
        assert result.success or "Ask check_availability" in result.message
    assert len(booked) >= 4
    with clinic.database.reading() as db:
        waiters = [tuple(row) for row in db.execute("SELECT starts_at, chair FROM seat")]
    assert len(waiters) == len(set(waiters))


def test_a_booking_is_undone_when_a_later_step_fails(monday, clinic, tmp_path):
    with project_with(tmp_path, "book-and-fail.skill.md") as workspace:
        assert workspace.diagnostics == ()
        result = workspace.run_sync("book_and_fail", {"patientId": "P-1001"}, ask=yes)
    assert not result.success
    assert "No slot begins" in result.message
    visit = next(
        v
        for v in clinic.bookings.history("P-1001", limit=50)
        if v["datetime"] == f"{WEDNESDAY}T09:00:00"
    )
    assert (visit["status"], visit["cancel_reason"]) == ("cancelled", "A later step failed")
    free = clinic.calendar.openings(date.fromisoformat(WEDNESDAY), "morning", 4)
    assert f"{WEDNESDAY}T09:00:00" in [opening["datetime"] for opening in free]


def test_the_formats_own_example_runs_on_the_clinics_tools(monday, clinic, tmp_path):
    asked = []

    def agree(question):
        asked.append(getattr(question, "prompt", question))
        return True

    with project_with(tmp_path, "schedule-visit.skill.md") as workspace:
        assert workspace.diagnostics == ()
        booked = workspace.run_sync("schedule_visit", RIVERA, ask=agree)
        full = workspace.run_sync(
            "schedule_visit", {**RIVERA, "date": THURSDAY, "timeRange": "evening"}, ask=agree
        )
    assert booked.success, booked
    (prompt,) = asked
    assert prompt == (
        "Book 8:00 AM on 2026-03-04 for Leo and Mia? I'd like to book appointment: child_names: "
        "Leo,Mia, appointment_time: 2026-03-04T08:00:00, appointment_type: exam. Is this correct?"
    )
    assert full.message == (
        "No slots on 2026-03-05. Days with room: 2026-03-09, 2026-03-10, 2026-03-11, 2026-03-12."
    )
