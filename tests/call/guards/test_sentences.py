"""How often the rules of negation decide as a reader does, for sentences of each language.

Each line of `sentences` has the reader's decision, the keywords (or a value) and a message: `yes`
asks for it or states it, `no` negates it, and `ask` is a question, a condition or a report.

The files `…-unseen.tsv` are by another author, who did not know the rules. The rules were improved
with the first half of each; the second half stays unseen and measures them.
"""

from pathlib import Path

import pytest

from toolmd._call.guards.intent import asks_for, states
from toolmd._call.guards.said import Said

SENTENCES = Path(__file__).parent / "sentences"
VALUES = {
    "aspirin", "aspirina", "aspirine", "阿司匹林", "migraine", "migräne", "migraña", "偏头痛",
}  # fmt: skip
"""What is stated, not asked for."""
LANGUAGES = ["en", "de", "es", "fr", "zh"]


def unseen(language: str) -> list[tuple[str, Said]]:
    """Return the decisions on the second half of the other author's sentences."""
    lines = (SENTENCES / f"{language}-unseen.tsv").read_text("utf-8").splitlines()
    found = []
    for line in lines[len(lines) // 2 :]:
        label, words, message = line.split("\t")
        found.append((label, asks_for(message, tuple(words.split("|")))))
    return found


def decisions(language: str) -> list[tuple[str, Said]]:
    lines = (SENTENCES / f"{language}.tsv").read_text("utf-8").splitlines()
    found = []
    for line in lines:
        label, words, message = line.split("\t")
        stated = words.casefold() in VALUES
        said = states(words, message) if stated else asks_for(message, tuple(words.split("|")))
        found.append((label, said))
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_hardly_any_negated_or_doubtful_message_lets_a_call_run(language: str) -> None:
    ran = [label for label, said in decisions(language) if said is Said.YES]
    assert ran.count("yes") / len(ran) >= 0.97


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_requests_run_and_the_others_are_asked_about(language: str) -> None:
    wanted = [said for label, said in decisions(language) if label == "yes"]
    assert wanted.count(Said.YES) / len(wanted) >= 0.9
    assert wanted.count(Said.NO) == 0


@pytest.mark.parametrize("language", LANGUAGES)
def test_few_unseen_messages_that_do_not_ask_let_a_call_run(language: str) -> None:
    ran = [label for label, said in unseen(language) if said is Said.YES]
    assert ran.count("yes") / len(ran) >= 0.86
    others = [said for label, said in unseen(language) if label != "yes"]
    assert others.count(Said.YES) / len(others) <= 0.12


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_unseen_requests_run(language: str) -> None:
    wanted = [said for label, said in unseen(language) if label == "yes"]
    assert wanted.count(Said.YES) / len(wanted) >= 0.89
    assert wanted.count(Said.NO) <= 2
