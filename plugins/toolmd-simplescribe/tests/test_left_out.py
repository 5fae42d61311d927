"""What a tool leaves out is never silent, and what changes a meaning is never lost."""

import pytest
from fhir_answers import only, quantity

from toolmd_simplescribe.records import MAY_MISS

DRUG = {"medicationCodeableConcept": {"text": "Penicillin V"}}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"doNotPerform": True}, "it says that this must NOT be given"),
        ({"doNotPerform": "true"}, "it says that this must NOT be given"),
        ({"status": "entered-in-error"}, "its status is entered-in-error"),
        ({"resourceType": "MedicationStatement", "status": "not-taken"}, "its status is not-taken"),
        ({"modifierExtension": [{"url": "x"}]}, "its modifierExtension may change what it says"),
        ({"implicitRules": "https://x"}, "its implicitRules may change what it says"),
    ],
)
def test_an_order_that_forbids_or_was_not_given_is_no_medication(
    workspace_records, make, call, fields, reason
):
    workspace_records.load(make.medication(**DRUG, **fields), make.medication())
    result = call("get_meds")
    assert [item["name"] for item in result.data] == ["Aspirin"]
    assert result.notes == (f"Left out, {reason}: 1 (Penicillin V).",)


def test_a_medicine_that_was_entered_in_error_names_nothing(records, make):
    wrong = make.resource("Medication", id="m", code={"text": "Wrong"}, status="entered-in-error")
    reference = {"reference": "Medication/m", "display": "As ordered"}
    order = make.medication(medicationCodeableConcept=None, medicationReference=reference)
    item = only(records, lambda chart: chart.items("medications"), wrong, order)
    assert item["name"] == "As ordered"


@pytest.mark.parametrize("maker", ["condition", "allergy"])
def test_what_is_not_certain_is_marked_and_what_is_refuted_is_counted(
    workspace_records, make, call, maker
):
    def stated(code, **fields):
        return getattr(make, maker)(
            code={"text": "Lupus"}, verificationStatus=make.code(code), **fields
        )

    workspace_records.load(stated("unconfirmed"), stated("refuted"), stated("entered-in-error"))
    result = call("get_problems" if maker == "condition" else "get_allergies")
    assert [item["text"] for item in result.data] == ["Lupus (unconfirmed)"]
    assert set(result.notes) == {
        "Left out, its verification status is refuted: 1 (Lupus).",
        "Left out, its verification status is entered-in-error: 1 (Lupus).",
    }


def test_results_off_the_list_without_a_unit_or_preliminary_are_counted(
    workspace_records, make, call
):
    laboratory = [make.code("laboratory", system="x")]
    workspace_records.load(
        make.lab(code="57905-2", valueQuantity=None, valueString="Positive", category=laboratory),
        make.lab(code=make.code("6301-6", "INR"), valueQuantity={"value": 4.8}),
        make.lab(code=make.code("2823-3", "Potassium"), status="preliminary"),
        make.lab(code=make.code("8302-2", "Body height")),
        make.lab(),
    )
    result = call("get_labs")
    assert len(result.data) == 1
    assert set(result.notes) == {
        "Left out, its number has no unit: 1 (INR).",
        "Left out, its status is preliminary: 1 (Potassium).",
        "Left out, the tool's list lacks it: 1 (57905-2).",
    }


def test_a_search_counts_the_notes_that_it_can_not_read(workspace_records, make, call):
    scan = [
        {"attachment": {"contentType": "application/pdf", "url": "x", "title": "Allergy letter"}}
    ]
    page = [{"attachment": {"contentType": "text/html", "data": "YQ=="}}]
    workspace_records.load(
        make.note("Tolerates penicillin well.", docStatus="preliminary", id="n1"),
        make.note(content=scan),
        make.note(content=page, type={"text": "Web page"}),
    )
    workspace_records.index()
    notes = call("get_notes_search_results", {"query": "penicillin"}).notes
    assert (
        "2 of 3 notes have no text that can be searched, such as a scan or a PDF: "
        "Allergy letter, Web page." in notes
    )
    assert "1 of 3 notes with an excerpt here are drafts: n1." in notes
    assert notes[-1] == MAY_MISS
    titles = [item["title"] for item in call("get_notes").data]
    assert sorted(titles) == ["Allergy letter", "Progress note (draft)", "Web page"]


@pytest.mark.parametrize(
    ("value", "fields", "shown"),
    [
        (5.4, {}, "4-5.6 %"),
        (5.7, {}, "4-5.6 % [high]"),
        (3.9, {}, "4-5.6 % [low]"),
        (5.0, {"interpretation": [{"coding": [{"code": "HH"}]}]}, "4-5.6 % [critically high]"),
        (9, {"valueQuantity": quantity(9)}, "4-5.6 %"),
        (9, {"valueQuantity": quantity(9, "%", comparator="<")}, "4-5.6 %"),
    ],
)
def test_a_result_outside_of_its_range_is_marked(records, make, value, fields, shown):
    ranges = [{"low": quantity(4.0, "%"), "high": quantity(5.6, "%")}]
    item = only(records, lambda chart: chart.items("labs"),
                make.lab(value, referenceRange=ranges, **fields))  # fmt: skip
    assert item["referenceRange"] == shown


@pytest.mark.parametrize(
    ("code", "type_"),
    [
        ("8867-4", "Pulse"),
        ("8310-5", "Temperature"),
        ("9279-1", "Respiration"),
        ("59408-5", "Oxygen"),
    ],
)
def test_other_vital_signs_are_read(workspace_records, make, call, code, type_):
    workspace_records.load(make.lab(37.5, code, "unit"), make.pressure())
    (item,) = call("get_vitals", {"types": [type_]}).data
    assert (item["type"], item["value"]) == (type_, 37.5)


def test_a_number_has_no_more_digits_than_an_instrument(records, make):
    records.load(
        make.pressure(152.11204503344257, 92.25980066347138),
        make.lab(84.12345678901234, "29463-7", "kg"),
        make.lab(0.00123456789),
    )
    values = {item["value"] for item in records.chart().items("vitals")}
    assert values == {"152.1/92.3", 84.1235}
    assert records.labs()[0]["value"] == 0.001235


def test_encounters_are_listed_with_their_status(workspace_records, make, call):
    workspace_records.load(
        make.encounter(status="planned", period={"start": "2025-05-01"}),
        make.encounter(status="entered-in-error"),
        make.encounter(period=None),
    )
    result = call("get_encounters")
    assert [(one["type"], one["status"]) for one in result.data] == [("Check", "planned")]
    assert len(result.notes) == 2


def test_a_server_counts_what_it_leaves_out_too(server_call, server, make):
    server.add(make.patient(), make.medication(**DRUG, doNotPerform=True))
    result = server_call("get_meds")
    assert result.data == []
    assert result.notes == ("Left out, it says that this must NOT be given: 1 (Penicillin V).",)
