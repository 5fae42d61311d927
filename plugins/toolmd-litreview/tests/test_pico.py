"""run_pico: its extractions from a cluster or a list of papers, and its cost."""

import json

import pytest
from ncbi_server import HEARTS, Fault
from openai_server import pico_of

from toolmd import Budget


def test_a_cluster_is_extracted(searched, call, lines, openai):
    openai.say = lambda task, material: pico_of(material)
    result = call("run_pico", {"cluster_id": searched[0]})
    assert result.data == {
        "file": f"pico/{searched[0]}.jsonl",
        "extracted": 30,
        "unsupported_fields": 0,
        "without_abstract": 0,
        "failed_pmids": [],
        "unknown_pmids": [],
    }
    rows = lines(result.data["file"])
    assert [row["pmid"] for row in rows] == list(HEARTS)
    assert list(rows[0]) == ["pmid", "P", "I", "C", "O", "StudyDesign", "quotes"]
    assert rows[0] == {
        "pmid": 1, "P": "Statins help hearts 1.", "I": "Statins and heart failure 1", "C": None,
        "O": "Statins help hearts 1.", "StudyDesign": None,
        "quotes": {"P": "STATINS HELP HEARTS 1.", "I": "Statins and heart failure 1",
                   "O": "Statins help hearts 1."},
    }  # fmt: skip


def test_a_list_of_papers_is_extracted_at_once_forty_at_a_time(call, ncbi, openai, lines):
    for pmid in range(1, 101):
        ncbi.add(pmid)
    sizes = []
    openai.say = lambda task, material: sizes.append(material.count("\n") + 1) or pico_of(material)
    heard = []
    result = call("run_pico", {"pmid_list": list(range(1, 101))}, on_event=heard.append)
    assert (result.outcome, result.data["extracted"]) == ("ok", 100)
    assert sizes == [40, 40, 20]
    assert len(lines(result.data["file"])) == 100
    assert [e.data["text"] for e in heard] == [f"{n} of 100 abstracts" for n in (0, 40, 80, 100)]
    assert [e.data["fraction"] for e in heard] == [0, 0.4, 0.8, 1]


@pytest.mark.parametrize(("count", "outcome"), [(800, "allowed"), (801, "confirm")])
def test_more_than_800_abstracts_are_confirmed(call, count, outcome):
    given = {"pmid_list": list(range(1, count + 1))}
    assert call("run_pico", given, dry_run=True).outcome == outcome


def test_neither_or_both_sources_or_a_path_are_denied(call):
    for arguments in (
        {},
        {"cluster_id": "cl-1", "pmid_list": [1]},
        {"cluster_id": "../../x"},
        {"cluster_id": "cl-1\n"},
        {"cluster_id": "/etc/passwd"},
        {"cluster_id": "CL"},
        {"pmid_list": []},
        {"pmid_list": [0]},
        {"pmid_list": [1, 1]},
        {"pmid_list": ["1"]},
        {"pmid_list": list(range(1, 10_002))},
        {"pmid_list": [1], "file": "x"},
    ):
        assert call("run_pico", arguments).error.code == "invalid_arguments", arguments


def test_an_unknown_cluster_is_reported_with_the_known_ones(call, searched):
    result = call("run_pico", {"cluster_id": "cl-000000000000"})
    assert result.error.code == "cluster_not_found"
    assert searched[0] in result.error.message
    result = call("prisma_check", {"cluster_id": searched[0]}, user="ben")
    assert result.error.code == "cluster_not_found"
    assert searched[0] not in result.error.message.replace(f"'{searched[0]}'", "")


def test_a_retried_call_asks_for_the_rest_only(call, ncbi, openai):
    for pmid in range(1, 81):
        ncbi.add(pmid)
    openai.say = lambda task, material: pico_of(material)
    openai.faults += [None] + [Fault(502)] * 40
    given = {"pmid_list": list(range(1, 81))}
    assert not call("run_pico", given, budget=Budget(10, 10_000, 3_000)).success
    openai.faults.clear()
    openai.asked.clear()
    assert call("run_pico", given).data["extracted"] == 80
    assert len(openai.asked) == 1


def test_a_paper_without_an_abstract_has_no_fields_and_costs_nothing(call, ncbi, openai, lines):
    ncbi.add(1, "T.", "")
    result = call("run_pico", {"pmid_list": [1, 404]})
    assert (result.data["without_abstract"], result.data["unknown_pmids"]) == (1, [404])
    assert lines(result.data["file"]) == [
        {"pmid": 1, "P": None, "I": None, "C": None, "O": None, "StudyDesign": None, "quotes": {}}
    ]
    assert openai.asked == []


def test_a_paper_that_the_model_leaves_out_is_asked_for_once_more(call, ncbi, openai, lines):
    for pmid in (1, 2, 3):
        ncbi.add(pmid)
    openai.say = lambda task, material: pico_of(material, leave_out={2})
    result = call("run_pico", {"pmid_list": [1, 2, 3]})
    assert (result.data["extracted"], result.data["failed_pmids"]) == (2, [2])
    assert [row["pmid"] for row in lines(result.data["file"])] == [1, 3]
    asked = [asked["messages"][1]["content"] for _, asked, *_ in openai.asked]
    assert [json.loads(line)["pmid"] for line in asked[1].splitlines()] == [2]


def test_a_model_that_says_nothing_of_use_writes_no_file(call, ncbi, openai, workspace):
    ncbi.add(1)
    for said in (
        "",
        "I cannot do that.",
        "{" * 5_000,
        '{"papers": "none"}',
        '{"papers": [{"pmid": 99, "P": "x"}]}',
        '{"papers": [{"pmid": true, "P": "x"}]}',
        '{"papers": [{"pmid": 1}]}',
        '{"papers": [null, 1, []]}',
        '{"papers": [{"pmid": [1], "P": "x"}]}',
        '{"papers": [{"pmid": {}, "P": "x"}]}',
    ):
        openai.say = lambda task, material, said=said: said
        assert call("run_pico", {"pmid_list": [1]}).error.code == "model_unreadable", said
        assert not (workspace.settings.state / "pico").exists(), said


TEXT = (
    "In 120 adults with asthma, inhaled budesonide was compared with placebo in a randomized "
    "controlled trial. Deaths fell by 38%. Mortality was not reduced in men."
)


def test_a_field_is_kept_if_the_abstract_has_its_quote_and_its_words(call, ncbi, openai, lines):
    for pmid, (value, quote, kept) in enumerate((
        ("120 adults with asthma", "120 adults with asthma", True),
        ("Adults who have asthma", "In 120 “adults” with ASTHMA", True),
        ("RCT", "a randomized controlled trial", True),
        ("randomised controlled trial", "a randomized controlled trial", True),
        ("not reduced", "Mortality was not reduced", True),
        ("deaths fell by 38%", "Deaths fell by 38%", True),
        ("RCT", "was compared with placebo", False),
        ("men", "adults with asthma", False),
        ("Mortality reduced", "Mortality was not reduced", False),
        ("Mortality not changed", "Deaths fell by 38%", False),
        ("Reduced mortality by 38%", "Deaths fell by 38%", False),
        ("Martians", "adults with asthma", False),
        ("Martians", "Martians with asthma", False),
        ("adults with asthma", "asthmatic adults", False),
        ("adults with asthma", None, False),
        ("adults with asthma", "", False),
        ("480 adults with asthma", "adults with asthma", False),
        ("children with diabetes and asthma", "with asthma", False),
    ), 1):  # fmt: skip
        ncbi.add(pmid, "T.", TEXT)
        quotes = {"P": quote, "I": "budesonide"}
        row = {"pmid": pmid, "P": value, "I": "budesonide", "quotes": quotes}
        openai.say = lambda task, material, row=row: json.dumps(row)
        result = call("run_pico", {"pmid_list": [pmid]})
        assert lines(result.data["file"])[0]["P"] == (value if kept else None), (value, quote)
        assert result.data["unsupported_fields"] == (0 if kept else 1), (value, quote)


def test_the_question_about_many_abstracts_has_their_number(call):
    asked = call("run_pico", {"pmid_list": list(range(1, 1_300))})
    assert asked.confirmation.prompt.startswith("Extract the fields of 1299 abstracts? ")
    assert len(asked.confirmation.prompt) < 3_000
