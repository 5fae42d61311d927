"""Confidence, intent, confirmation and escalation: the seeds' tables at the dispatcher."""

import asyncio

CARE = {"log_type": "visit", "title": "Hospital visit", "occurred_at": "2024-01-20T10:00:00Z"}
VALID = {
    "log_blood_pressure": {"systolic": 120, "diastolic": 80},
    "log_hydration": {"amount": 500},
    "schedule_reminder": {"title": "Take morning medication", "time": "09:00"},
    "log_doctor_visit": {"visit_type": "appointment", "date": "2024-01-15"},
    "add_clinical_date": {"clinical_date": "2024-02-15", "description": "Blood test"},
    "add_care_log": CARE,
    "get_today_summary": {},
    "read_health_log": {"first_day": "2026-03-01"},
    "list_reminders": {},
    "change_reminder": {"reminder_id": 1, "time": "10:00"},
    "snooze_reminder": {"reminder_id": 1, "minutes": 15},
    "end_reminder": {"reminder_id": 1},
    "log_medication": {"medication_name": "aspirin"},
    "update_mood": {"mood": "great"},
    "create_reminder": {"title": "Take medication", "time": "09:00"},
    "create_care_log": CARE,
}
LEAST = {
    "log_blood_pressure": 0.7,
    "log_hydration": 0.7,
    "schedule_reminder": 0.8,
    "log_doctor_visit": 0.8,
    "add_clinical_date": 0.8,
    "add_care_log": 0.9,
    "get_today_summary": 0.5,
    "read_health_log": 0.5,
    "list_reminders": 0.5,
    "change_reminder": 0.8,
    "snooze_reminder": 0.8,
    "end_reminder": 0.8,
    "log_medication": 0.7,
    "update_mood": 0.7,
    "create_reminder": 0.7,
    "create_care_log": 0.7,
}
CONFIRMED = {
    "schedule_reminder": "low",
    "log_doctor_visit": "high",
    "add_clinical_date": "high",
    "add_care_log": "critical",
    "create_reminder": "low",
    "create_care_log": "critical",
    "change_reminder": "low",
    "end_reminder": "low",
}
ASKED_FOR = {
    "schedule_reminder": [
        "Remind me at nine",
        "I'd like a reminder",
        "set an ALARM please",
        "Erinnere mich bitte täglich um 9 an meine Tabletten",
        "Recuérdame tomar la pastilla",
        "Rappelle-moi à 9 heures",
        "每天九点提醒我吃药",
    ],
    "log_doctor_visit": ["I saw Dr. Smith", "I went to the clinic", "My doctor was kind"],
    "add_clinical_date": ["My MRI is on Friday", "Blood tests next week", "They scheduled a scan"],
    "add_care_log": ["I was at the hospital", "They diagnosed migraine", "I had surgery"],
    "create_care_log": ["I went to the hospital yesterday for a checkup"],
    "change_reminder": ["Move it to ten", "Verschiebe die Erinnerung auf zehn"],
    "snooze_reminder": ["Not now", "Später bitte", "Remind me again in ten minutes"],
    "end_reminder": [
        "Stop reminding me",
        "I don't need it any more",
        "Please don't remind me about anything",
        "Lösche die Erinnerung",
        "Ne me rappelle plus ça",
    ],
}


def test_confidence_counts_from_the_seeds_number_on(call):
    for tool, least in LEAST.items():
        for confidence in (least, 1, 1.0):
            result = call(tool, VALID[tool], confidence=confidence, dry_run=True)
            assert result.outcome == ("confirm" if tool in CONFIRMED else "allowed"), tool
        # The tool that a Given reads has a confidence of its own.
        read = {"rule_unavailable"} if tool in ("change_reminder", "end_reminder") else set()
        for confidence in (least - 0.01, 0, None):
            result = call(tool, VALID[tool], confidence=confidence)
            code = "missing_confidence" if confidence is None else "low_confidence"
            assert result.outcome == "denied", tool
            assert result.error.code in {code, *read}, tool


def test_a_call_without_the_users_request_asks_them_or_is_denied(call):
    for tool, messages in ASKED_FOR.items():
        for message in messages:
            assert call(tool, VALID[tool], message=message, dry_run=True).error is None, message
        for message in ("", "Hello!", "I have a headache"):
            result = call(tool, VALID[tool], message=message, dry_run=True)
            if tool in CONFIRMED:
                assert result.outcome == "confirm", tool
            else:
                assert (result.outcome, result.error.code) == ("denied", "no_explicit_intent")


def test_a_call_with_consequences_waits_for_a_yes(call):
    for tool, sensitivity in CONFIRMED.items():
        result = call(tool, VALID[tool])
        assert (result.success, result.outcome) == (False, "confirm"), tool
        assert result.confirmation.sensitivity == sensitivity, tool


def test_a_call_of_low_risk_runs_at_once(call):
    for tool in VALID.keys() - CONFIRMED.keys() - {"snooze_reminder"}:
        assert call(tool, VALID[tool]).outcome == "ok", tool


def test_a_diagnosis_that_the_user_did_not_say_is_asked_about(call):
    inferred = {**CARE, "diagnosis": "hypertension"}
    result = call("add_care_log", inferred, message="I went to the hospital", dry_run=True)
    assert result.outcome == "confirm"
    assert "diagnosis must be in the user's own words" in result.message
    assert "You said: “I went to the hospital”" in result.confirmation.prompt
    said = "I went to the hospital and they said hypertension"
    assert call("add_care_log", inferred, message=said, dry_run=True).error is None


def test_a_title_and_notes_add_no_finding_to_the_users_words(call):
    for said, text, asked in (
        ("I went to the hospital", "Hospital visit for hypertension", True),
        ("I went to the hospital, it is not cancer", "Visit to the hospital: cancer", True),
        ("The doctor said it is cancer", "Diagnosed with cancer", True),
        ("I was diagnosed with cancer", "Diagnosed with cancer", False),
        ("I had a checkup at the hospital", "Checkup at the hospital", False),
        ("I saw the doctor", "The user visited the doctor", False),
    ):
        for name in ("title", "notes"):
            result = call("add_care_log", {**CARE, name: text}, message=said, dry_run=True)
            assert (result.outcome, result.error) == ("confirm", None)
            assert (name in result.message) is asked, (said, name)


def test_a_medication_that_the_user_did_not_take_is_not_logged(call):
    for message, codes in (
        ("I have a headache", ["no_explicit_intent", "not_stated_by_user"]),
        ("I took an ibuprofen", ["not_stated_by_user"]),
    ):
        result = call("log_medication", VALID["log_medication"], message=message)
        assert (result.outcome, result.error.code) == ("denied", codes[0])
        assert [problem.code for problem in result.error.details] == codes


def test_a_question_about_a_medication_is_not_logged_before_the_user_confirms(call):
    for message in ("Have I taken my aspirin?", "I have NOT taken my aspirin"):
        assert call("log_medication", VALID["log_medication"], message=message).outcome == "confirm"


def test_words_of_a_crisis_hold_every_call_that_changes_something(call):
    for words in (
        "I want to kill myself and I took pills",
        "sometimes I want to DIE",
        "I can\N{RIGHT SINGLE QUOTATION MARK}t go on like this",
        "thinking of self-harm",
        "I've been self-harming",
        "Ich will mich umbringen",
        "我不想活了",
        "I am worthless, end it",
    ):
        pills = {"medication_name": "pills"}
        logged = call("log_medication", pills, message=f"I took pills. {words}", user=words)
        assert (logged.outcome, logged.crisis) == ("review", True), words
        read = call("get_today_summary", {}, message=words, user=words)
        assert (read.outcome, read.crisis) == ("ok", True), words


def test_a_crisis_stays_with_its_conversation_until_an_operator_clears_it(call, workspace):
    here = {"conversation": "c1"}
    call("log_hydration", {"amount": 200}, message="I want to die", **here)
    later = call("log_hydration", {"amount": 200}, message="Two glasses", **here)
    assert (later.outcome, later.crisis) == ("review", True)
    assert call("log_hydration", {"amount": 200}, conversation="c2").success
    (crisis,) = workspace.crises.list_sync()
    assert (crisis.conversation, crisis.user) == ("c1", "ana")
    workspace.crises.clear_sync("c1", user="ana")
    assert call("log_hydration", {"amount": 200}, **here).success


def test_a_mood_of_crisis_holds_the_other_calls_of_its_reply(workspace):
    reply = (
        '[TOOL_CALL:{"tool":"log_hydration","parameters":{"amount":200},"confidence":0.95}]'
        '[TOOL_CALL:{"tool":"get_today_summary","parameters":{},"confidence":0.95}]'
        '[TOOL_CALL:{"tool":"update_mood","parameters":{"mood":"crisis"},"confidence":0.95}]'
    )
    turn = asyncio.run(workspace.handle(reply, message="Not good.", user="ana", conversation="c"))
    assert [result.outcome for result in turn.results] == ["review", "ok", "review"]
    assert all(result.crisis for result in turn.results)
    (crisis,) = workspace.crises.list_sync()
    assert crisis.conversation == "c"


def test_a_later_message_corrects_the_one_reminder_that_it_can_mean(workspace):
    def handle(message, *times):
        calls = [
            '[TOOL_CALL:{"tool":"create_reminder","parameters":{"title":"Take pills",'
            f'"time":"{time}"}},"confidence":0.95}}]'
            for time in times
        ]
        reply = "".join(calls)
        options = {"message": message, "user": "ana", "conversation": "c"}
        return asyncio.run(workspace.handle(reply, **options)).pending

    def waiting():
        return [one.id for one in workspace.confirmations.pending_sync()]

    handle("Remind me to take pills at nine", "09:00")
    (ten,) = handle("I meant ten", "10:00")
    assert waiting() == [ten.id]
    later, evening = handle("Make it eleven, and nine in the evening", "11:00", "21:00")
    assert set(waiting()) == {later.id, evening.id}
    (noon,) = handle("And noon", "12:00")
    assert set(waiting()) == {later.id, evening.id, noon.id}


def test_a_mood_of_crisis_goes_to_a_person(call):
    for mood in ("crisis", "In Crisis", "suicidal", "hopeless"):
        assert call("update_mood", {"mood": mood}, user=mood).outcome == "review", mood
