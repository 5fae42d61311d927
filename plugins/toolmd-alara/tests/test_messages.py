"""The tools' messages match the seeds."""

import pytest


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("log_medication", {"medication_name": "aspirin", "dose": "1 tablet"}, "Logged aspirin"),
        ("log_medication", {"medication_name": "morning medication"}, "Logged morning medication"),
        ("update_mood", {"mood": "great"}, "Updated mood to great"),
        ("log_hydration", {"amount": 500}, "Logged 500 ml"),
        ("log_blood_pressure", {"systolic": 120, "diastolic": 80}, "Logged blood pressure 120/80"),
    ],
)
def test_a_tool_answers_in_the_seeds_words(call, tool, arguments, message):
    result = call(tool, arguments)
    assert (result.success, result.message) == (True, message)
    assert result.notes == ()
    assert result.data["entry_id"] == 1
    assert result.data["logged_at"] == "2026-03-02T08:00:00+01:00"


def test_the_summary_fits_what_its_file_returns(call):
    call("log_blood_pressure", {"systolic": 120, "diastolic": 80, "position": "sitting"})
    call("update_mood", {"mood": "good"})
    call("log_medication", {"medication_name": "aspirin"})
    call("log_hydration", {"amount": 250})
    result = call("get_today_summary", {}, confidence=0.5)
    assert result.notes == ()
    assert result.data["check_ins"] == [{"mood": "good", "at": "2026-03-02T08:00:00+01:00"}]
    assert result.data["hydration"] == {"total_ml": 250, "drinks": 1}
    assert call("get_today_summary", {}, user="ben").data["hydration"]["drinks"] == 0
