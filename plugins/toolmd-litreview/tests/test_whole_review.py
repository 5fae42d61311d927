"""A whole review on recorded answers: from a question to clusters, PICO table and PRISMA."""

import asyncio
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from ncbi_server import HEARTS, LUNGS
from openai_server import pico_of

from toolmd.testing import FakeClock
from toolmd_litreview.library import Library
from toolmd_litreview.review.output import export, lines, page
from toolmd_litreview.review.run import Question, Reviewer, to_json

QUESTION = Question(
    "Do statins help in <heart> failure?",
    "statins OR steroids",
    200,
    "semantic",
    "randomised trials in adults",
)

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def answers(task, material):
    """Answer as a careful model does."""
    if "PRISMA" in task:
        return json.dumps({"missing_items": [] if "adults" in material else [5]})
    if "new_PICO" in task:
        return '{"new_PICO": "In children with asthma, do steroids help?"}'
    return pico_of(material)


@pytest.fixture
def literature(ncbi, openai):
    for pmid in HEARTS:
        ncbi.add(pmid, f"Statins and heart failure {pmid}", f"Statins help hearts {pmid}.")
    for pmid in LUNGS:
        ncbi.add(pmid, f"Steroids in asthma of children {pmid}", f"Steroids help lungs {pmid}.")
    ncbi.add(501, "Statins and heart failure: statins help hearts")
    ncbi.find = lambda term: (
        [501] if "systematic[sb]" in term and "heart" in term
        else [] if "systematic[sb]" in term else [*HEARTS, *LUNGS]
    )  # fmt: skip
    openai.say = answers
    return ncbi


@pytest.fixture
def reviewed(workspace, literature):
    """Review a question; the answers to what is asked are recorded."""
    library = Library(workspace.settings.state, FakeClock(NOON))
    asked, told = [], []

    def go(question=QUESTION):
        reviewer = Reviewer(
            workspace, library, "ana", lambda prompt: asked.append(prompt) or True, told.append
        )
        return asyncio.run(reviewer.review(question)), asked, told

    yield go
    library.close()


def test_a_review_goes_from_a_question_to_fields_and_the_check(reviewed):
    review, asked, told = reviewed()
    assert told == ["Searching PubMed", "Reading asthma children steroids",
                    "Reading failure heart statins"]  # fmt: skip
    assert asked == []
    assert (review.handbook.seed_query, review.handbook.eligibility) == (
        QUESTION.text,
        QUESTION.eligibility,
    )
    assert [count for _, count in review.flow] == [60] * 5
    by_label = {theme.label: theme for theme in review.themes}
    hearts = by_label["failure heart statins"]
    assert (hearts.overlap, hearts.sr_pmids, hearts.missing_items) == (1.0, (501,), ())
    # PubMed has no review on it, which is not the same as none that is close.
    assert by_label["asthma children steroids"].overlap is None
    assert "no systematic review" in by_label["asthma children steroids"].problems[0]
    assert hearts.rows[0]["P"] == "Statins help hearts 1."
    assert review.next_question == "In children with asthma, do steroids help?"
    assert json.loads(to_json(review))["flow"]["Records that were read"] == 60


def test_the_report_shows_the_flow_and_the_check(reviewed):
    review, *_ = reviewed()
    text = "\n".join(lines(review))
    for words in ("60  Records that were read", "failure heart statins", "100%", "items 4 to 8",
                  "Fields: 30 papers, in pico/cl-", "Next question"):  # fmt: skip
        assert words in text


def test_the_page_has_the_diagram_and_the_table_and_runs_nothing(reviewed):
    review, *_ = reviewed()
    html = page(review)
    assert "Do statins help in &lt;heart&gt; failure?" in html
    assert "<script" not in html
    assert len(re.findall("<rect", html)) == len(review.flow)
    assert html.count("<tr>") == 60 + len(review.themes)
    assert "not stated" in html
    assert "<small>“STATINS HELP HEARTS 1.”</small>" in html


def test_decisions_are_in_the_flow_on_the_page_and_in_the_files(reviewed, workspace):
    reviewed()
    library = Library(workspace.settings.state, FakeClock(NOON))
    library.of("ana").decide([1, 2], "exclude", "=children only", "ana")
    review, *_ = reviewed()
    assert review.flow[-1] == ("Records that a person did not exclude", 58)
    assert "2 excluded by a person" in page(review)
    assert "exclude: =children only" in page(review)
    ris = export(library, "ana", None, "ris")
    assert "TI  - Statins and heart failure 1\r\n" in ris
    assert "PY  - 2024\r\n" in ris
    assert "DO  - 10.1/1\r\n" in ris
    assert "N1  - =children only\r\nC1  - exclude\r\nER  - \r\n" in ris
    heads, first, *_ = export(library, "ana", None, "csv").split("\r\n")
    assert heads.startswith("pmid,title,abstract,year,journal,doi,theme,decision,reason,P,I")
    assert ",exclude,'=children only,Statins help hearts 1." in first
    library.close()


def test_a_second_review_counts_its_own_papers(reviewed, literature):
    reviewed()
    literature.add(900, "Vitamins and knees", "Vitamins help knees.")
    literature.find = lambda term: [] if "systematic[sb]" in term else [900]
    other = Question("Do vitamins help knees?", "vitamins AND knees", 30, "semantic")
    review, *_ = reviewed(other)
    assert [count for _, count in review.flow] == [1] * 5


def test_a_large_cluster_is_confirmed_by_a_person(reviewed, literature, call, workspace):
    for pmid in range(1_000, 1_900):
        literature.add(pmid, "Statins and heart failure", "Statins help hearts.")
    literature.find = lambda term: [] if "systematic[sb]" in term else [*range(1_000, 1_900)]
    found = call("search_pubmed", {"query": "x"})
    library = Library(workspace.settings.state, FakeClock(NOON))
    shelf = library.of("ana")
    (*_, largest) = sorted(found.data["clusters"], key=lambda id_: len(shelf.papers(id_)))
    shelf.place({paper.pmid: largest for paper in shelf.papers()})
    held = call("run_pico", {"cluster_id": largest})
    assert held.outcome == "confirm"
    shelf.place(dict.fromkeys(range(1_000, 1_100), "cl-none"))
    assert len(shelf.papers(largest)) == 800
    library.close()
    assert call("run_pico", {"cluster_id": largest}, dry_run=True).outcome == "allowed"


def test_the_command_reviews_a_question_and_lists_its_handbook(literature, environ, tmp_path):
    (tmp_path / "toolmd.toml").write_text('plugins = ["litreview"]\n')
    command = Path(sys.executable).with_name("toolmd-litreview")

    def typed(*words):
        return subprocess.run(
            [command, *words, "--user", "ana", f"--project={tmp_path}"],
            env={**os.environ, **environ, "TOOLMD_LOAD_PLUGINS": "litreview"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    asked = ("--query", QUESTION.query, "--eligibility", QUESTION.eligibility, "--retmax", "200")
    done = typed("review", QUESTION.text, *asked, "--page", str(tmp_path / "page.html"))
    listed = json.loads(typed("handbooks", "--json").stdout)["handbooks"]
    empty = typed("review", "Nothing?", "--retmax", "0")
    decided = typed("decide", "99999", "--exclude", "--reason", "unknown")
    exported = typed("export", str(tmp_path / "papers.ris"), "--handbook", "hb-none")

    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("Searching PubMed\n")
    assert "failure heart statins" in done.stdout
    assert "<svg" in (tmp_path / "page.html").read_text("utf-8")
    assert QUESTION.text in [book["seed_query"] for book in listed]
    assert (empty.returncode, empty.stdout) == (1, "")
    assert empty.stderr.splitlines()[-1].startswith("error: ")
    assert (decided.returncode, decided.stderr[:28]) == (1, "error: none of these papers ")
    assert exported.stderr.startswith("error: the review has no papers")
