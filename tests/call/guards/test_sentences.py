"""How often the rules of negation decide as a reader does, for sentences of each language.

Each line of `sentences` has the reader's decision, the keywords (or a value) and a message: `yes`
asks for it or states it, `no` negates it, and `ask` is a question, a condition or a report.
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
