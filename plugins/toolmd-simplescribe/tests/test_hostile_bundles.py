"""Hostile bundles are loaded, left out or rejected, and the tools answer in JSON."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolmd_simplescribe.fhir.bundle import BundleError
from toolmd_simplescribe.fhir.records import KINDS

WORDS = st.sampled_from(
    (
        "4548-4 http://loinc.org 85354-9 8480-6 8462-4 laboratory active final text/plain YQ== "
        "Patient/123 Patient/456 #x 2025-01-01 2025-02-30 9999-12-31T23:59:59Z "
        "0001-01-01T00:00:00+14:00 \ud800 \0 ');--"
    ).split(" ")
)
NAMES = st.sampled_from(
    (
        "coding system code display text value unit low high start reference attachment data "
        "contentType valueQuantity repeat frequency period periodUnit doseAndRate doseQuantity "
        "timing lastUpdated source"
    ).split()
)
SCALARS = (
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.floats(allow_nan=False)
) | (WORDS | st.text(max_size=8))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=12,
)
FIELDS = st.sampled_from(
    (
        "id meta subject status docStatus code category component intent valueQuantity valueRange "
        "valueRatio valueString valueInteger referenceRange effectiveDateTime effectivePeriod "
        "issued medicationCodeableConcept contained medicationReference dosageInstruction dosage "
        "authoredOn clinicalStatus verificationStatus onsetDateTime onsetAge abatementString "
        "content date description context type birthDate"
    ).split()
)
MAKERS = ("lab", "pressure", "medication", "condition", "note", "patient")
SLOW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@SLOW
@given(
    entries=st.lists(
        st.tuples(st.sampled_from(MAKERS), st.dictionaries(FIELDS, VALUES, max_size=3)), max_size=4
    )
)
def test_resources_with_odd_fields_are_loaded_left_out_or_rejected(entries, records, make):
    resources = [getattr(make, maker)() | fields for maker, fields in entries]
    data = json.dumps(
        {"resourceType": "Bundle", "entry": [{"resource": one} for one in resources]}
    ).encode()
    try:
        loaded = records.load_bytes(data)
    except BundleError:
        return
    json.dumps(loaded.read.omissions).encode()
    for id_ in records.store.patients():
        chart = records.chart(id_)
        for kind in KINDS:
            items = chart.items(kind)
            json.dumps(items, allow_nan=False, ensure_ascii=False).encode()
            assert all(item["source"].keys() == {"system", "updated"} for item in items)


@SLOW
@given(value=VALUES)
def test_any_json_is_a_bundle_or_none(value, records):
    for body in (value, {"resourceType": "Bundle", "entry": value}):
        try:
            records.load_bytes(json.dumps(body).encode())
        except BundleError:
            continue


def test_tools_return_hostile_texts_as_text(workspace_records, make, call):
    hostile = "x'); DROP TABLE lab; --\u202e<script>\x07"
    workspace_records.load(
        make.lab(code=make.code("4548-4", hostile), valueQuantity={"value": 1, "unit": hostile}),
        make.condition(code={"text": hostile}),
        make.medication(medicationCodeableConcept={"text": hostile}),
        make.note(hostile, type={"text": "T"}),
    )
    workspace_records.index()
    (lab,) = call("get_labs").data
    assert lab["display"] == "x'); DROP TABLE lab; --<script>"
    assert call("get_problems").data[0]["text"] == lab["display"]
    assert call("get_notes_search_results", {"query": "drop table"}).data[0]["rank"] == 1


def test_a_wide_resource_gives_items_of_a_bounded_size(workspace_records, make, call):
    vast = "wide " * 200_000
    workspace_records.load(
        make.lab(
            code=make.code("4548-4", vast),
            valueQuantity=None,
            valueString=vast,
            referenceRange=[{"text": vast}] * 50,
            meta={"source": vast},
        ),
        make.medication(
            medicationCodeableConcept={"text": vast}, dosageInstruction=[{"text": vast}] * 50
        ),
    )
    for tool in ("get_labs", "get_meds"):
        assert len(json.dumps(call(tool).data)) < 3000
