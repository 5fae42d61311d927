"""The tools, called through the dispatcher: seed 002."""

import json
from importlib.resources import files

import pytest

from toolmd.testing import memory_workspace
from toolmd_simplescribe.plugin import SimpleScribe
from toolmd_simplescribe.records import BY_WORDS, MAY_MISS, TOOLS
from toolmd_simplescribe.store import PatientStore, load

SEED = {
    "get_labs": {
        "codes": ["4548-4", "17856-6"],
        "date_range": {"start": "2023-01-01T00:00:00Z", "end": "2025-12-31T23:59:59Z"},
        "limit": 200,
    },
    "get_vitals": {
        "date_range": {"start": "2024-01-01T00:00:00Z", "end": "2025-12-31T23:59:59Z"},
        "limit": 365,
    },
    "get_meds": {"status": "active", "limit": 200},
    "get_problems": {"status": "active", "limit": 100},
    "get_allergies": {"status": "active"},
    "get_encounters": {"date_range": {"start": "2025-01-01", "end": "2025-12-31"}},
    "get_notes": {
        "date_range": {"start": "2024-06-01T00:00:00Z", "end": "2025-08-23T23:59:59Z"},
        "limit": 200,
    },
    "get_notes_search_results": {"query": "ACE inhibitor intolerance", "top_k": 8},
}
FIELDS = {
    "get_labs": {"code", "display", "value", "unit", "referenceRange", "effectiveDateTime"},
    "get_vitals": {"type", "value", "unit", "effectiveDateTime"},
    "get_meds": {"name", "dose", "route", "frequency", "startDate", "status"},
    "get_problems": {"text", "status", "onset"},
    "get_allergies": {"text", "status", "criticality", "reaction", "recorded"},
    "get_encounters": {"type", "status", "start", "end", "reason"},
    "get_notes": {"date", "title", "service", "summary"},
    "get_notes_search_results": {"note_id", "chunk_id", "text", "rank", "score"},
}


@pytest.fixture
def samples(workspace_records):
    for sample in (files("toolmd_simplescribe") / "samples").iterdir():
        workspace_records.load_bytes(sample.read_bytes())
    for patient in ("123", "456"):
        workspace_records.index(patient)
    return workspace_records


def test_the_seeds_own_example_answers_with_the_seeds_own_fields(samples, call):
    for tool in TOOLS:
        result = call(tool, SEED[tool])
        assert result.outcome == "ok", tool
        # No other note: it is what the file says it Returns.
        assert result.notes == ((BY_WORDS, MAY_MISS) if "search" in tool else ()), tool
        assert result.data, tool
        for item in result.data:
            assert item.keys() == {*FIELDS[tool], "source"}
            assert item["source"].keys() == {"system", "updated"}


def test_items_of_another_patient_are_never_returned(samples, call):
    for tool in TOOLS:
        mine = call(tool, {"query": "asthma inhaler cough"})
        theirs = call(tool, {"patient_id": "456", "query": "asthma inhaler cough"}, patient="456")
        assert mine.data, tool
        assert theirs.data, tool
        told = json.dumps(mine.data)
        assert not [item for item in theirs.data if json.dumps(item) in told]


def test_a_call_for_another_patient_is_denied(samples, call):
    for tool in TOOLS:
        for asked in ("456", "124", "", "123 ", " 123", "Patient/123", "*", "%"):
            result = call(tool, {"patient_id": asked, "query": "x"})
            assert result.outcome == "denied", (tool, asked)
            assert result.error.code in {"other_patient", "invalid_arguments"}
            assert "456" not in result.error.message.replace(f'"{asked}"', "")


def test_without_a_patient_of_the_host_nothing_is_read(samples, call):
    for tool in TOOLS:
        result = call(tool, {"query": "x"}, patient=None)
        assert (result.outcome, result.error.code) == ("denied", "context_required"), tool


def test_the_functions_enforce_the_scope_without_a_guard(records, make):
    from toolmd import ToolError

    records.load(make.lab())
    for asked, named in (("123", "456"), ("123", None), ("", "")):
        with pytest.raises(ToolError) as refused:
            records.store.chart(asked, named)
        assert refused.value.code in {"other_patient", "patient_not_found"}


def test_a_patient_without_loaded_records_is_an_error(call):
    for tool in TOOLS:
        result = call(tool, {"query": "x"})
        assert (result.outcome, result.error.code) == ("failed", "patient_not_found"), tool


def test_unknown_parameters_are_ignored_and_reported(samples, call):
    result = call("get_problems", {"format": "pdf", "offset": 3})
    assert result.data == call("get_problems").data
    assert "format, offset" in result.notes[0]


def test_invalid_arguments_are_denied_before_anything_is_read(samples, call):
    for tool, arguments in (
        ("get_labs", {"limit": 0}),
        ("get_labs", {"limit": 1001}),
        ("get_labs", {"limit": 1.5}),
        ("get_labs", {"limit": "20"}),
        ("get_labs", {"limit": True}),
        ("get_labs", {"codes": "4548-4"}),
        ("get_labs", {"codes": []}),
        ("get_labs", {"codes": ["4548-4"] * 51}),
        ("get_labs", {"codes": ["4548-4' OR 1=1 --"]}),
        ("get_labs", {"codes": ["8480-6"]}),
        ("get_labs", {"codes": [45484]}),
        ("get_labs", {"patient_id": 123}),
        ("get_labs", {"date_range": "2024"}),
        ("get_labs", {"date_range": {"start": "2024-01-01"}}),
        ("get_labs", {"date_range": {"start": "2024-02-30", "end": "2024-03-01"}}),
        ("get_labs", {"date_range": {"start": "2024-02-01T25:00:00Z", "end": "2024-03-01"}}),
        ("get_labs", {"date_range": {"start": "2024-02-01T10:00:00", "end": "2024-03-01"}}),
        ("get_labs", {"date_range": {"start": "2024-02-01' --", "end": "2024-03-01"}}),
        ("get_labs", {"date_range": {"start": "2024-03-02", "end": "2024-03-01"}}),
        ("get_labs", {"date_range": {"start": "0000-01-01", "end": "2024-03-01"}}),
        ("get_labs", {"date_range": {"start": "٢٠٢٤-01-01", "end": "2024-03-01"}}),
        ("get_vitals", {"types": ["BP", "Height"]}),
        ("get_meds", {"status": "on-hold"}),
        ("get_problems", {"status": "inactive"}),
        ("get_notes_search_results", {"query": ""}),
        ("get_notes_search_results", {"query": "  \n*"}),
        ("get_notes_search_results", {"query": "x" * 1001}),
        ("get_notes_search_results", {"query": "x", "top_k": 21}),
        ("get_notes_search_results", {"query": "x", "top_k": 0}),
        ("get_notes_search_results", {"query": "x", "doc_ids": []}),
        ("get_notes_search_results", {}),
    ):
        result = call(tool, arguments)
        assert (result.outcome, result.error.code) == ("denied", "invalid_arguments"), arguments


def test_both_ends_of_a_date_range_belong_to_it(workspace_records, make, call):
    times = [
        "2024-01-01T00:00:00Z",
        "2024-01-31",
        "2024-01-31T23:59:59.999Z",
        "2024-02-01T00:30:00+01:00",
        "2024-02-01T00:00:00Z",
        "2023-12-31T23:59:59Z",
    ]
    workspace_records.load(*[make.lab(day=time) for time in times])

    def found(start, end):
        result = call("get_labs", {"date_range": {"start": start, "end": end}})
        return {item["effectiveDateTime"] for item in result.data}

    assert found("2024-01-01", "2024-01-31") == set(times[:4])
    assert found("2024-01-31T23:59:59Z", "2024-01-31T23:59:59Z") == {times[2]}
    assert found("2024-01-31T23:59:59.999Z", "2024-02-01T00:00:00Z") == {times[2], times[4]}
    assert found("2024-01-01T01:00:00+01:00", "2024-01-01T00:00:00Z") == {times[0]}
    assert found("0001-01-01", "9999-12-31") == set(times)


def test_a_range_of_medications_contains_their_start_and_omits_those_without(
    workspace_records, make, call
):
    workspace_records.load(
        make.medication(authoredOn="2024-05-01"),
        make.medication(authoredOn=None),
        make.medication(authoredOn="2025-05-01"),
    )
    ranged = {"date_range": {"start": "2024-01-01", "end": "2024-12-31"}}
    assert [item["startDate"] for item in call("get_meds", ranged).data] == ["2024-05-01"]
    starts = [item.get("startDate") for item in call("get_meds").data]
    assert starts == ["2025-05-01", "2024-05-01", None]


def test_a_limit_returns_the_newest_over_all_codes(workspace_records, make, call):
    codes = ["4548-4", "2160-0", "2823-3"]
    labs = [make.lab(n, codes[n % 3], day=f"2025-01-{n + 1:02}") for n in range(30)]
    workspace_records.load(*labs)
    found = call("get_labs", {"limit": 7}).data
    assert [item["value"] for item in found] == [29, 28, 27, 26, 25, 24, 23]
    twice = call("get_labs", {"limit": 4, "codes": ["2160-0", "2160-0"]}).data
    assert [item["value"] for item in twice] == [28, 25, 22, 19]


def test_a_code_off_the_list_is_not_returned_though_it_was_loaded(workspace_records, make, call):
    laboratory = [make.code("laboratory", system="x")]
    workspace_records.load(make.lab(code="99999-9", category=laboratory), make.lab())
    assert [item["code"] for item in call("get_labs").data] == ["4548-4"]
    assert call("get_labs", {"codes": ["99999-9"]}).error.code == "invalid_arguments"
    assert workspace_records.chart().counts()["labs"] == 2


def test_a_code_that_the_author_adds_to_the_list_is_returned(make):
    laboratory = [make.code("laboratory", system="x")]
    file = files("toolmd_simplescribe") / "tools" / "get-labs.tool.md"
    text = file.read_text("utf-8").replace("**Enum**: ", "**Enum**: 99999-9, ", 1)
    plugins = {"simplescribe": SimpleScribe({})}
    with memory_workspace({"get-labs.tool.md": text}, plugins=plugins) as other:
        store = PatientStore(other.settings.state)
        load(store.database, make.bundle(make.lab(7, code="99999-9", category=laboratory)))
        result = other.call_sync("get_labs", {"patient_id": "123", "codes": ["99999-9"]},
                                 context={"patient": "123"})  # fmt: skip
        store.close()
    assert [item["value"] for item in result.data] == [7]


def test_the_text_of_a_note_never_comes_by_its_metadata(workspace_records, make, call):
    secret = "The patient fears for the job and asked that nobody is told of it."
    workspace_records.load(
        make.note(secret, description=secret),
        make.note(secret, description=f"Summary: {secret}"),
        make.note(secret, description=secret[:50]),
        make.note(secret, type={"text": secret}),
        make.note(secret, context={"practiceSetting": {"text": secret}}),
        make.note("Short.", description="Short."),
        make.note(secret * 100, description=secret * 100),
    )
    told = json.dumps(call("get_notes").data)
    assert "fears for the job" not in told
    assert "Short." not in told
    assert len(call("get_notes").data) == 7
