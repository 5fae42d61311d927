"""Medications, from FHIR to a clinician's words."""

import pytest
from fhir_answers import only, quantity


def med(records, *resources):
    return only(records, lambda chart: chart.items("medications"), *resources)


@pytest.mark.parametrize(
    ("dosage", "dose", "route", "frequency"),
    [
        (
            {
                "route": {"text": "by mouth"},
                "doseAndRate": [{"doseQuantity": quantity(500, "mg")}],
                "timing": {"repeat": {"frequency": 2, "period": 1, "periodUnit": "d"}},
            },
            "500 mg",
            "by mouth",
            "2 times every day",
        ),
        (
            {
                "doseAndRate": [
                    {"doseRange": {"low": quantity(1, ""), "high": quantity(2, "puff")}}
                ],
                "timing": {"repeat": {"frequency": 1, "period": 8, "periodUnit": "h"}},
                "asNeededBoolean": True,
            },
            "1-2 puff",
            "",
            "every 8 hours, as needed",
        ),
        (
            {"text": "1 tablet at night", "timing": {"repeat": {"when": ["HS", "?"]}}},
            "1 tablet at night",
            "",
            "at bedtime",
        ),
        ({"timing": {"code": {"coding": [{"code": "BID"}]}}}, "", "", "BID"),
        (
            {
                "timing": {
                    "repeat": {
                        "frequency": 1,
                        "frequencyMax": 2,
                        "period": 1,
                        "periodUnit": "wk",
                        "dayOfWeek": ["mon", "thu"],
                    }
                },
                "asNeededCodeableConcept": {"text": "pain"},
            },
            "",
            "",
            "1-2 times every week on mon, thu, as needed for pain",
        ),
        ({}, "", "", ""),
        ({"timing": {"repeat": {"period": "1", "when": "HS"}}, "doseAndRate": 7}, "", "", ""),
    ],
)
def test_a_dosage_is_returned_in_words(dosage, dose, route, frequency, records, make):
    item = med(records, make.medication(dosageInstruction=[dosage]))
    assert (item["dose"], item["route"], item["frequency"]) == (dose, route, frequency)


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("active", "active"),
        ("on-hold", "stopped"),
        ("completed", "stopped"),
        ("stopped", "stopped"),
        ("cancelled", "stopped"),
    ],
)
def test_a_medication_is_active_or_stopped(status, told, records, make):
    assert med(records, make.medication(status=status))["status"] == told
    assert len(records.chart().items("medications", [told])) == 1


def test_a_planned_medication_is_omitted(records, make):
    reasons = records.reasons(
        make.medication(status="draft"),
        make.medication(status=None),
        make.medication(status=["active"]),
        make.medication(intent="proposal"),
        make.medication(medicationCodeableConcept={}),
        make.medication(authoredOn="2025-13-01"),
    )
    assert reasons[:5] == [
        "its status is draft",
        "its status is missing",
        "its status is missing",
        "it is not an order, its intent is proposal",
        "its medication has no name",
    ]
    assert reasons[5].startswith("its authoredOn can't be read")


def test_a_statement_is_read_as_a_request_is(records, make):
    statement = make.medication(
        resourceType="MedicationStatement",
        authoredOn=None,
        effectivePeriod={"start": "2024-02"},
        dosage=[{"text": "one a day"}],
    )
    item = med(records, statement)
    assert (item["startDate"], item["dose"]) == ("2024-02", "one a day")


def test_a_medication_is_found_by_its_reference(records, make):
    drug = make.resource("Medication", id="m1", subject=None, code={"text": "Losartan 50 mg"})
    inside = make.resource("Medication", id="in", code={"text": "Ointment"})

    def named(reference, **fields):
        medication = make.medication(
            medicationCodeableConcept=None, medicationReference=reference, **fields
        )
        name = med(records, drug, medication)["name"]
        records.store.forget("123")
        return name

    assert named({"reference": "Medication/m1", "display": "Other"}) == "Losartan 50 mg"
    assert named({"reference": "#in"}, contained=[inside]) == "Ointment"
    assert named({"reference": "Medication/gone", "display": "Told"}) == "Told"
