"""Seed 001, examples 1 to 5, end to end: a model's reply, the calls, the user's answer."""

import asyncio
import json

import pytest


@pytest.fixture
def handle(workspace):
    def go(reply, message):
        given = {"dialect": "inline", "message": message, "user": "ana"}
        return asyncio.run(workspace.handle(reply, **given))

    return go


@pytest.fixture
def confirm(workspace):
    def go(held, **options):
        return asyncio.run(workspace.confirmations.approve(held.id, user="ana", **options))

    return go


def shown(result):
    names = ("success", "tool_call_id", "tool", "message")
    return {name: getattr(result, name) for name in names}


def read(turn):
    """Return the results as the model reads them."""
    lines = turn.messages[-1]["content"].splitlines()
    return [json.loads(line.removeprefix("[TOOL_RESULT:").removesuffix("]")) for line in lines]


def today(call):
    return call("get_today_summary", {}).data


def test_example_1_a_simple_call(handle, call):
    turn = handle(
        "Got it! I'll log that for you. "
        '[TOOL_CALL:{"id":"call-123","tool":"log_medication","parameters":'
        '{"medication_name":"aspirin","dose":"1 tablet"},"confidence":0.95}]',
        "I took my aspirin this morning",
    )
    assert turn.clean_message == "Got it! I'll log that for you."
    (result,) = turn.results
    assert shown(result) == {
        "success": True,
        "tool_call_id": "call-123",
        "tool": "log_medication",
        "message": "Logged aspirin",
    }
    assert turn.pending == ()
    assert today(call)["medications"][0]["dose"] == "1 tablet"
    (told,) = read(turn)
    assert (told["success"], told["toolCallId"], told["tool"], told["message"]) == (
        True, "call-123", "log_medication", "Logged aspirin",
    )  # fmt: skip


def test_example_2_a_call_that_is_confirmed(handle, confirm, call):
    turn = handle(
        "I'll set that up for you! "
        '[TOOL_CALL:{"id":"call-456","tool":"create_reminder","parameters":'
        '{"title":"Take medication","time":"09:00","days":[1,2,3,4,5,6,7],'
        '"reminder_type":"medication"},"confidence":0.9}]',
        "I want a reminder to take my medication at 9am every day",
    )
    assert turn.clean_message == "I'll set that up for you!"
    assert turn.results[0].outcome == "confirm"
    (held,) = turn.pending
    later = ("id", "prompt", "user", "created", "expires", "state")
    assert {key: value for key, value in held.to_dict().items() if key not in later} == {
        "kind": "confirm",
        "tool_call_id": "call-456",
        "tool": "create_reminder",
        "parameters": {
            "title": "Take medication",
            "time": "09:00",
            "days": [1, 2, 3, 4, 5, 6, 7],
            "reminder_type": "medication",
        },
        "sensitivity": "low",
    }
    assert held.prompt == (
        "I'd like to create reminder: title: Take medication, time: 09:00, "
        "days: 1,2,3,4,5,6,7, reminder_type: medication. Is this correct?"
    )
    assert today(call)["reminders"] == []
    assert shown(confirm(held)) == {
        "success": True,
        "tool_call_id": "call-456",
        "tool": "create_reminder",
        "message": "Created reminder: Take medication",
    }
    assert today(call)["reminders"][0]["next_due"] == "2026-03-02T09:00:00+01:00"


def test_example_3_a_critical_call_with_a_correction(handle, confirm, call):
    turn = handle(
        "I'll log that hospital visit for you. Can you confirm the details? "
        '[TOOL_CALL:{"id":"call-789","tool":"create_care_log","parameters":'
        '{"log_type":"visit","title":"Hospital checkup",'
        '"occurred_at":"2024-01-20T10:00:00Z"},"confidence":0.85}]',
        "I went to the hospital yesterday for a checkup",
    )
    (held,) = turn.pending
    assert held.sensitivity == "critical"
    assert held.prompt == (
        "I'd like to create care log: log_type: visit, title: Hospital checkup, "
        "occurred_at: 2024-01-20T10:00:00Z. Please confirm these details are correct."
    )
    corrected = confirm(held, edit={"occurred_at": "2024-01-19T10:00:00Z"})
    # A critical tool asks again after an edit (behaviour.md, "The seeds' numbers").
    assert corrected.outcome == "confirm"
    assert "occurred_at: 2024-01-19T10:00:00Z" in corrected.confirmation.prompt
    assert today(call)["entries"] == []
    done = confirm(corrected.confirmation)
    assert (done.success, done.tool_call_id) == (True, "call-789")
    (entry,) = call("read_health_log", {"first_day": "2024-01-19"}).data
    assert (entry["title"], entry["at"]) == ("Hospital checkup", "2024-01-19T11:00:00+01:00")


def test_example_4_two_calls_in_one_reply(handle, call):
    turn = handle(
        "Awesome! I'll update your mood and log your medication. "
        '[TOOL_CALL:{"id":"call-1","tool":"update_mood","parameters":{"mood":"great"},'
        '"confidence":0.95}]'
        '[TOOL_CALL:{"id":"call-2","tool":"log_medication","parameters":'
        '{"medication_name":"morning medication"},"confidence":0.9}]',
        "I'm feeling great today and I took my morning medication",
    )
    assert turn.clean_message == "Awesome! I'll update your mood and log your medication."
    assert [shown(result) for result in turn.results] == [
        {
            "success": True,
            "tool_call_id": "call-1",
            "tool": "update_mood",
            "message": "Updated mood to great",
        },
        {
            "success": True,
            "tool_call_id": "call-2",
            "tool": "log_medication",
            "message": "Logged morning medication",
        },
    ]
    summary = today(call)
    assert [check["mood"] for check in summary["check_ins"]] == ["great"]
    assert [taken["name"] for taken in summary["medications"]] == ["morning medication"]


def test_example_5_a_call_that_is_blocked(handle, call):
    turn = handle(
        "I'll log that for you. "
        '[TOOL_CALL:{"id":"call-999","tool":"log_medication","parameters":'
        '{"medication_name":"aspirin"},"confidence":0.5}]',
        "I have a headache",
    )
    (result,) = turn.results
    assert (result.success, result.outcome) == (False, "denied")
    assert (result.tool_call_id, result.tool) == ("call-999", "log_medication")
    assert result.error.code == "low_confidence"
    assert "0.7" in result.error.message
    (told,) = read(turn)
    assert (told["toolCallId"], told["message"], told["error"]["code"]) == (
        "call-999", "Tool call blocked by safety guardrails", "low_confidence",
    )  # fmt: skip
    assert turn.pending == ()
    assert today(call)["medications"] == []


def test_a_denied_call_does_not_stop_the_other(handle, call):
    turn = handle(
        '[TOOL_CALL:{"tool":"log_hydration","parameters":{"amount":0},"confidence":0.9}]'
        '[TOOL_CALL:{"tool":"log_hydration","parameters":{"amount":250},"confidence":0.9}]',
        "I drank a glass of water",
    )
    assert [result.outcome for result in turn.results] == ["denied", "ok"]
    assert today(call)["hydration"] == {"total_ml": 250, "drinks": 1}


def test_the_same_small_ids_in_the_next_turn_are_new_calls(handle, call):
    reply = (
        '[TOOL_CALL:{"id":"call-1","tool":"log_hydration","parameters":{"amount":250},'
        '"confidence":0.9}]'
    )
    for _ in range(2):
        assert handle(reply, "I drank a glass of water").results[0].success
    assert today(call)["hydration"] == {"total_ml": 500, "drinks": 2}
