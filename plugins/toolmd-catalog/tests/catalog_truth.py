"""The expected reading of the three catalogues: every tool and parameter with its schema."""

from typing import Any

Truth = dict[str, dict[str, tuple[bool, dict[str, Any]]]]
"""Tool to parameter to (required, JSON Schema without description and unit)."""


def text(**limits: Any) -> dict[str, Any]:
    return {"type": "string", **limits}


def one_of(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def whole(low: int | None = None, high: int | None = None, **more: Any) -> dict[str, Any]:
    ends = {"minimum": low, "maximum": high}
    return {"type": "integer", **{k: v for k, v in ends.items() if v is not None}, **more}


def list_of(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
HEALTH: Truth = {
    "log_blood_pressure": {
        "systolic": (True, whole(1, 300)),
        "diastolic": (True, whole(1, 200)),
        "pulse": (False, whole(40, 200)),
        "position": (False, one_of("sitting", "standing", "lying", "other")),
        "notes": (False, text()),
    },
    "log_hydration": {
        "amount": (True, whole(1, 10000)),
        "notes": (False, text(maxLength=200)),
    },
    "schedule_reminder": {
        "title": (True, text(minLength=1, maxLength=100)),
        "time": (True, text(pattern="([01][0-9]|2[0-3]):[0-5][0-9]")),
        "days": (False, list_of(whole(0, 6), default=[0, 1, 2, 3, 4, 5, 6])),
        "reminder_type": (False, one_of("medication", "check_in", "appointment", "other")),
        "description": (False, text()),
    },
    "log_doctor_visit": {
        "visit_type": (True, one_of("appointment", "emergency", "follow_up", "consultation")),
        "date": (True, text(format="date")),
        "notes": (False, text(maxLength=1000)),
    },
    "add_clinical_date": {
        "clinical_date": (True, text(pattern=f"{DAY}|{DAY}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}Z")),
        "description": (True, text(minLength=1, maxLength=200)),
        "clinical_type": (
            False,
            one_of("lab_test", "scan", "procedure", "follow_up", "screening", "other"),
        ),
        "location": (False, text(maxLength=200)),
        "provider_name": (False, text(maxLength=200)),
        "preparation_notes": (False, text(maxLength=500)),
        "reminder_enabled": (False, {"type": "boolean", "default": True}),
    },
    "add_care_log": {
        "log_type": (
            True,
            one_of(
                "visit",
                "procedure",
                "test",
                "diagnosis",
                "treatment",
                "hospital_stay",
                "emergency_visit",
                "therapy_session",
                "other",
            ),
        ),
        "title": (True, text(minLength=1, maxLength=200)),
        "occurred_at": (True, text()),
        "diagnosis": (False, text(maxLength=500, **{"x-verbatim": True})),
        "treatment": (False, text(maxLength=500, **{"x-verbatim": True})),
        "notes": (False, text(maxLength=2000)),
        "duration_minutes": (False, whole(1, 10080)),
        "location_type": (
            False,
            one_of("in_person", "virtual", "phone", "hospital", "clinic", "emergency_room"),
        ),
        "location_name": (False, text(maxLength=200)),
    },
    "get_today_summary": {},
}

PATIENT = (True, text())
RANGE = (
    False,
    {
        "type": "object",
        "properties": {"start": text(), "end": text()},
        "required": ["start", "end"],
        "additionalProperties": False,
    },
)
LIMIT = (False, whole(1, 1000))
RECORDS: Truth = {
    "get_labs": {
        "patient_id": PATIENT,
        "date_range": RANGE,
        "codes": (False, list_of(text(), maxItems=50)),
        "limit": LIMIT,
    },
    "get_vitals": {
        "patient_id": PATIENT,
        "date_range": RANGE,
        "types": (False, list_of(one_of("Weight", "BP", "BMI"))),
        "limit": LIMIT,
    },
    "get_meds": {
        "patient_id": PATIENT,
        "status": (False, one_of("active", "stopped")),
        "date_range": RANGE,
        "limit": LIMIT,
    },
    "get_problems": {
        "patient_id": PATIENT,
        "status": (False, one_of("active", "resolved")),
        "limit": LIMIT,
    },
    "get_notes": {"patient_id": PATIENT, "date_range": RANGE, "limit": LIMIT},
    "get_notes_search_results": {
        "patient_id": PATIENT,
        "query": (True, text()),
        "top_k": (False, whole(1, 20, default=8)),
        "doc_ids": (False, list_of(text())),
    },
}

REVIEWS: Truth = {
    "search_pubmed": {
        "query": (True, text()),
        "retmax": (False, whole(default=2000)),
        "expand_mode": (True, one_of("semantic", "ripple")),
    },
    "embed_text": {"text": (True, {"type": ["string", "array"], "items": text()})},
    "run_pico": {"cluster_id": (False, text()), "pmid_list": (False, list_of(whole()))},
    "prisma_check": {"cluster_id": (True, text())},
    "find_existing_sr": {"cluster_id": (True, text())},
    "propose_alternative_pico": {"exclude_pmids": (True, list_of(whole()))},
}

SAFETY: dict[str, dict[str, Any]] = {
    name: {
        "min_confidence": confidence,
        "requires_confirmation": confirmed,
        "sensitivity": sensitivity,
        "explicit_intent": intent,
    }
    for name, confidence, confirmed, sensitivity, intent in (
        ("log_blood_pressure", 0.7, False, "medium", False),
        ("log_hydration", 0.7, False, "low", False),
        ("schedule_reminder", 0.8, True, "low", True),
        ("log_doctor_visit", 0.8, True, "high", True),
        ("add_clinical_date", 0.8, True, "high", True),
        ("add_care_log", 0.9, True, "critical", True),
        ("get_today_summary", 0.5, False, "low", False),
    )
}
CATALOGS: dict[str, tuple[Truth, str]] = {
    "health": (HEALTH, "000_be3ec82eeb3b8849.txt"),
    "records": (RECORDS, "002_2e18cc65e01e788d.txt"),
    "reviews": (REVIEWS, "004_cf9f7f36f583fd12.txt"),
}
"""The catalogue of a name below `catalogs/`, its truth, and the document that it was cut from."""
