"""Results and vitals, from FHIR to a clinician's words."""

import pytest
from fhir_answers import only, quantity


def lab(records, resource):
    return only(records, lambda chart: chart.items("labs"), resource)


def vital(records, resource):
    return only(records, lambda chart: chart.items("vitals"), resource)


def test_a_result_has_its_value_unit_and_reference_range(records, make):
    ranges = [{"low": quantity(4.0, "%"), "high": quantity(5.6, "%")}]
    item = lab(records, make.lab(5.4, referenceRange=ranges))
    assert item == {
        "code": "4548-4",
        "display": "A test",
        "value": 5.4,
        "unit": "%",
        "referenceRange": "4-5.6 %",
        "effectiveDateTime": "2025-03-04",
        "source": {"system": "https://ehr.example.org", "updated": "2025-05-01T08:00:00Z"},
    }


@pytest.mark.parametrize(
    ("ranges", "told"),
    [
        ([{"high": quantity(100, "mg/dL")}], "<=100 mg/dL"),
        ([{"low": quantity(60)}], ">=60 mmol/L"),
        ([{"text": "negative"}], "negative"),
        (
            [
                {"low": quantity(1), "high": quantity(2), "appliesTo": [{"text": "women"}]},
                {"text": "2 to 3", "appliesTo": [{"text": "men"}]},
            ],
            "1-2 mmol/L (women); 2 to 3 (men)",
        ),
        ([{"text": "5-9", "type": {"text": "therapeutic"}}], "5-9 (therapeutic)"),
        ([{"text": "5-9", "type": {"coding": [{"code": "normal", "display": "Usual"}]}}], "5-9"),
        ([{}], None),
        ("negative", None),
        ([None, 3, {"low": "4"}], None),
    ],
)
def test_reference_ranges_are_returned_in_words(ranges, told, records, make):
    assert lab(records, make.lab(referenceRange=ranges)).get("referenceRange") == told


@pytest.mark.parametrize(
    ("fields", "value", "unit"),
    [
        ({"valueQuantity": quantity(0.5, "ng/L", comparator="<")}, "<0.5", "ng/L"),
        ({"valueQuantity": {"value": 7, "code": "mg/dL"}}, 7, "mg/dL"),
        ({"valueQuantity": quantity(-1.5)}, -1.5, "mmol/L"),
        ({"valueQuantity": quantity(0)}, 0, "mmol/L"),
        ({"valueQuantity": quantity(10**30)}, 1e30, "mmol/L"),
        ({"valueInteger": 3}, 3, ""),
        ({"valueBoolean": False}, "false", ""),
        ({"valueString": " trace \n amounts "}, "trace amounts", ""),
        ({"valueCodeableConcept": {"text": "Negative"}}, "Negative", ""),
        ({"valueCodeableConcept": {"coding": [{"display": "Positive"}]}}, "Positive", ""),
        ({"valueRange": {"low": quantity(1), "high": quantity(3)}}, "1-3", "mmol/L"),
        ({"valueRatio": {"numerator": {"value": 1}, "denominator": {"value": 80}}}, "1:80", ""),
    ],
)
def test_values_of_every_kind_are_read(fields, value, unit, records, make):
    item = lab(records, make.lab(**({"valueQuantity": None} | fields)))
    assert (item["value"], item["unit"]) == (value, unit)
    assert type(item["value"]) is type(value)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"valueQuantity": None}, "it has no value"),
        ({"valueQuantity": {"value": "5", "unit": "%"}}, "it has no value"),
        ({"valueQuantity": {"value": True, "unit": "%"}}, "it has no value"),
        ({"valueQuantity": [5, "%"]}, "it has no value"),
        ({"valueQuantity": {"value": 5}}, "its number has no unit"),
        ({"valueQuantity": {"value": 5, "unit": "  "}}, "its number has no unit"),
        ({"effectiveDateTime": None}, "it has no date"),
        ({"effectiveDateTime": "2025-02-30"}, "its effectiveDateTime can't be read"),
        ({"effectiveDateTime": "yesterday"}, "its effectiveDateTime can't be read"),
        ({"effectiveDateTime": "2025-02-03T24:00:00Z"}, "its effectiveDateTime can't be read"),
        ({"effectiveDateTime": "2025-02-03T10:00:00+15:00"}, "its effectiveDateTime can't"),
        ({"status": "preliminary"}, "its status is preliminary"),
        ({"status": "cancelled"}, "its status is cancelled"),
        ({"code": {"text": "Glucose"}}, "no tool returns this measurement"),
        ({"code": {"coding": [{"code": "4548-4"}]}}, "no tool returns this measurement"),
        ({"code": None}, "no tool returns this measurement"),
        ({"code": {"coding": "4548-4"}}, "no tool returns this measurement"),
    ],
)
def test_a_result_that_lacks_something_is_left_out_with_the_reason(fields, reason, records, make):
    (told,) = records.reasons(make.lab(**fields))
    assert told.startswith(reason)
    assert records.labs() == []


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"effectiveInstant": "2025-03-04T10:00:00Z"}, "2025-03-04T10:00:00Z"),
        ({"effectivePeriod": {"start": "2025-03", "end": "2025-04"}}, "2025-03"),
        ({"issued": "2025-03-04T10:00:00.123+01:00"}, "2025-03-04T10:00:00.123+01:00"),
        ({"effectiveDateTime": "2016-12-31T23:59:60Z"}, "2016-12-31T23:59:60Z"),
    ],
)
def test_a_date_is_returned_as_written(fields, told, records, make):
    item = lab(records, make.lab(**({"effectiveDateTime": None} | fields)))
    assert item["effectiveDateTime"] == told


def test_the_parts_of_a_panel_are_results_of_their_own(records, make):
    parts = [
        {"code": make.code("2951-2"), "valueQuantity": quantity(140)},
        {"code": make.code("2823-3"), "valueQuantity": quantity(4.1)},
        {"code": make.code("2075-0")},
    ]
    records.load(make.lab(code=make.code("51990-0"), valueQuantity=None, component=parts))
    assert {item["code"]: item["value"] for item in records.labs()} == {
        "2951-2": 140,
        "2823-3": 4.1,
    }


def test_a_panel_of_two_pressures_reads_as_people_write_it(records, make):
    item = vital(records, make.pressure(120.0, 80))
    assert (item["type"], item["value"], item["unit"]) == ("BP", "120/80", "mmHg")


def test_a_panel_that_is_not_two_pressures_is_left_out(records, make):
    whole = make.pressure()
    upper = next(p for p in whole["component"] if p["code"]["coding"][0]["code"] == "8480-6")
    other = {**upper, "code": make.code("8462-4"), "valueQuantity": quantity(10, "kPa")}
    reasons = records.reasons(
        make.pressure(component=[upper]),
        make.pressure(component=[upper, upper]),
        make.pressure(component=[upper, other]),
        make.pressure(component=None),
        make.pressure(systolic="120"),
    )
    assert reasons == [
        "it lacks one of the two pressures",
        "it has one of the two pressures twice",
        "its two pressures have different units",
        "it lacks one of the two pressures",
        "it lacks one of the two pressures",
    ]


def test_weight_and_body_mass_index_have_their_units(records, make):
    records.load(make.lab(84.2, "29463-7", "kg"), make.lab(28.5, "39156-5", "kg/m2"))
    found = {
        item["type"]: (item["value"], item["unit"]) for item in records.chart().items("vitals")
    }
    assert found == {"Weight": (84.2, "kg"), "BMI": (28.5, "kg/m2")}
    assert records.chart().items("vitals", ["BMI"])[0]["value"] == 28.5
