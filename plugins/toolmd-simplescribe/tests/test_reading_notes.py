"""Problems and notes from FHIR: readable ones are returned, others are left out."""

import pytest
from fhir_answers import only, quantity


def problem(records, resource):
    return only(records, lambda chart: chart.items("problems"), resource)


def note(records, resource):
    return only(records, lambda chart: chart.items("notes"), resource)


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
def test_a_problem_is_active_or_resolved(fields, status, records, make):
    assert problem(records, make.condition(**fields))["status"] == status


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
def test_the_onset_is_returned_as_recorded(fields, onset, records, make):
    assert problem(records, make.condition(**fields)).get("onset") == onset


def test_invalid_conditions_are_omitted(records, make):
    reasons = records.reasons(
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
    assert reasons[3].startswith("its onsetDateTime can't be read")


def test_a_note_has_its_metadata(records, make):
    item = note(
        records,
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
        ({"contentType": "text/plain", "data": "!!!"}, "its attachment is not base64"),
        ({"contentType": "text/plain", "data": "/w=="}, "its text is not in the encoding"),
        ({"contentType": "text/plain; charset=idna", "data": "YQ=="}, "its text is encoded as"),
        ({"contentType": "text/plain", "data": "A" * 7_000_000}, "its text is larger than 5 MB"),
    ],
)
def test_a_note_whose_text_can_not_be_read_is_left_out(attachment, reason, records, make):
    (told,) = records.reasons(make.note(content=[{"attachment": attachment}]))
    assert told.startswith(reason)


@pytest.mark.parametrize(
    ("attachment", "text"),
    [
        ({"contentType": "TEXT/PLAIN; Charset=ISO-8859-1", "data": "6Q=="}, "é"),
        ({"contentType": "text/plain", "data": "YSA\n gYg=="}, "a  b"),
        ({"contentType": "text/plain", "data": "YQBi"}, "a b"),
    ],
)
def test_texts_are_decoded(attachment, text, records, make):
    records.load(make.note(content=[{"attachment": attachment}]))
    assert [indexed.text for indexed in records.chart().notes()] == [text]


def test_long_and_odd_texts_are_bounded_and_cleaned(records, make):
    long = note(records, make.note(description="word " * 100_000))
    assert len(long["summary"]) == 300
    records.store.forget("123")
    odd = problem(records, make.condition(code={"text": "a\ud800b\x00c\u202ed\n e"}))
    assert odd["text"] == "a?bcd e"
