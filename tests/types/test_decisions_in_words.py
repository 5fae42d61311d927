"""A person's yes or no in words."""

import pytest

from toolmd import Decision

QUESTION = (
    "I'd like to log doctor visit: visit_type: appointment, date: 2026-03-01. Is this correct?"
)
YES = [
    "yes", "Yes, that's correct", "Yes, please log it", "Yes! Log my visit",
    "Looks good to me", "Yes I confirm",
    "Ja, stimmt", "Sí, está bien", "Oui, merci", "是的", "ok, go ahead",
    "Yes, please log the doctor visit",
    "Yeah, do it please.", "Yes, log it please", "Yes, log it, thank you!", "是的。",
    "Yes, this is correct", "Yes, log doctor visit, please", "Yes, date: 2026-03-01",
]  # fmt: skip
NO = [
    "no", "Please don't", "No, don't log it", "No thanks", "cancel",
    "Don\N{RIGHT SINGLE QUOTATION MARK}t",
    "Nein, bitte", "No, stop", "No, don't log it please",
]  # fmt: skip
NEITHER = [
    "Yes, but at 10", "wrong date", "yes if it is free", "Yes, not today",
    "yes and no", "Yes, on the 2nd",
    "The date was March 2nd", "yesterday", "no idea, what is it?", "Yes, except the date",
    "maybe", "Log it later",
    "", "  ", "yes?", "Yes? Really?", "Is this correct?", "yes \N{THUMBS DOWN SIGN}",
    "Yes, log doctor visit 2026-03-01",
    "Yes, log 2026-01-03", "Yes, date appointment", "Yes, appointment -2026-03-01",
    "yes, delete my files", "okayish", "No, the second one",
]  # fmt: skip


@pytest.mark.parametrize("words", YES)
def test_a_yes_that_repeats_the_question_approves(words):
    assert Decision.from_words(words, QUESTION) == Decision.approve()


@pytest.mark.parametrize("words", NO)
def test_a_no_that_repeats_the_question_rejects(words):
    assert Decision.from_words(words, QUESTION) == Decision.reject()


@pytest.mark.parametrize("words", NEITHER)
def test_words_that_say_more_decide_nothing(words):
    assert Decision.from_words(words, QUESTION) is None
    assert Decision.from_words(words) is None


def test_without_the_question_only_a_plain_answer_decides():
    assert Decision.from_words("Yes, please log it") is None
    assert Decision.from_words("Yes, please") == Decision.approve()
