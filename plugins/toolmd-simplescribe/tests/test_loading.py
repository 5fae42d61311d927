"""Bundles are loaded whole or not at all, and as often as anybody likes."""

import random

import pytest

from toolmd import NotFoundError
from toolmd_simplescribe.fhir.bundle import BundleError


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is not JSON: Expecting value (line 1, column 1)"),
        (b'{"resourceType": "Bundle", \n oh', "(line 2, column 2)"),
        (b"\xff\xfe{}", "it is not UTF-8 text (byte 0)"),
        (b'{"resourceType": "Bundle", "total": NaN}', "NaN is not a JSON number"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"resourceType": "Bundle", "total": ' + b"9" * 5000 + b"}", "not JSON that can be read"),
        (b"[]", "it is plain JSON, not a Bundle"),
        (b"null", "it is plain JSON"),
        (b"{}", "it is plain JSON"),
        (b'{"resourceType": "Patient", "id": "1"}', "it is a Patient, not a Bundle"),
        (b'{"resourceType": ["Bundle"]}', "it is plain JSON"),
        (b'{"resourceType": "Bundle", "entry": {"a": 1}}', "its entry is not a list"),
        (b'{"resourceType": "Patient"}\n{"resourceType": "Observation"}', "Extra data"),
    ],
)
def test_a_file_that_is_not_a_bundle_is_rejected_with_the_reason(data, words, records):
    with pytest.raises(BundleError) as refused:
        records.load_bytes(data)
    assert words in str(refused.value)
    assert records.store.patients() == []


def test_loading_a_bundle_again_changes_nothing(records, make):
    bundle = make.bundle(
        make.patient(),
        make.lab(),
        make.pressure(),
        make.medication(),
        make.condition(),
        make.note(),
    )
    first = records.load_bytes(bundle)
    counts = records.chart().counts()
    again = records.load_bytes(bundle)
    assert first.resources == {"added": 5}
    assert again.resources == {"unchanged": 5}
    assert not again.items
    assert records.chart().counts() == counts


def test_a_newer_version_replaces_the_stored_one(records, make):
    def version(value, day):
        return make.lab(value, id="a", meta={"lastUpdated": f"2025-05-0{day}T00:00:00Z"})

    assert records.load(version(1, day=2)).resources == {"added": 1}
    assert records.load(version(2, day=3)).resources == {"changed": 1}
    assert records.load(version(3, day=1)).resources == {"older": 1}
    assert [item["value"] for item in records.labs()] == [2]
    loaded = records.load(version(5, day=5), version(4, day=4))
    assert loaded.resources == {"changed": 1, "older": 1}
    assert [item["value"] for item in records.labs()] == [5]


def test_a_version_that_was_entered_in_error_removes_the_items(records, make):
    records.load(make.lab(id="a"), make.condition(id="b"), make.note(id="c"))
    refuted = make.code("entered-in-error")
    reasons = records.reasons(
        make.lab(id="a", status="entered-in-error"),
        make.condition(id="b", verificationStatus=refuted),
        make.note(id="c", status="entered-in-error"),
    )
    assert len(reasons) == 3
    counts = records.chart().counts()
    assert (counts["labs"], counts["problems"], counts["notes"]) == (0, 0, 0)


def test_a_resource_belongs_only_to_its_own_subject(records, make):
    stray = make.lab(999, patient="456")
    loaded = records.load(make.patient(), make.lab(1), stray)
    assert [item["value"] for item in records.labs("123")] == [1]
    assert [item["value"] for item in records.labs("456")] == [999]
    assert loaded.unnamed == ("456",)


@pytest.mark.parametrize(
    "subject",
    [
        None,
        {},
        "Patient/123",
        {"reference": 7},
        {"reference": ""},
        {"reference": "Group/123"},
        {"reference": "Patient/"},
        {"reference": "Patient/1 23"},
        {"reference": "Patient/123/Observation/1"},
        {"reference": "#123"},
        {"reference": "urn:uuid:nobody"},
        {"reference": "https://other.example.org/Patient/123"},
        {"reference": "file:///etc/Patient/123"},
        {"reference": "../Patient/123"},
        {"display": "Avery"},
        {"identifier": {"value": "123"}},
    ],
)
def test_a_resource_whose_subject_names_no_patient_is_left_out(subject, records, make):
    reasons = records.reasons(make.patient(), make.lab(subject=subject))
    assert reasons == ["its subject is not a patient of this bundle or server"]
    assert records.labs() == []


def test_subjects_are_found_by_address_on_the_same_server_and_within_the_bundle(records, make):
    base = "https://ehr.example.org/fhir"
    patient = make.patient("p1")
    urn = "urn:uuid:0b1e5a3c-0000-4000-8000-000000000001"
    entries = [
        {"fullUrl": f"{base}/Patient/p1", "resource": patient},
        {"fullUrl": urn, "resource": make.patient(None)},
        *(
            {
                "fullUrl": f"{base}/Observation/o{n}",
                "resource": make.lab(n, id=f"o{n}", subject={"reference": reference}),
            }
            for n, reference in enumerate(
                ["Patient/p1", f"{base}/Patient/p1", f"{base}/Patient/p1/_history/3", urn]
            )
        ),
    ]
    records.load(entry=entries)
    assert sorted(item["value"] for item in records.labs("p1")) == [0, 1, 2]
    assert [item["value"] for item in records.labs(urn.removeprefix("urn:uuid:"))] == [3]


def test_two_people_of_one_id_reject_the_file(records, make):
    born = make.patient(birthDate="1961-05-04")
    records.load(born, make.lab(1))
    records.load(make.patient(birthDate="1961"))
    with pytest.raises(BundleError, match="another birth date"):
        records.load(make.patient(birthDate="1988-12-30"), make.lab(2))
    with pytest.raises(BundleError, match="two patients with the id 123"):
        records.load(born, make.patient(birthDate="1999"))
    assert [item["value"] for item in records.labs()] == [1]


def test_patients_of_one_id_on_two_servers_reject_the_file(records, make):
    def entries(server):
        return [{"fullUrl": f"https://{server}/Patient/123", "resource": make.patient()}]

    records.load(entry=entries("a.example.org"))
    with pytest.raises(BundleError, match="lies on another server"):
        records.load(entry=entries("b.example.org"))


def test_a_resource_that_changes_its_patient_rejects_the_file(records, make):
    records.load(make.lab(1, id="a"))
    thief = make.lab(2, id="a", patient="456", meta={"lastUpdated": "2030-01-01T00:00:00Z"})
    with pytest.raises(BundleError, match="about another one in the store"):
        records.load(make.lab(7, patient="456"), thief)
    assert [item["value"] for item in records.labs()] == [1]
    assert records.store.patients() == ["123"]


def test_a_forgotten_patient_leaves_no_records(records, make):
    records.load(make.lab(), make.note("A cough."), make.lab(patient="456"))
    records.index()
    records.store.forget("123")
    assert records.store.patients() == ["456"]
    records.load(make.note("A cold."))
    assert records.chart().index.known() == {}
    assert records.chart().counts()["labs"] == 0
    with pytest.raises(NotFoundError):
        records.store.forget("nobody")


def test_types_that_no_tool_returns_are_counted(records, make):
    loaded = records.load(
        make.resource("Immunization"),
        make.resource("Immunization"),
        make.resource("Coverage"),
        {"id": "x"},
        {"resourceType": 7},
        make.patient(),
    )
    assert loaded.read.unknown == {"Immunization": 2, "Coverage": 1, "(no resourceType)": 2}


def test_entries_without_a_resource_are_counted(records, make):
    entries = [{}, None, 7, {"resource": None}, {"request": {"method": "DELETE"}}]
    loaded = records.load(entry=[*entries, {"resource": make.lab()}])
    assert loaded.empty == 5
    assert loaded.resources == {"added": 1}


@pytest.mark.parametrize("id_", ["", "a b", "x" * 65, "../x", 7, "é", None])
def test_a_resource_without_an_id_that_fhir_allows_is_left_out(id_, records, make):
    assert records.reasons(make.lab(id=id_)) == ["it has no id that FHIR allows"]


def test_provenance_comes_from_the_resource_or_from_its_bundle(records, make):
    def source(**fields):
        records.load_bytes(
            make.bundle(make.lab(id="a", **fields), timestamp="2025-04-01T00:00:00Z"),
            system="import",
        )
        item = records.labs()[0]
        records.store.forget("123")
        return item["source"]["system"], item["source"]["updated"]

    own = {"source": "https://lab#msg-7", "lastUpdated": "2025-05-01T01:02:03.4+02:00"}
    assert source(meta=own) == ("https://lab", "2025-05-01T01:02:03.4+02:00")
    assert source(meta=None) == ("import", "2025-04-01T00:00:00Z")
    assert source(meta={"lastUpdated": "2025-05-01"}) == ("import", "2025-04-01T00:00:00Z")
    assert source(meta=[1]) == ("import", "2025-04-01T00:00:00Z")
    records.load(make.lab(meta=None))
    assert records.labs()[0]["source"] == {"system": "fhir", "updated": "2026-03-02T12:00:00Z"}


def test_a_large_bundle_of_many_patients_is_loaded_to_the_last_resource(records, make):
    chance = random.Random(7)
    kinds = (make.lab, make.pressure, make.medication, make.condition, make.note)
    resources = [chance.choice(kinds)(patient=f"p{chance.randrange(40)}") for _ in range(5000)]
    loaded = records.load_bytes(make.bundle(*resources))
    assert loaded.resources == {"added": 5000}
    assert loaded.patients.total() == 5000
    there = sum(n for id_ in records.store.patients() for n in records.chart(id_).counts().values())
    assert there == 5000


def test_a_reader_sees_all_of_a_bundle_or_nothing(records, make):
    records.load(make.lab(1))
    with records.store.database.reading() as db:
        before = db.execute("SELECT count(*) FROM item").fetchone()
        records.load(*[make.lab(n) for n in range(20)])
        assert db.execute("SELECT count(*) FROM item").fetchone() == before
    assert len(records.labs()) == 21
