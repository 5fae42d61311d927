"""Every number of seeds 000 and 001, in the files and at the dispatcher."""

import pytest

from toolmd.testing import FakeClock, memory_workspace
from toolmd_alara.plugin import Alara

PRESSURE = {"systolic": 120, "diastolic": 80}
HYDRATION = {"amount": 500}
SCHEDULED = {"title": "Take morning medication", "time": "09:00"}
CREATED = {"title": "Take medication", "time": "09:00"}
VISIT = {"visit_type": "appointment", "date": "2024-01-15"}
CLINICAL = {"clinical_date": "2024-02-15T10:00:00Z", "description": "Blood test"}
CARE = {"log_type": "visit", "title": "Hospital checkup", "occurred_at": "2024-01-20T10:00:00Z"}
MEDICATION = {"medication_name": "aspirin"}


POLICY = [
    ("log_blood_pressure", 0.7, False, "medium", False),
    ("log_hydration", 0.7, False, "low", False),
    ("schedule_reminder", 0.8, True, "low", True),
    ("log_doctor_visit", 0.8, True, "high", True),
    ("add_clinical_date", 0.8, True, "high", True),
    ("add_care_log", 0.9, True, "critical", True),
    ("get_today_summary", 0.5, False, "low", False),
    ("log_medication", None, False, "medium", True),
    ("update_mood", None, False, "low", False),
    ("create_reminder", None, True, "low", False),
    ("create_care_log", None, True, "critical", True),
]


@pytest.fixture(scope="module")
def workspace():
    """One workspace for all, since nothing here is written."""
    with memory_workspace({"none.txt": ""}, plugins={"alara": Alara(FakeClock())}) as opened:
        yield opened


@pytest.mark.parametrize("row", POLICY)
def test_the_file_matches_the_seed(workspace, row):
    tool, least, confirmed, sensitivity, intent = row
    safety = workspace.tools[tool].spec.safety
    assert safety.min_confidence == least
    assert bool(safety.requires_confirmation) is confirmed
    assert safety.sensitivity == sensitivity
    assert bool(safety.explicit_intent) is intent
    assert bool(safety.intent_keywords) is intent
    assert workspace.tools[tool].default_min == 0.7


ADDED = {
    "list_reminders", "change_reminder", "snooze_reminder", "end_reminder", "read_health_log",
    "log_symptom", "undo_entry", "get_entry", "get_health_trends",
}  # fmt: skip
"""The tools that no seed names."""


def test_there_are_twenty_tools_without_a_word_against_them(workspace):
    assert {name for name, *_ in POLICY} | ADDED == set(workspace.tools)
    assert workspace.diagnostics == ()


LONG = "é" * 2001
"""Letters of two bytes: lengths count letters."""

ACCEPTED = [
    *[("log_blood_pressure", {"systolic": v, "diastolic": 1}) for v in (2, 300)],
    *[("log_blood_pressure", {"systolic": 300, "diastolic": v}) for v in (1, 200)],
    *[("log_blood_pressure", {**PRESSURE, "pulse": v}) for v in (40, 200)],
    *[
        ("log_blood_pressure", {**PRESSURE, "position": v})
        for v in ("sitting", "standing", "lying", "other")
    ],
    ("log_blood_pressure", {"systolic": 81, "diastolic": 80}),
    ("log_blood_pressure", {**PRESSURE, "notes": LONG}),
    *[("log_hydration", {"amount": v}) for v in (1, 10_000)],
    ("log_hydration", {**HYDRATION, "notes": LONG[:200]}),
    *[("schedule_reminder", {**SCHEDULED, "title": v}) for v in ("x", LONG[:100])],
    *[("schedule_reminder", {**SCHEDULED, "time": v}) for v in ("00:00", "09:59", "23:59")],
    *[("schedule_reminder", {**SCHEDULED, "days": v}) for v in ([0], [6], [0, 1, 2, 3, 4, 5, 6])],
    *[
        ("schedule_reminder", {**SCHEDULED, "reminder_type": v})
        for v in ("medication", "check_in", "appointment", "other")
    ],
    *[("create_reminder", {**CREATED, "days": v}) for v in ([1], [7], [1, 2, 3, 4, 5, 6, 7])],
    *[
        ("log_doctor_visit", {**VISIT, "visit_type": v})
        for v in ("appointment", "emergency", "follow_up", "consultation")
    ],
    *[("log_doctor_visit", {**VISIT, "date": v}) for v in ("2024-02-29", "2023-12-31")],
    ("log_doctor_visit", {**VISIT, "notes": LONG[:1000]}),
    *[
        ("add_clinical_date", {**CLINICAL, "clinical_date": v})
        for v in ("2024-02-15", "2024-02-29", "2024-02-15T00:00:00Z", "2024-02-15T23:59:59Z")
    ],
    *[("add_clinical_date", {**CLINICAL, "description": v}) for v in ("x", LONG[:200])],
    *[
        ("add_clinical_date", {**CLINICAL, "clinical_type": v})
        for v in ("lab_test", "scan", "procedure", "follow_up", "screening", "other")
    ],
    ("add_clinical_date", {**CLINICAL, "location": LONG[:200], "provider_name": LONG[:200]}),
    ("add_clinical_date", {**CLINICAL, "preparation_notes": LONG[:500]}),
    *[("add_clinical_date", {**CLINICAL, "reminder_enabled": v}) for v in (True, False)],
    *[
        ("add_care_log", {**CARE, "log_type": v})
        for v in (
            "visit",
            "procedure",
            "test",
            "diagnosis",
            "treatment",
            "hospital_stay",
            "emergency_visit",
            "therapy_session",
            "other",
        )
    ],
    *[("add_care_log", {**CARE, "title": v}) for v in ("x", LONG[:200])],
    *[
        ("add_care_log", {**CARE, "occurred_at": v})
        for v in (
            "2024-01-15",
            "2024-02-29T10:00:00Z",
            "2024-01-15T10:00:00+02:00",
            "2024-01-15T10:00:00.250Z",
            "2024-01-15T10:00",
        )
    ],
    ("add_care_log", {**CARE, "notes": LONG[:2000]}),
    *[("add_care_log", {**CARE, "duration_minutes": v}) for v in (1, 10_080)],
    *[
        ("add_care_log", {**CARE, "location_type": v})
        for v in ("in_person", "virtual", "phone", "hospital", "clinic", "emergency_room")
    ],
    ("add_care_log", {**CARE, "location_name": LONG[:200]}),
    ("log_medication", {**MEDICATION, "dose": "1 tablet"}),
]

REFUSED = [
    *[("log_blood_pressure", {**PRESSURE, "systolic": v}) for v in (0, 301, 120.5, "120", True)],
    *[("log_blood_pressure", {"systolic": 300, "diastolic": v}) for v in (0, 201)],
    *[("log_blood_pressure", {"systolic": 80, "diastolic": v}) for v in (80, 81)],
    *[("log_blood_pressure", {**PRESSURE, "pulse": v}) for v in (39, 201)],
    ("log_blood_pressure", {**PRESSURE, "position": "Sitting"}),
    ("log_blood_pressure", {"systolic": 120}),
    ("log_blood_pressure", {**PRESSURE, "mood": "great"}),
    *[("log_hydration", {"amount": v}) for v in (0, 10_001, -1, "500")],
    ("log_hydration", {**HYDRATION, "notes": LONG[:201]}),
    *[("schedule_reminder", {**SCHEDULED, "title": v}) for v in ("", LONG[:101])],
    *[
        ("schedule_reminder", {**SCHEDULED, "time": v})
        for v in ("24:00", "09:60", "9:00", "09:00:00", "9 am", "x09:00", "09:00\n")
    ],
    *[
        ("schedule_reminder", {**SCHEDULED, "days": v})
        for v in ([7], [-1], [], [1, 1], ["1"], 1, [1.5])
    ],
    ("schedule_reminder", {**SCHEDULED, "reminder_type": "birthday"}),
    ("schedule_reminder", {"title": "x"}),
    *[("create_reminder", {**CREATED, "days": v}) for v in ([0], [8])],
    ("log_doctor_visit", {**VISIT, "visit_type": "checkup"}),
    *[
        ("log_doctor_visit", {**VISIT, "date": v})
        for v in ("2024-02-30", "2023-02-29", "15.01.2024", "2024-1-5", "2024-01-15T10:00:00Z")
    ],
    ("log_doctor_visit", {**VISIT, "notes": LONG[:1001]}),
    *[
        ("add_clinical_date", {**CLINICAL, "clinical_date": v})
        for v in (
            "2024-02-30",
            "2024-02-30T10:00:00Z",
            "2024-13-01",
            "2024-02-15T24:00:00Z",
            "2024-02-15T10:00:60Z",
            "2024-02-15T10:00:00",
            "0000-01-01",
            "tomorrow",
        )
    ],
    *[("add_clinical_date", {**CLINICAL, "description": v}) for v in ("", LONG[:201])],
    ("add_clinical_date", {**CLINICAL, "clinical_type": "x-ray"}),
    ("add_clinical_date", {**CLINICAL, "location": LONG[:201]}),
    ("add_clinical_date", {**CLINICAL, "provider_name": LONG[:201]}),
    ("add_clinical_date", {**CLINICAL, "preparation_notes": LONG[:501]}),
    ("add_clinical_date", {**CLINICAL, "reminder_enabled": "true"}),
    ("add_care_log", {**CARE, "log_type": "holiday"}),
    *[("add_care_log", {**CARE, "title": v}) for v in ("", LONG[:201])],
    *[
        ("add_care_log", {**CARE, "occurred_at": v})
        for v in ("2024-04-31", "2024-01-15T25:00:00Z", "2024-01-15 10:00", "yesterday")
    ],
    ("add_care_log", {**CARE, "diagnosis": LONG[:501]}),
    ("add_care_log", {**CARE, "treatment": LONG[:501]}),
    ("add_care_log", {**CARE, "notes": LONG[:2001]}),
    *[("add_care_log", {**CARE, "duration_minutes": v}) for v in (0, 10_081)],
    ("add_care_log", {**CARE, "location_type": "home"}),
    ("add_care_log", {**CARE, "location_name": LONG[:201]}),
    ("get_today_summary", {"date": "2024-01-15"}),
    ("log_medication", {"medication_name": ""}),
    ("update_mood", {"mood": ""}),
]


@pytest.mark.parametrize(("tool", "arguments"), ACCEPTED)
def test_a_value_at_its_limit_is_accepted(call, tool, arguments):
    assert call(tool, arguments, dry_run=True).error is None


@pytest.mark.parametrize(("tool", "arguments"), REFUSED)
def test_a_value_beyond_its_limit_is_denied(call, tool, arguments):
    result = call(tool, arguments, dry_run=True)
    assert result.outcome == "denied"
    assert result.error.code == "invalid_arguments"


def test_omitted_arguments_get_the_seeds_defaults(workspace):
    def default(tool, name):
        parameters = {p.name: p.shape for p in workspace.tools[tool].spec.parameters}
        return parameters[name].default

    assert default("schedule_reminder", "days") == [0, 1, 2, 3, 4, 5, 6]
    assert default("create_reminder", "days") == [1, 2, 3, 4, 5, 6, 7]
    assert default("add_clinical_date", "reminder_enabled") is True


def test_a_diagnosis_and_a_treatment_must_be_the_users_own_words(workspace):
    for tool in ("add_care_log", "create_care_log"):
        shapes = {p.name: p.shape for p in workspace.tools[tool].spec.parameters}
        verbatim = {name for name, shape in shapes.items() if shape.verbatim}
        assert verbatim == {"diagnosis", "treatment"}
        assert all(shapes[name].sensitive for name in verbatim)
