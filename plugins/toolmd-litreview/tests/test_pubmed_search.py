"""search_pubmed through the dispatcher: the history server, and the papers that it stores."""

import asyncio
import json

import pytest
from stored_papers import stored

from toolmd_litreview.embedding import BY_WORDS


@pytest.fixture
def environ(environ):
    """Nothing makes vectors unless a test asks for it."""
    return {key: value for key, value in environ.items() if "MODEL" not in key}


def test_a_search_returns_triples_and_saves_them(call, ncbi, workspace):
    ncbi.add(11, "First.", "One.")
    ncbi.add(12, "Second.", "")
    result = call("search_pubmed", {"query": "statins"})
    assert result.outcome == "ok"
    (cluster,) = result.data["clusters"].values()
    assert cluster == "first second: 2 papers, cohesion 0.71"
    assert result.data == {
        "clusters": result.data["clusters"],
        "found": 2,
        "new": 2,
        "phrases_not_found": [],
        "papers": [
            {"pmid": 11, "title": "First.", "abstract": "One."},
            {"pmid": 12, "title": "Second.", "abstract": ""},
        ],
    }
    assert result.source == {"system": "PubMed"}
    assert "2 papers of 2 found, 2 of them new" in result.message
    assert stored(workspace) == [("ana", 11, "First.", "One."), ("ana", 12, "Second.", "")]


def test_a_search_is_made_by_the_history_server_in_batches(call, ncbi):
    for pmid in range(1, 1_102):
        ncbi.add(pmid)
    result = call("search_pubmed", {"query": "statins", "retmax": 1_100})
    assert result.data["found"] == 1_101
    assert [p["pmid"] for p in result.data["papers"]] == list(range(1, 1_101))
    assert ncbi.paths() == ["esearch.fcgi", "elink.fcgi", *["efetch.fcgi"] * 3]
    places = [(a["retstart"], a["retmax"]) for _, a, *_ in ncbi.asked[2:]]
    assert places == [("0", "500"), ("500", "500"), ("1000", "100")]
    assert {(a["WebEnv"], a["query_key"]) for _, a, *_ in ncbi.asked[2:]} == {("MCID_0000", "1")}


def test_two_thousand_papers_are_the_most_unless_more_are_asked_for(call, ncbi):
    for pmid in range(1, 2_003):
        ncbi.add(pmid)
    assert len(call("search_pubmed", {"query": "x"}).data["papers"]) == 2_000


def test_requests_identify_the_caller_and_urls_contain_no_key(call, ncbi):
    ncbi.add(1)
    call("search_pubmed", {"query": "statins & co?"})
    assert len(ncbi.asked) == 3
    for path, asked, _, _headers in ncbi.asked:
        assert asked["tool"] == "toolmd-litreview"
        assert asked["email"] == "ana@example.org"
        assert asked["api_key"] == "secret-of-ncbi"
        assert "?" not in path
    assert ncbi.asked[0][1]["term"] == "statins & co?"


def test_the_same_search_again_adds_nothing(call, ncbi, workspace):
    ncbi.add(11)
    assert call("search_pubmed", {"query": "x"}).data["new"] == 1
    assert call("search_pubmed", {"query": "x"}).data["new"] == 0
    assert len(stored(workspace)) == 1


def test_no_user_sees_anothers_candidates(call, ncbi, workspace):
    ncbi.add(11)
    call("search_pubmed", {"query": "x"}, user="ana")
    assert call("search_pubmed", {"query": "x"}, user="ben").data["new"] == 1
    assert call("search_pubmed", {"query": "x"}, user=None).data["new"] == 1
    assert {row[0] for row in stored(workspace)} == {"ana", "ben", ""}


def test_a_ripple_reserves_half_of_the_results_for_similar_articles(call, ncbi):
    for pmid in range(1, 20):
        ncbi.add(pmid)
    ncbi.find = lambda term: [1, 2, 3, 4, 5, 6]
    ncbi.near = {1: [10, 2, 11], 2: [12], 3: [404, 13]}
    given = {"query": "x", "retmax": 6, "expand_mode": "ripple"}
    papers = call("search_pubmed", given).data["papers"]
    assert [p["pmid"] for p in papers] == [1, 2, 3, 10, 11, 12]
    assert ncbi.asked[1][1]["id"] == "1,2,3,4,5,6"


def test_a_search_without_embeddings_goes_on_by_words_and_says_so(call, ncbi):
    for pmid in range(1, 9):
        ncbi.add(pmid, "Knees and hips", "Joints.")
    ncbi.add(3, "Statins prevented a stroke", "")
    given = {"query": "statins prevent strokes", "retmax": 2, "expand_mode": "semantic"}
    result = call("search_pubmed", given)
    assert [paper["pmid"] for paper in result.data["papers"]] == [3, 1]
    assert result.data["clusters"]
    assert result.notes == (BY_WORDS,)
    assert "LITREVIEW_EMBEDDINGS_URL" in BY_WORDS


def test_a_search_outside_the_files_limits_sends_no_request(call, ncbi):
    for arguments in (
        {},
        {"query": ""},
        {"query": "x", "retmax": 0},
        {"query": "x", "retmax": 10_000},
        {"query": "x", "retmax": "20"},
        {"query": "x", "retmax": True},
        {"query": "x", "expand_mode": "Ripple"},
        {"query": "x", "expand_mode": None},
        {"query": "x", "file": "/etc/passwd"},
    ):
        result = call("search_pubmed", arguments)
        assert (result.outcome, result.error.code) == ("denied", "invalid_arguments"), arguments
    assert ncbi.asked == []


def test_progress_is_reported(call, ncbi):
    for pmid in range(1, 1_002):
        ncbi.add(pmid)
    heard = []
    call("search_pubmed", {"query": "x"}, on_event=heard.append)
    assert [event.data["text"] for event in heard] == [
        "500 of 1001 records",
        "1000 of 1001 records",
        "1001 of 1001 records",
    ]
    assert heard[-1].data["fraction"] == 1.0


def test_phrases_that_pubmed_does_not_know_are_kept_and_told(call, ncbi, workspace):
    ncbi.add(11)
    ncbi.unknown = ["statinz", "hartfailure"]
    result = call("search_pubmed", {"query": "statinz OR hartfailure OR x"})
    assert result.data["phrases_not_found"] == ["statinz", "hartfailure"]
    assert result.notes == (
        "PubMed does not know these phrases and searched without them: statinz; hartfailure.",
        BY_WORDS,
    )


def test_a_model_gets_a_handle_and_neither_abstracts_nor_vectors(workspace, ncbi):
    for pmid in range(1, 301):
        ncbi.add(pmid, abstract="An abstract of some length. " * 40)

    def ask(tool, args):
        reply = "Action: " + json.dumps({"tool": tool, "args": args})
        turn = asyncio.run(workspace.handle(reply, dialect="action", user="ana"))
        return turn.results[0], turn.messages[0]["content"]

    found, text = ask("search_pubmed", {"query": "x", "expand_mode": "ripple"})
    assert len(text) < 1_000
    assert found.handle
    assert found.data["found"] == 300
    assert "abstract of some length" not in text
    # The papers go to the next tool by the handle, and past the model.
    pico = {"pmid_list": {"$result": found.handle, "path": "papers[*].pmid"}}
    result, _ = ask("run_pico", pico)
    assert result.error.code == "not_configured"
