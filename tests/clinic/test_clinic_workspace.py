"""The clinic's tools from end to end: the project's own files, opened and called."""

from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest
from tools_md._clinic.store import FILE

from toolmd import Workspace

ROOT = Path(__file__).parents[2]
WEDNESDAY = "2026-03-04"


def agreed(workspace, name, arguments, **context):
    """Call a tool and say yes where a person is asked."""
    result = workspace.call_sync(name, arguments, context={"patient": "P-1001"}, **context)
    if result.outcome == "confirm":
        result = workspace.confirmations.approve_sync(result.confirmation.id)
    return result


def test_the_clinics_files_have_no_findings(workspace):
    assert workspace.diagnostics == ()
    assert len(workspace.tools) == 18
    assert sorted(workspace.skills) == [
        "move_appointment",
        "remind_of_appointment",
        "schedule_appointment",
        "schedule_insured_visit",
    ]


def test_checking_the_files_creates_no_database(tmp_path):
    with Workspace.open(
        ROOT, overrides={"state": str(tmp_path / "state"), "plugins": []}
    ) as opened:
        assert opened.diagnostics == ()
    assert not (tmp_path / "state" / FILE).exists()


READING = [
    ("check_availability", {"date": WEDNESDAY, "time_range": "morning", "num_children": 2}),
    ("get_patient_info", {}),
    ("get_appointment_history", {}),
    ("get_appointment_history", {"child_name": "Leo", "limit": 1}),
    ("get_clinic_hours", {}),
    ("get_directions", {}),
    ("get_available_services", {}),
    ("get_appointment_preparation", {"appointment_type": "emergency"}),
]


@pytest.mark.parametrize(("name", "arguments"), READING)
def test_a_question_is_answered_as_the_file_says(workspace, name, arguments):
    result = workspace.call_sync(name, arguments, context={"patient": "P-1001"})
    assert result.outcome == "ok"
    assert result.notes == ()


def test_a_visit_is_booked_moved_annotated_and_cancelled(workspace):
    booked = agreed(
        workspace,
        "book_appointment",
        {
            "child_names": ["Mia", "Leo"],
            "appointment_time": f"{WEDNESDAY}T09:00:00",
            "appointment_type": "exam",
        },
    )
    number = booked.data["booking_id"]
    moved = agreed(
        workspace,
        "reschedule_appointment",
        {"booking_id": number, "new_time": f"{WEDNESDAY}T10:30:00"},
    )
    noted = agreed(workspace, "add_appointment_notes", {"booking_id": number, "notes": "Shy."})
    reminded = agreed(workspace, "send_appointment_reminder", {"booking_id": number})
    gone = agreed(workspace, "cancel_appointment", {"booking_id": number, "reason": "Fever"})
    for result in (booked, moved, noted, reminded, gone):
        assert result.outcome == "ok"
        assert result.notes == ()
        assert result.message
    assert moved.data["time"] == "10:30 AM"
    assert gone.data["status"] == "cancelled"


@pytest.mark.parametrize("module", ["bookings.py", "store.py", "insurer.py"])
def test_a_booking_that_waits_is_asked_again_once_the_clinics_code_was_edited(
    clinic, monday, tmp_path, module
):
    copytree(ROOT / "tools_md", tmp_path / "tools_md", ignore=ignore_patterns("__pycache__"))
    overrides = {"state": str(tmp_path / "state"), "plugins": []}
    edited = tmp_path / "tools_md/_clinic" / module
    visit = {"child_names": ["Mia"], "appointment_time": f"{WEDNESDAY}T09:00:00"}
    with Workspace.open(tmp_path, overrides=overrides) as ws:
        arguments = visit | {"appointment_type": "exam"}
        held = ws.call_sync(
            "book_appointment", arguments, context={"patient": "P-1001"}
        ).confirmation.id

        edited.write_text(edited.read_text() + "\n# edited\n")
        ws.reload()
        stale = ws.confirmations.approve_sync(held)

        assert (stale.outcome, stale.error.code) == ("confirm", "confirmation_stale")
        assert ws.confirmations.approve_sync(stale.confirmation.id).outcome == "ok"


@pytest.mark.parametrize(
    ("time", "outcome", "code"),
    [
        ("tomorrow", "denied", "invalid_arguments"),
        ("2026-03-04T09:00:00Z", "failed", "time_with_offset"),
        ("2026-03-04T12:00:00", "failed", "slot_not_offered"),
        ("2026-03-05T17:00:00", "failed", "slot_taken"),
    ],
)
def test_an_impossible_booking_fails_with_a_code(workspace, time, outcome, code):
    result = agreed(
        workspace,
        "book_appointment",
        {"child_names": ["Mia"], "appointment_time": time, "appointment_type": "exam"},
    )
    assert (result.outcome, result.error.code) == (outcome, code)


def test_no_family_is_named_by_arguments(workspace):
    denied = workspace.call_sync("get_patient_info", {})
    assert denied.error.code == "context_required"
    named = workspace.call_sync(
        "get_patient_info", {"patient_id": "P-1002"}, context={"patient": "P-1001"}
    )
    assert named.error.code == "invalid_arguments"


DESK = {"user": "kim", "roles": ["desk"]}


def test_a_cancellation_asks_by_the_visits_own_words(workspace):
    visit = {"child_names": ["Leo"], "appointment_time": f"{WEDNESDAY}T09:00:00"}
    number = agreed(workspace, "book_appointment", visit | {"appointment_type": "exam"}).data[
        "booking_id"
    ]
    asked = workspace.call_sync(
        "cancel_appointment", {"booking_id": number, "reason": "ill"}, context={"patient": "P-1001"}
    )
    assert asked.confirmation.prompt.startswith(
        f'Cancel "{number}: 9:00 AM on 2026-03-04 for Leo"? I\'d like to cancel appointment: '
    )


@pytest.mark.parametrize(
    ("day", "part", "children", "reason"),
    [
        ("2026-03-06", "morning", 1, "The clinic is closed on 2026-03-06: Staff training."),
        ("2026-03-08", "morning", 1, "The clinic is closed on Sundays."),
        ("2026-03-07", "evening", 1, "The clinic is closed in the evening on Saturdays."),
        ("2026-03-05", "evening", 3, "No time to come in the evening of 2026-03-05 has 3 chairs"),
    ],
)
def test_a_day_without_a_time_says_why(workspace, day, part, children, reason):
    asked = {"date": day, "time_range": part, "num_children": children}
    result = workspace.call_sync("check_availability", asked, context={"patient": "P-1001"})
    assert result.data == []
    assert result.notes[0].startswith(reason)


def test_the_desk_reads_the_day_and_nobody_else(workspace):
    thursday = {"day": "2026-03-05"}
    book = workspace.call_sync("get_day_book", thursday, **DESK).data
    assert [one["time"] for one in book][:2] == ["5:00 PM", "5:30 PM"]
    assert book[0]["parent_name"] == "Huong Nguyen"
    assert book[0]["allergies"] == "Chau: Nuts"
    assert workspace.call_sync("get_day_book", {}, **DESK).data == []
    parent = workspace.call_sync(
        "get_day_book", thursday, user="eve", context={"patient": "P-1001"}
    )
    assert parent.error.code == "not_allowed"


def test_a_new_family_and_a_new_child_can_book(workspace):
    family = {
        "parent_name": "Rosa Marin",
        "phone_number": "+12145550199",
        "children": [{"name": "Iris", "birth_date": "2019-02-03", "allergies": "Nuts"}],
    }
    for _ in range(2):
        asked = workspace.call_sync("register_family", family, **DESK).confirmation
        added = workspace.confirmations.approve_sync(asked.id, user="kim", roles=["desk"])
        assert added.data["patient_id"] == "P-1007"
    of = {"context": {"patient": "P-1007"}, "user": "rosa"}
    child = {"name": "Otto", "birth_date": "2021-05-06"}
    asked = workspace.call_sync("add_child", child, **of).confirmation
    known = workspace.confirmations.approve_sync(asked.id, user="rosa").data["children"]
    assert [(one["name"], one["allergies"]) for one in known] == [("Iris", "Nuts"), ("Otto", "")]


def test_a_clinic_without_families_names_the_command_that_adds_them(monday, tmp_path):
    with Workspace.open(ROOT, overrides={"state": str(tmp_path / "new"), "plugins": []}) as opened:
        result = opened.call_sync("get_patient_info", {}, context={"patient": "P-1001"})
    assert result.error.code == "no_families"
    assert "`toolmd clinic seed`" in result.error.message


def test_the_skill_takes_the_children_and_the_treatment_that_a_parent_names(workspace):
    inputs = {
        "patientId": "P-1001", "date": WEDNESDAY, "timeRange": "morning", "numChildren": 1,
        "parentPhone": "+1 214 555 0142", "childNames": ["Mia"], "appointmentType": "cleaning",
    }  # fmt: skip
    asked = []

    def agree(question):
        asked.append(getattr(question, "prompt", question))
        return True

    done = workspace.run_sync("schedule_appointment", inputs, ask=agree)
    assert done.data["childNames"] == ["Mia"]
    assert asked[0].startswith("Book cleaning at 8:00 AM on 2026-03-04 for Mia?")
    wrong = workspace.run_sync("schedule_appointment", {**inputs, "numChildren": 2}, ask=agree)
    assert wrong.message == "Name 2 children, or none."
