"""The user's own words: clear, unclear or absent."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._call.words import DOUBT, MAX_MESSAGE, asks_for, says_any, states

SENTENCES = Path(__file__).parent / "sentences"
FORMS = {
    "log": ("log logs logged logging logger", "lo logg logo logics blog login"),
    "remind": ("remind reminds reminded reminding reminder reminders", "remindful reremind"),
    "schedule": ("schedule schedules scheduled scheduling", "schedul scheduleed schedulling"),
    "carry": ("carry carries carried carrying", "carr carris carryied"),
    "play": ("play plays played playing player", "plaies plaied"),
    "fix": ("fix fixes fixed fixing", "fixxed"),
    "treat": ("treat treats treated treating", "treatted"),
    "take": ("take takes taken taking", "took tooks untaken"),
    "it": ("it", "its ited"),
    "c3p": ("c3p", "c3ps"),
}


@pytest.mark.parametrize("keyword", FORMS)
def test_a_keyword_is_a_whole_word_or_its_inflection_by_the_ending(keyword: str) -> None:
    forms, others = FORMS[keyword]
    for form in forms.split():
        assert says_any(f"please {form.upper()}, now", (keyword,)), form
    for other in others.split():
        assert not says_any(f"please {other} now", (keyword,)), other


def test_words_are_equal_in_any_spelling() -> None:
    for keyword, message in (("straße", "STRASSE 5"), ("fix", "ﬁx it"), ("café", "two cafe\u0301s"),
                             ("remind", "ｒｅｍｉｎｄ me"), ("提醒", "请提醒我"),
                             ("write it down", "I would write it -- down")):  # fmt: skip
        assert says_any(message, (keyword,)), keyword
    for keyword, message in (("write it down", "write it all down"), ("-", "so - then"),
                             ("de: erinnere", "Erinnert mich"), ("de: an", "an das")):  # fmt: skip
        assert says_any(message, (keyword,)) is (keyword == "de: an")


KEYWORDS = ("log", "remind", "don't need", "no longer")
CLEAR = [
    "Log my aspirin.",
    "I took 2 mg. Please log it. I don't feel well today.",
    "REMINDERS, please",
    "I don't need it.",  # a keyword of the file doubts nothing
    "It is no longer there!",
]
UNCLEAR = [
    "Can you log it?",
    "Log it？",
    "Don't log it.",
    "Don’t log it.",
    "I did not log it.",
    "Never log it",
    "If it hurts, log it.",
    "Ask him whether to log it",
    "I should log it",
    "Log it later.",
    "Remind me tomorrow",
    "My husband wants to log it",
    "Log it. Log it? Log it.",
    "Log it. No, wait.",
    "Log it… actually no, leave it.",
    "Turn it on and log it… actually don't bother.",
    "Is it right to log it",
    "I'll log it",
    "I think I logged it",
    "She logs it",
    "I havent logged it",
]


def test_a_keyword_in_a_sentence_with_doubt_is_unclear_and_without_doubt_clear() -> None:
    for message in CLEAR:
        assert asks_for((message,), KEYWORDS) == "clear", message
    for message in UNCLEAR:
        assert asks_for((message,), KEYWORDS) == "unclear", message
    for message in ("", "?", "No.", "Do it", "a log2"):
        assert asks_for((message,), KEYWORDS) == "absent", message


def test_of_several_messages_the_newest_with_a_keyword_counts() -> None:
    for messages, wanted in (
        (("Log my aspirin.", "100 mg"), "clear"),
        (("Should I log it?", "Yes, log it"), "clear"),
        (("Log it.", "Don't log it."), "unclear"),
        (("Log it.", "Do you think so?"), "unclear"),
        (("Log it.", "Not now."), "unclear"),
        (("Hello", "Yes"), "absent"),
    ):
        assert asks_for(messages, KEYWORDS) == wanted, messages


@pytest.mark.parametrize("file", ["en.tsv", "en-unseen.tsv"])
def test_hardly_any_doubtful_message_is_clear_and_no_request_is_absent(file: str) -> None:
    found = []
    for line in (SENTENCES / file).read_text("utf-8").splitlines():
        label, words, message = line.split("\t")
        found.append((label, asks_for((message,), tuple(words.split("|")))))
    clear = [label for label, clarity in found if clarity == "clear"]
    assert clear.count("yes") / len(clear) >= 0.9
    assert ("yes", "absent") not in found


@pytest.mark.parametrize(
    ("value", "message", "clarity"),
    [
        ("Aspirin 100", "100 mg of ASPIRIN", "clear"),
        ("Aspirin 100", "I took Aspirin. It was 100 mg.", "clear"),
        ("Aspirin 100", "Aspirin", "absent"),
        ("Aspirin", "I did not take aspirin", "unclear"),
        ("Aspirin", "What about aspirin?", "unclear"),
        ("Aspirin", "I did not take aspirin. Later I took aspirin. I took aspirin.", "clear"),
        ("not pizza", "I want not pizza", "clear"),  # its own words doubt nothing
        ("Aspirin", "aspirins", "absent"),
        (1, "I took 1.5 mg", "absent"),
        (1.5, "1 tablet, 5 times", "absent"),
        (1.5, "I took 1.5 mg", "clear"),
        ("1,5 mg", "Ich nahm 1,5 mg", "clear"),
        (1, "I paid 1,200", "absent"),
        (2.0, "I took 2 mg", "clear"),
        (2, "I took 2.0 mg", "clear"),
        (2, "I took 2.05 mg", "absent"),
        (-12, "It was 12 degrees", "absent"),
        (12, "It was -12 degrees", "absent"),
        (-12, "It was -12 degrees", "clear"),
        (80, "120/80 at 09:00", "clear"),
        (5, "for 3-5 days", "clear"),
        (True, "it is true", "clear"),
        (False, "it is 0, or true", "absent"),
        (None, "", "clear"),
        ("", "", "clear"),
        ("none", "", "absent"),
        (["a", ["b"]], "b and a", "clear"),
        ({"key": "a", "other": {"b": "c"}}, "key a, b", "absent"),
        ("!!!", "Hello", "absent"),
        ("😀", "Hello 😀", "clear"),
        ("提醒", "请提醒我", "clear"),
        ("Hobbit not", "not The Hobbit", "unclear"),
        ("Will Smith", "A table for Will Smith", "clear"),
        ("aspirin", "aspirin؟", "unclear"),
        ("aspirin", "aspirin‽", "unclear"),
    ],
)
def test_a_value_is_stated_by_all_its_words_in_sentences_without_doubt(
    value: object, message: str, clarity: str
) -> None:
    assert states(value, (message,)) == clarity


def test_a_value_may_stand_in_any_message() -> None:
    assert states("aspirin 100", ("I took aspirin", "100 mg")) == "clear"


def test_the_newest_message_with_a_word_of_a_value_counts() -> None:
    assert states("aspirin", ("aspirin", "No, not aspirin!")) == "unclear"
    assert states("aspirin", ("not aspirin", "Well, aspirin.")) == "clear"


def test_words_are_found_up_to_the_limit_of_a_message() -> None:
    filled = "-" * (MAX_MESSAGE - 3)
    assert asks_for((f"{filled}log",), ("log",)) == "clear"
    assert asks_for((f"{filled}-log",), ("log",)) == "absent"
    assert says_any(f"{filled}{filled}log", ("log",))


@given(st.text(max_size=40), st.sampled_from(DOUBT))
def test_doubt_never_makes_words_clearer(text: str, doubt: str) -> None:
    order = ("clear", "unclear", "absent")
    before, after = (asks_for((one,), ("log",)) for one in (text, f"{doubt} {text}"))
    assert order.index(after) >= order.index(before) or before == "absent"
