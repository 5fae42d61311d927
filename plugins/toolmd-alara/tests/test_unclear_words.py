"""Where a person's words are unclear, they are asked; what is clear runs, or is held."""

import pytest

MEDICINE = {"medication_name": "aspirin"}


@pytest.mark.parametrize(
    "words", ["I took my aspirin yesterday evening", "Last night I took my aspirin",
              "I took aspirin on Monday"],
)  # fmt: skip
def test_a_dose_of_another_day_without_a_time_is_asked_about(call, words):
    assert call("log_medication", MEDICINE, message=words).outcome == "confirm"


def test_a_dose_stands_on_the_day_on_which_it_was_taken(call, workspace):
    taken = {**MEDICINE, "taken_at": "2026-03-01T21:30"}
    assert (
        call("log_medication", taken, message="I took aspirin yesterday at 9:30 pm").outcome == "ok"
    )
    assert call("get_today_summary", {}).data["medications"] == []
    (entry,) = call("read_health_log", {"first_day": "2026-03-01", "last_day": "2026-03-01"}).data
    assert (entry["title"], entry["at"]) == ("aspirin", "2026-03-01T21:30:00+01:00")
    future = {**MEDICINE, "taken_at": "2026-03-03"}
    assert call("log_medication", future).error.code == "not_yet_happened"
    assert call("log_medication", {**MEDICINE, "taken_at": "last night"}).outcome == "denied"


HARMLESS = [
    "I hurt myself playing football and took ibuprofen",
    "I cut myself shaving",
    "My phone died on purpose of saving",
]
DANGER = [
    "I don't want to be here anymore",
    "I took 40 tablets on purpose",
    "I'm thinking about ending things",
    "I wish I wouldn't wake up tomorrow",
    "I've swallowed all my pills at once",
    "I can\N{RIGHT SINGLE QUOTATION MARK}t go on",
]


@pytest.mark.parametrize("words", [*HARMLESS, *DANGER])
def test_words_that_may_speak_of_a_danger_ask_first_and_lock_nothing(call, words):
    here = {"conversation": "c"}
    asked = call("log_hydration", {"amount": 250}, message=words, **here)
    assert (asked.outcome, asked.crisis) == ("confirm", False)
    assert "whether they are safe" in asked.message
    assert call("get_today_summary", {}, message=words, **here).outcome == "ok"


def test_words_without_a_danger_ask_nothing(call):
    for words in ("I can't go on holiday", "A glass of water", "My knee hurts", "I cut the bread"):
        assert call("log_hydration", {"amount": 250}, message=words).outcome == "ok", words


@pytest.mark.parametrize(
    "mood", ["self harm", "want to die", "I can't go on", "worthless, end it", "no point"]
)
def test_a_mood_that_only_the_model_words_as_a_danger_goes_to_a_person(call, mood):
    assert (call("update_mood", {"mood": mood}).outcome) == "review"


def test_a_model_can_say_that_the_user_is_in_danger(call):
    held = call("update_mood", {"mood": "low", "in_danger": True})
    assert (held.outcome, held.crisis) == ("review", True)
    assert call("update_mood", {"mood": "low", "in_danger": False}).outcome == "ok"


def test_a_diagnosis_that_may_be_anothers_is_asked_about_and_shown_to_who_confirms(call):
    for number, said in enumerate(
        ("My mother has diabetes", "The doctor asked whether I have diabetes",
         "They're not sure, maybe diabetes", "I was afraid of diabetes",
         "I have diabetes")
    ):  # fmt: skip
        event = {"log_type": "visit", "title": "Visit", "occurred_at": "2026-03-01"}
        words = f"I went to hospital. {said}"
        asked = call("add_care_log", {**event, "diagnosis": "diabetes"}, message=words,
                     conversation=f"d{number}")  # fmt: skip
        assert asked.outcome == "confirm"
        assert "diagnosis: diabetes" in asked.confirmation.prompt
        assert ("diagnosis may not be what the user stated" in asked.message) is (number < 3), said
