"""What each kind of resource says, in the words of the tools."""

import pytest


def only(desk, tool, *resources):
    desk.load(*resources)
    (item,) = tool(desk.chart())
    return item


def lab(desk, resource):
    return only(desk, lambda chart: chart.labs(None, None, None), resource)


def vital(desk, resource):
    return only(desk, lambda chart: chart.vitals(None, None, None), resource)


def med(desk, *resources):
    return only(desk, lambda chart: chart.medications(None, None, None), *resources)


def problem(desk, resource):
    return only(desk, lambda chart: chart.problems(None, None), resource)


def note(desk, resource):
    return only(desk, lambda chart: chart.notes(None, None), resource)


def quantity(value, unit="mmol/L", **more):
    return {"value": value, "unit": unit, **more}


def test_a_result_has_its_value_unit_and_reference_range(desk, make):
    ranges = [{"low": quantity(4.0, "%"), "high": quantity(5.6, "%")}]
    item = lab(desk, make.lab(5.4, referenceRange=ranges))
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
def test_reference_ranges_are_told_in_words(ranges, told, desk, make):
    assert lab(desk, make.lab(referenceRange=ranges)).get("referenceRange") == told


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
        (
            {"valueRatio": {"numerator": {"value": 1}, "denominator": {"value": 80}}},
            "1:80",
            "",
        ),
    ],
)
def test_values_of_every_kind_are_read(fields, value, unit, desk, make):
    item = lab(desk, make.lab(**({"valueQuantity": None} | fields)))
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
        ({"code": {"text": "Glucose"}}, "no tool gives what it measures"),
        ({"code": {"coding": [{"code": "4548-4"}]}}, "no tool gives what it measures"),
        ({"code": None}, "no tool gives what it measures"),
        ({"code": {"coding": "4548-4"}}, "no tool gives what it measures"),
    ],
)
def test_a_result_that_lacks_something_is_left_out_with_the_reason(fields, reason, desk, make):
    (told,) = desk.reasons(make.lab(**fields))
    assert told.startswith(reason)
    assert desk.labs() == []


def test_a_value_beyond_all_numbers_is_no_value(desk, make):
    bundle = make.bundle(make.lab(12345)).replace(b"12345", b"1e999")
    loaded = desk.load_bytes(bundle)
    assert [omission.reason for omission in loaded.read.omissions] == ["it has no value"]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"effectiveInstant": "2025-03-04T10:00:00Z"}, "2025-03-04T10:00:00Z"),
        ({"effectivePeriod": {"start": "2025-03", "end": "2025-04"}}, "2025-03"),
        ({"issued": "2025-03-04T10:00:00.123+01:00"}, "2025-03-04T10:00:00.123+01:00"),
        ({"effectiveDateTime": "2016-12-31T23:59:60Z"}, "2016-12-31T23:59:60Z"),
    ],
)
def test_a_date_is_told_as_it_was_written(fields, told, desk, make):
    item = lab(desk, make.lab(**({"effectiveDateTime": None} | fields)))
    assert item["effectiveDateTime"] == told


def test_the_parts_of_a_panel_are_results_of_their_own(desk, make):
    parts = [
        {"code": make.code("2951-2"), "valueQuantity": quantity(140)},
        {"code": make.code("2823-3"), "valueQuantity": quantity(4.1)},
        {"code": make.code("2075-0")},
    ]
    desk.load(make.lab(code=make.code("51990-0"), valueQuantity=None, component=parts))
    assert {item["code"]: item["value"] for item in desk.labs()} == {"2951-2": 140, "2823-3": 4.1}


def test_a_panel_of_two_pressures_reads_as_people_write_it(desk, make):
    item = vital(desk, make.pressure(120.0, 80))
    assert (item["type"], item["value"], item["unit"]) == ("BP", "120/80", "mmHg")


def test_a_panel_that_is_not_two_pressures_is_left_out(desk, make):
    whole = make.pressure()
    upper = next(p for p in whole["component"] if p["code"]["coding"][0]["code"] == "8480-6")
    other = {**upper, "code": make.code("8462-4"), "valueQuantity": quantity(10, "kPa")}
    reasons = desk.reasons(
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


def test_weight_and_body_mass_index_have_their_units(desk, make):
    desk.load(make.lab(84.2, "29463-7", "kg"), make.lab(28.5, "39156-5", "kg/m2"))
    found = {
        item["type"]: (item["value"], item["unit"])
        for item in desk.chart().vitals(None, None, None)
    }
    assert found == {"Weight": (84.2, "kg"), "BMI": (28.5, "kg/m2")}
    assert desk.chart().vitals(["BMI"], None, None)[0]["value"] == 28.5


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
def test_a_dosage_is_told_in_words(dosage, dose, route, frequency, desk, make):
    item = med(desk, make.medication(dosageInstruction=[dosage]))
    assert (item["dose"], item["route"], item["frequency"]) == (dose, route, frequency)


def test_several_dosages_stand_behind_each_other(desk, make):
    steps = [{"doseAndRate": [{"doseQuantity": quantity(n, "mg")}]} for n in (40, 20, 20)]
    assert med(desk, make.medication(dosageInstruction=steps))["dose"] == "40 mg; 20 mg"


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
def test_a_medication_is_active_or_stopped(status, told, desk, make):
    assert med(desk, make.medication(status=status))["status"] == told
    assert len(desk.chart().medications(told, None, None)) == 1


def test_what_is_no_medication_yet_is_left_out(desk, make):
    reasons = desk.reasons(
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
        "it is no order, its intent is proposal",
        "its medication has no name",
    ]
    assert reasons[5].startswith("its start can't be read")


def test_a_statement_is_read_as_a_request_is(desk, make):
    statement = make.medication(
        resourceType="MedicationStatement",
        authoredOn=None,
        effectivePeriod={"start": "2024-02"},
        dosage=[{"text": "one a day"}],
    )
    item = med(desk, statement)
    assert (item["startDate"], item["dose"]) == ("2024-02", "one a day")


def test_a_medication_is_found_by_its_reference(desk, make):
    drug = make.resource("Medication", id="m1", subject=None, code={"text": "Losartan 50 mg"})
    inside = make.resource("Medication", id="in", code={"text": "Ointment"})

    def named(reference, **fields):
        medication = make.medication(
            medicationCodeableConcept=None, medicationReference=reference, **fields
        )
        name = med(desk, drug, medication)["name"]
        desk.store.forget("123")
        return name

    assert named({"reference": "Medication/m1", "display": "Other"}) == "Losartan 50 mg"
    assert named({"reference": "#in"}, contained=[inside]) == "Ointment"
    assert named({"reference": "Medication/gone", "display": "Told"}) == "Told"


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"clinicalStatus": {"coding": [{"code": "recurrence"}]}}, "active"),
        ({"clinicalStatus": {"coding": [{"code": "remission"}]}}, "resolved"),
        ({"clinicalStatus": {"coding": [{"code": "inactive"}]}}, "resolved"),
        ({"clinicalStatus": None}, "active"),
        ({"clinicalStatus": None, "abatementDateTime": "2020"}, "resolved"),
    ],
)
def test_a_problem_is_there_or_over(fields, status, desk, make):
    assert problem(desk, make.condition(**fields))["status"] == status


@pytest.mark.parametrize(
    ("fields", "onset"),
    [
        ({"onsetDateTime": "2019-07"}, "2019-07"),
        ({"onsetPeriod": {"start": "2018"}}, "2018"),
        ({"onsetAge": quantity(45, "years")}, "at the age of 45 years"),
        ({"onsetString": "in childhood"}, "in childhood"),
        ({}, None),
    ],
)
def test_the_onset_is_told_as_it_was_recorded(fields, onset, desk, make):
    assert problem(desk, make.condition(**fields)).get("onset") == onset


def test_conditions_that_are_none_are_left_out(desk, make):
    reasons = desk.reasons(
        make.condition(verificationStatus=make.code("refuted")),
        make.condition(code=None),
        make.condition(clinicalStatus=make.code("odd")),
        make.condition(onsetDateTime="2019-02-29"),
    )
    assert reasons[:3] == [
        "its verification status is refuted",
        "it has no name",
        "its clinical status is odd",
    ]
    assert reasons[3].startswith("its onset can't be read")


def test_a_note_has_its_metadata(desk, make):
    item = note(
        desk,
        make.note(
            "A long text about the visit.",
            description="A visit",
            context={"practiceSetting": {"text": "General practice"}},
        ),
    )
    assert item == {
        "date": "2025-02-03T10:00:00Z",
        "title": "Progress note",
        "service": "General practice",
        "summary": "A visit",
        "source": {"system": "https://ehr.example.org", "updated": "2025-05-01T08:00:00Z"},
    }


@pytest.mark.parametrize(
    ("attachment", "reason"),
    [
        ({"contentType": "text/plain", "data": "!!!"}, "its attachment is no base64"),
        ({"contentType": "text/plain", "data": "/w=="}, "its text is not in the encoding"),
        ({"contentType": "text/plain; charset=idna", "data": "YQ=="}, "its text is encoded as"),
        ({"contentType": "text/plain", "data": "A" * 7_000_000}, "its text is larger than 5 MB"),
    ],
)
def test_a_note_whose_text_can_not_be_read_is_left_out(attachment, reason, desk, make):
    (told,) = desk.reasons(make.note(content=[{"attachment": attachment}]))
    assert told.startswith(reason)


@pytest.mark.parametrize(
    ("attachment", "text"),
    [
        ({"contentType": "TEXT/PLAIN; Charset=ISO-8859-1", "data": "6Q=="}, "é"),
        ({"contentType": "text/plain", "data": "YSA\n gYg=="}, "a  b"),
        ({"contentType": "text/plain", "data": "YQBi"}, "a b"),
    ],
)
def test_texts_are_decoded(attachment, text, desk, make):
    desk.load(make.note(content=[{"attachment": attachment}]))
    assert [indexed.text for indexed in desk.chart().texts()] == [text]


@pytest.mark.parametrize("content", [None, [], "x", [{}], [{"attachment": {"url": "http://x"}}]])
def test_a_note_without_a_text_is_a_note_all_the_same(content, desk, make):
    assert note(desk, make.note(content=content))["title"] == "Progress note"
    assert desk.chart().texts() == []


def test_long_and_odd_texts_are_made_fit_to_tell(desk, make):
    long = note(desk, make.note(description="word " * 100_000))
    assert len(long["summary"]) == 300
    desk.store.forget("123")
    odd = problem(desk, make.condition(code={"text": "a\ud800b\x00c\u202ed\n e"}))
    assert odd["text"] == "a?bcd e"
