"""What a message asks for or states, and what it negates or only asks about."""

from time import process_time

import pytest

from toolmd._call.guards.intent import asks_for, states
from toolmd._call.guards.said import MAX_ASSESSED, Said
from toolmd._types.call_spec import Safety
from toolmd._types.schema import Parameter, Schema

REMIND = ("remind", "reminder")
ASKED = {
    "Remind me at 9": Said.YES,
    "don't remind me about anything": Said.NO,
    "Don\N{RIGHT SINGLE QUOTATION MARK}t remind me": Said.NO,
    "DO NOT REMIND ME": Said.NO,
    "stop reminding me": Said.NO,
    "I need no reminder": Said.NO,
    "Don't forget to remind me": Said.YES,
    "Why don't you remind me?": Said.YES,
    "Could you remind me?": Said.YES,
    "No, remind me at 9": Said.YES,
    "I don't have time now, so remind me tonight": Said.YES,
    "Not today, but remind me tomorrow": Said.YES,
    "Remind me not to eat": Said.YES,
    "Don't remind me of lunch. Remind me of dinner.": Said.YES,
    "Remind me at 9. Actually, don't remind me.": Said.UNSURE,
    "Remind me at 9... no wait, don't": Said.UNSURE,
    "Don't call and remind me": Said.UNSURE,
    "If you remind me, I pay": Said.UNSURE,
    "My boss said remind her": Said.UNSURE,
    "What a day": Said.NO,
}
STATED = {
    ("aspirin", "I took aspirin"): Said.YES,
    ("aspirin", "I did NOT take my aspirin"): Said.NO,
    ("aspirin", "Should I take aspirin?"): Said.UNSURE,
    ("aspirin", "I have a headache"): Said.NO,
    ("cancer", "It is not cancer, they said"): Said.NO,
    ("80", "I weigh 80 kg, not 90"): Said.YES,
    ("90", "I weigh 80 kg, not 90"): Said.NO,
    ("no pain", "I have no pain"): Said.YES,
    ("high pressure", "The doctor said I have high pressure"): Said.YES,
}
OTHERS = {
    ("erinnere", "Erinnere mich bitte um 9"): Said.YES,
    ("erinnere", "Erinnere mich nicht"): Said.NO,
    ("erinnern", "Vergiss nicht, mich zu erinnern"): Said.YES,
    ("erinnerst", "Ich will nicht, dass du mich erinnerst"): Said.NO,
    ("recuerdes", "No me recuerdes nada"): Said.NO,
    ("recordarme", "No olvides recordarme"): Said.YES,
    ("rappelle", "Rappelle-moi pas"): Said.NO,
    ("rappeler", "N'oublie pas de me rappeler"): Said.YES,
    ("提醒", "明天提醒我"): Said.YES,
    ("提醒", "别提醒我"): Said.NO,
    ("提醒", "别忘了提醒我"): Said.YES,
}


@pytest.mark.parametrize("message", ASKED)
def test_a_negated_keyword_is_no_intent_and_an_unclear_one_is_unsure(message):
    assert asks_for(message, REMIND) is ASKED[message]


@pytest.mark.parametrize(("value", "message"), STATED)
def test_a_value_that_is_negated_is_not_stated(value, message):
    assert states(value, message) is STATED[value, message]


@pytest.mark.parametrize(("keyword", "message"), OTHERS)
def test_other_languages_negate_in_their_own_ways(keyword, message):
    assert asks_for(message, (keyword,)) is OTHERS[keyword, message]


def test_a_long_message_is_assessed_quickly_and_of_a_longer_one_a_person_is_asked():
    for piece in ("don't, ", "not but ", "if and or ", "no wait. ", "别就", "remind not "):
        began = process_time()
        asks_for(piece * (MAX_ASSESSED // len(piece) - 1) + " remind", REMIND)
        assert process_time() - began < 1.0
    assert asks_for("remind " * MAX_ASSESSED, REMIND) is Said.UNSURE


def test_a_message_as_long_as_the_limit_is_assessed():
    assert asks_for("remind me".ljust(MAX_ASSESSED), REMIND) is Said.YES
    assert asks_for("remind me".ljust(MAX_ASSESSED + 1), REMIND) is Said.UNSURE


@pytest.mark.parametrize(
    ("keyword", "message"),
    [
        ("明天 预约", "我要明天、预约"),
        ("web 预约", "我要web、预约"),
        ("en: cancel", "I want it cancelled"),
    ],
)
def test_keywords_of_several_words_or_with_a_language_are_found(keyword, message):
    assert asks_for(message, (keyword,)) is Said.YES


def test_a_call_with_a_negated_keyword_is_denied_and_an_unclear_one_is_confirmed(harness, tool):
    text = Parameter(name="title", shape=Schema(types=("string",), verbatim=True), required=True)

    async def remind(title=""):
        return {"title": title}

    own = Safety(explicit_intent=True, intent_keywords=REMIND)
    dispatcher = harness(tool("remind", remind, text, safety=own))

    def call(message):
        return dispatcher.call("remind", {"title": "milk"}, message=message)

    assert call("Remind me of milk").success
    negated = call("Don't remind me of milk")
    assert (negated.outcome, negated.error.code) == ("denied", "no_explicit_intent")
    assert call("What if you remind me of milk?").outcome == "confirm"
    unsaid = call("Remind me of bread, not of milk")
    assert (unsaid.outcome, unsaid.error.code) == ("denied", "not_stated_by_user")
