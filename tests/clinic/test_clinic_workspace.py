"""The clinic's tools from end to end: the project's own files, opened and called."""

from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest
from tools_md._clinic.resources import FILE

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
    assert len(workspace.tools) == 14
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


@pytest.mark.parametrize("module", ["bookings.py", "visits.py", "resources.py", "schema.py"])
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
