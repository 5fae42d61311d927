"""The tools read a FHIR R4 server: pages, includes, texts of notes, tokens, bounds, errors."""

import pytest
from fhir_server import TOKEN

from toolmd_simplescribe.fhir.server import MOST_PAGES


def category(make, code):
    return [make.code(code, system="http://terminology.hl7.org/CodeSystem/observation-category")]


def labs(make, count):
    laboratory = category(make, "laboratory")
    return [make.lab(n, day=f"2025-01-{n + 1:02}", category=laboratory) for n in range(count)]


def test_results_come_from_all_pages_the_newest_first(server, server_call, make):
    server.add(make.patient(), *labs(make, 7), make.lab(99, patient="456"))
    result = server_call("get_labs", {"limit": 6})
    assert (result.outcome, result.notes) == ("ok", ())
    assert [item["value"] for item in result.data] == [6, 5, 4, 3, 2, 1]
    assert result.data[0]["source"] == {
        "system": "https://ehr.example.org",
        "updated": "2025-05-01T08:00:00Z",
    }
    paths = [path for path, *_ in server.asked]
    assert paths == ["/r4/Patient/123", *["/r4/Observation"] * 4]


def test_a_range_codes_and_types_select_as_they_do_in_the_store(server, server_call, make):
    vital = category(make, "vital-signs")
    server.add(make.patient(), *labs(make, 5), make.pressure(category=vital))
    inside = {"date_range": {"start": "2025-01-02", "end": "2025-01-03"}}
    assert [item["value"] for item in server_call("get_labs", inside).data] == [2, 1]
    assert server_call("get_labs", {"codes": ["2160-0"]}).data == []
    (reading,) = server_call("get_vitals", {"types": ["BP"]}).data
    assert (reading["type"], reading["value"]) == ("BP", "120/80")


def test_medicines_are_included_or_read_one_by_one(server, server_call, make):
    def medicine(id_):
        return make.resource("Medication", id=id_, subject=None, code={"text": f"Drug {id_}"})

    ordered = [
        make.medication(medicationCodeableConcept=None,
                        medicationReference={"reference": f"Medication/{id_}"})
        for id_ in ("m1", "m2")
    ]  # fmt: skip
    server.add(make.patient(), medicine("m1"), medicine("m2"), *ordered)
    assert {item["name"] for item in server_call("get_meds").data} == {"Drug m1", "Drug m2"}
    paths = [path for path, *_ in server.asked]
    assert not any("Medication/" in path for path in paths)
    server.search = without_includes(server.search)
    assert {item["name"] for item in server_call("get_meds").data} == {"Drug m1", "Drug m2"}
    assert [path for path, *_ in server.asked if "Medication/" in path] == [
        "/r4/Medication/m1",
        "/r4/Medication/m2",
    ]


def without_includes(search):
    return lambda kind, query: search(kind, {n: v for n, v in query.items() if n != "_include"})


def test_a_type_that_the_server_lacks_is_noted(server, server_call, make):
    server.add(make.patient(), make.medication())
    server.lacks = ("MedicationStatement",)
    result = server_call("get_meds")
    assert [item["name"] for item in result.data] == ["Aspirin"]
    assert result.notes == ("The server does not offer MedicationStatement.",)


def test_the_token_is_that_of_the_user_and_goes_to_the_server_alone(server, server_call, make):
    server.add(make.patient(), make.condition())
    assert server_call("get_problems").data[0]["text"] == "Asthma"
    assert {headers["authorization"] for *_, headers in server.asked} == {f"Bearer {TOKEN}"}
    assert all(TOKEN not in path + str(query) for path, query, _ in server.asked)


def test_a_next_page_on_another_server_is_not_read(server, server_call, make):
    server.add(make.patient(), *labs(make, 5))
    server.next_url = "http://127.0.0.1:9/r4/Observation?page=2"
    assert server_call("get_labs").error.code == "fhir_elsewhere"
    server.next_url = f"{server.url}/Observation"
    assert server_call("get_labs").error.code == "fhir_looping"


def test_pages_are_bounded_and_the_rest_is_noted(server, server_call, make):
    server.add(make.patient(), *labs(make, 10))
    server.page = 1
    real, pages = server.search, iter(range(10_000))

    def endless(kind, query):
        bundle = real(kind, {"patient": query["patient"]})
        url = f"{server.url}/{kind}?patient=Patient/123&_offset={next(pages)}"
        return bundle | {"link": [{"relation": "next", "url": url}]}

    server.search = endless
    result = server_call("get_labs")
    assert len(server.asked) == 1 + MOST_PAGES
    assert "The server has more of Observation than is read" in result.notes[0]


def test_notes_are_listed_and_searched_with_their_texts_on_the_server(server, server_call, make):
    attachment = {"contentType": "text/plain", "url": f"{server.url}/Binary/b1"}
    server.binaries["Binary/b1"] = b"Dry cough since lisinopril."
    server.add(make.patient(), make.note("All is well.", id="n1"),
               make.note(id="n2", content=[{"attachment": attachment}]))  # fmt: skip
    assert [item["title"] for item in server_call("get_notes").data] == ["Progress note"] * 2
    assert "lisinopril" not in str(server_call("get_notes").data)
    (found,) = server_call("get_notes_search_results", {"query": "cough"}).data
    assert (found["note_id"], found["text"]) == ("n2", "Dry cough since lisinopril.")
    # A note that changed is found as it is now, and one that was withdrawn is not found.
    server.binaries["Binary/b1"] = b"The cough has gone."
    (found,) = server_call("get_notes_search_results", {"query": "cough"}).data
    assert found["text"] == "The cough has gone."
    del server.resources["DocumentReference/n2"]
    assert server_call("get_notes_search_results", {"query": "cough"}).data == []


def test_another_patient_and_an_unknown_one_are_errors(server, server_call):
    assert server_call("get_labs", patient="456").error.code == "other_patient"
    assert server.asked == []
    assert server_call("get_labs").error.code == "patient_not_found"


@pytest.mark.parametrize(
    ("status", "code", "tries"),
    [(401, "fhir_refused", 1), (403, "fhir_refused", 1), (302, "fhir_refused", 1),
     (503, "api_offline", 3)],
)  # fmt: skip
def test_a_failing_server_fails_the_call(server, server_call, status, code, tries):
    server.status = status
    result = server_call("get_labs")
    assert (result.success, result.data) == (False, None)
    assert (result.error.code, len(server.asked)) == (code, tries)
    assert TOKEN not in str(result.to_dict())
