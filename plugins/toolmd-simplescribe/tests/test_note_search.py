"""Search in notes: only indexed ones, best first, with any query."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolmd import ToolError
from toolmd_simplescribe.records import BY_WORDS, MAY_MISS
from toolmd_simplescribe.search.method import Method
from toolmd_simplescribe.search.note_index import SIZE, IndexedNote, NoteIndex, chunks_of
from toolmd_simplescribe.store import PatientStore, load

COUGH = "Dry cough since lisinopril. Intolerance of an ACE inhibitor."
SUGAR = "HbA1c has come down. The patient walks every day."


def ids(found):
    return [item["note_id"] for item in found]


def test_the_best_excerpt_comes_first_with_its_rank_and_score(records, make):
    records.load(make.note(COUGH, id="cough"), make.note(SUGAR, id="sugar"))
    records.index()
    found = records.chart().search("ACE inhibitor intolerance, walks?", 8, None)
    assert ids(found) == ["cough", "sugar"]
    assert [item["rank"] for item in found] == [1, 2]
    assert found[0]["score"] > found[1]["score"] > 0
    assert found[0] == {
        "note_id": "cough",
        "chunk_id": "cough#1",
        "text": COUGH,
        "rank": 1,
        "score": found[0]["score"],
        "source": {"system": "rag", "updated": "2026-03-02T12:00:00Z"},
    }


def test_notes_that_were_not_indexed_are_not_found(records, make):
    records.load(make.note(COUGH, id="a"))
    with pytest.raises(ToolError) as refused:
        records.chart().search("cough", 8, None)
    assert refused.value.code == "notes_not_indexed"
    records.index()
    records.load(make.note(COUGH, id="b"))
    assert ids(records.chart().search("cough", 8, None)) == ["a"]
    with pytest.raises(ToolError):
        records.chart().search("cough", 8, ["b"])
    records.index()
    assert ids(records.chart().search("cough", 8, None)) == ["a", "b"]


def test_a_note_that_changed_is_not_found_until_it_is_indexed_again(records, make):
    records.load(make.note(COUGH, id="a"), make.note(SUGAR, id="b"))
    assert records.index() == (2, 0, 0)
    records.load(make.note("No cough.", id="a"))
    assert records.chart().search("cough", 8, None) == []
    assert records.index() == (1, 1, 1)
    assert [item["text"] for item in records.chart().search("cough", 8, None)] == ["No cough."]
    assert records.index() == (0, 0, 2)


def test_a_withdrawn_note_is_not_found(records, make):
    records.load(make.note(COUGH, id="a"), make.note(SUGAR, id="b"))
    records.index()
    records.load(make.note(COUGH, id="a", status="entered-in-error"))
    assert records.chart().search("cough", 8, None) == []
    assert records.index() == (0, 1, 1)


def test_no_other_patients_note_is_found_or_changes_a_score(records, make):
    mine = [make.note(COUGH, id="a"), make.note(SUGAR, id="b")]
    records.load(*mine)
    records.index()
    alone = records.chart().search("cough lisinopril walks", 8, None)
    records.load(*[make.note(COUGH, patient="456") for _ in range(20)])
    records.index("456")
    assert records.chart().search("cough lisinopril walks", 8, None) == alone
    theirs = records.chart("456").notes()[0].id
    assert records.chart().search("cough", 8, [theirs]) == []


def test_the_ids_of_notes_narrow_a_search(records, make):
    records.load(*[make.note(COUGH, id=name) for name in "abc"])
    records.index()
    assert ids(records.chart().search("cough", 8, ["b", "c", "zz", "' OR 1=1 --"])) == ["b", "c"]
    assert ids(records.chart().search("cough", 2, None)) == ["a", "b"]


@pytest.mark.parametrize(
    "query",
    [
        'cough"',
        '"cough',
        "cough*",
        "cough AND",
        "NOT cough",
        "cough NEAR(",
        "text:cough",
        "^cough",
        "cough) OR (note:x",
        "{text} : cough",
        "cough + -",
        "'; DROP TABLE chunk; -- cough",
        "cough\x00",
        "cough \ud800",
        "-cough",
        "cough/night",
        "cough … „",
    ],
)
def test_operators_in_a_query_are_only_signs(query, records, make):
    records.load(make.note("A cough.", id="a"), make.note("Nothing.", id="b"))
    records.index()
    assert ids(records.chart().search(query, 8, None)) == ["a"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=60) | st.text('"*^:(){}+-ANDORNEAT \x00', max_size=60))
def test_no_query_breaks_the_search(query, indexed):
    for rank, item in enumerate(indexed.chart().search(query, 20, None), 1):
        assert item["rank"] == rank
        assert item["note_id"] in {"a", "b"}


@pytest.fixture
def indexed(records, make):
    records.load(make.note(COUGH, id="a"), make.note(SUGAR, id="b"))
    records.index()
    return records


@given(st.text(max_size=6000) | st.lists(st.sampled_from(["word", ". ", "\n\n", " "])).map("".join))
def test_chunks_contain_every_word_once_and_in_order(text):
    chunks = list(chunks_of(text))
    assert "".join("".join(chunk.split()) for chunk in chunks) == "".join(text.split())
    assert all(0 < len(chunk) <= SIZE for chunk in chunks)


def test_a_long_note_is_many_chunks_and_the_right_one_is_found(records, make):
    parts = [f"Paragraph {n} speaks of nothing much. " * 15 for n in range(40)]
    parts[27] += "The patient plays the bassoon."
    records.load(make.note("\n\n".join(parts), id="long"))
    records.index()
    (found,) = records.chart().search("bassoon", 8, None)
    assert "bassoon" in found["text"]
    assert len(found["text"]) <= SIZE


def test_an_index_that_fails_half_way_stays_as_it_was(records, make):
    records.load(make.note(COUGH, id="a"))
    records.index()
    records.load(make.note(SUGAR, id="b"))
    chart = records.chart()

    def stop(texts):
        raise KeyboardInterrupt

    records.store.method.vectors = stop
    with pytest.raises(KeyboardInterrupt):
        chart.update_index("2026-03-03T00:00:00Z")
    assert chart.index.known().keys() == {"a"}


class Meanings:
    """An embedder that knows what two words have in common."""

    name = "two meanings"
    floor = 0.5

    def embed(self, texts):
        rows = [[1, 0] if re.search("cough|lungs", t.lower()) else [0, 1] for t in texts]
        return np.array(rows, dtype=np.float32)


def test_a_note_is_found_by_its_meaning_and_the_best_of_both_ways_goes_first(tmp_path, make, clock):
    method = Method(Meanings())
    store = PatientStore(tmp_path, method)
    notes = [make.note(COUGH, id="cough"), make.note(SUGAR, id="sugar")]
    load(store.database, make.bundle(*notes), clock=clock)
    chart = store.chart("123", "123")
    chart.update_index("2026-03-02T12:00:00Z")
    assert ids(chart.search("trouble with the lungs", 8, None)) == ["cough"]
    # By meaning cough goes first, by words sugar alone is found: both ways together count.
    assert ids(chart.search("lungs of a patient that walks", 8, None)) == ["sugar", "cough"]
    # Another embedder's vectors are not compared: the notes count as not indexed.
    store.method.embedder_name = "another"
    assert chart.indexed(chart.notes())[1] == ["cough", "sugar"]
    store.close()


@pytest.mark.parametrize(
    ("query", "text"),
    [("HTN", "High blood pressure."), ("heart attack", "Had an MI in May."),
     ("Lipitor", "Takes atorvastatin."), ("lisinopril", "On an ACE inhibitor.")],
)  # fmt: skip
def test_synonyms_abbreviations_and_brand_names_are_found(records, make, query, text):
    records.load(make.note(text, id="a"), make.note(SUGAR, id="b"))
    records.index()
    assert ids(records.chart().search(query, 8, None)) == ["a"]


def test_notes_that_are_newer_than_the_index_are_named_on_the_result(workspace_records, make, call):
    workspace_records.load(make.note("Tolerates penicillin well.", id="old"))
    workspace_records.index()
    workspace_records.load(make.note("ALLERGY: anaphylaxis to penicillin.", id="new"))
    result = call("get_notes_search_results", {"query": "penicillin"})
    assert ids(result.data) == ["old"]
    assert (
        "1 of 2 notes were not searched, since they are not indexed as they are now: new."
        in result.notes
    )
    assert MAY_MISS in result.notes
    workspace_records.index()
    result = call("get_notes_search_results", {"query": "penicillin"})
    assert set(ids(result.data)) == {"old", "new"}
    assert result.notes == (BY_WORDS, MAY_MISS)


def test_the_evaluation_set_is_whole_and_words_alone_reach_what_is_reported(tmp_path):
    folder = Path(__file__).parent / "evaluation"
    parts = [yaml.safe_load((folder / f"{half}.yaml").read_text("utf-8"))
             for half in ("first", "second")]  # fmt: skip
    notes = parts[0]["notes"] | parts[1]["notes"]
    index = NoteIndex(tmp_path / "notes.sqlite3", Method())
    index.update([IndexedNote(id_, id_, text) for id_, text in notes.items()], "2026-01-01")
    assert len(notes) >= 60
    for part, least in zip(parts, (0.5, 0.4), strict=True):
        assert len(part["queries"]) >= 30
        hits = sum(wanted in ids(index.search(query, list(notes), 3))
                   for query, wanted, _ in part["queries"])  # fmt: skip
        assert hits / len(part["queries"]) >= least
