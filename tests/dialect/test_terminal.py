"""The dialects whose call ends the reply: action (seed 004) and plan (seed 002)."""

import json

import pytest

from toolmd._dialect import parse_reply, render_results
from toolmd._types.call import Budget
from toolmd._types.result import Failure, Result
from toolmd.errors import MalformedReplyError

CALL = '{"tool": "search_pubmed", "args": {"query": "zinc", "retmax": 20}}'
PLAN = '{"tool":"get_vitals","params":{"patient_id":"123"}}'
BUDGET = {"rows": 100, "bytes": 65536, "timeout_ms": 2000}


def refused(reply, dialect, code="malformed_call"):
    with pytest.raises(MalformedReplyError) as caught:
        parse_reply(reply, dialect)
    assert caught.value.code == code
    return caught.value


@pytest.mark.parametrize(
    "ending",
    [
        f"Action: {CALL}",
        f"Action:\n{CALL}\n\n",
        f"```json\nAction: {CALL}\n```",
        f"```\n\nAction: {CALL}\n\n```  \n",
        f"~~~\nAction: {CALL}\n~~~",
        f"```json\nAction: {CALL}",
        f"Action:\n```json\n{CALL}\n```\n",
        f"Action:{json.dumps(json.loads(CALL), indent=2)}",
    ],
)
def test_an_action_ends_the_reply_fenced_or_not(ending):
    for dialect in ("action", "auto"):
        parsed = parse_reply(f"I need papers.\n\n{ending}", dialect)
        assert parsed.clean_message == "I need papers."
        assert parsed.dialect == "action"
        (call,) = parsed.calls
        assert call.tool == "search_pubmed"
        assert call.arguments == {"query": "zinc", "retmax": 20}


def test_an_action_may_stand_behind_words_of_its_line():
    assert parse_reply(f"Thought: search. Action: {CALL}", "action").clean_message == (
        "Thought: search."
    )


@pytest.mark.parametrize(
    "reply",
    [
        f"Action: {CALL} and so on",
        f"Action: {CALL}\nAction: {CALL}",
        f"Action: {CALL}\n```\nx\n```",
        f"```\nAction: {CALL}\n```\nThere.",
        f"Action:\n```\n{CALL}\n```\nThere.",
        f"```\nAction: {CALL}\nmore\n```",
        "Action: search_pubmed",
        "Action:",
        "Action: [1]",
        'Action: {"args":{}}',
        'Action: {"tool":"t","args":{},"id":"1"}',
        'Action: {"tool":"t","args":{},"confidence":1}',
        'Action: {"tool":"t","args":[]}',
        'Action: {"tool":"t","args":{"a":1,"a":1}}',
        'Action: {"tool":"t","args":{"a":NaN}}',
        'Action: {"tool":"t","args":{"_confidence":2}}',
        'Action: {"tool":"t","args":{}',
        "Action: {" + "[" * 200_000,
    ],
)
def test_an_unreadable_action_is_rejected(reply):
    refused(f"Well.\n{reply}", "action")


@pytest.mark.parametrize(
    "reply",
    [
        "No call at all.",
        f"`Action: {CALL}`",
        f"> Action: {CALL}",
        f"```\nlog line\nAction: {CALL}\n```",
        f"Reaction: {CALL}",
        "The next Action: is up to you.",
    ],
)
def test_quoted_text_or_prose_is_not_an_action(reply):
    parsed = parse_reply(reply, "action")
    assert (parsed.calls, parsed.clean_message) == ((), reply)


def test_a_quoted_action_before_the_real_one_stays_in_the_message():
    quote = '```\nAction: {"tool":"x","args":{}}\n```'
    parsed = parse_reply(f"As in\n{quote}\n\nAction: {CALL}", "action")
    assert [call.tool for call in parsed.calls] == ["search_pubmed"]
    assert parsed.clean_message == f"As in\n{quote}"


def test_the_confidence_argument_of_an_action_is_removed():
    (call,) = parse_reply('Action: {"tool":"t","args":{"_confidence":0.8}}', "action").calls
    assert (call.arguments, call.confidence) == ({}, 0.8)


def test_an_unknown_tool_is_exactly_the_seeds_body():
    error = Failure("unknown_tool", "No tool 'x'. Did you mean 'y'?")
    unknown = Result(success=False, tool="x", outcome="denied", error=error)
    (message,) = render_results([unknown], "action")
    assert message == {"role": "user", "content": '{"error":"unknown_tool"}'}


def test_an_action_result_reports_that_the_service_is_offline():
    offline = Result(
        success=False,
        tool="x",
        outcome="failed",
        error=Failure("api_offline", "No answer."),
        api_offline=True,
    )
    (message,) = render_results([offline], "action")
    assert json.loads(message["content"])["api_offline"] is True


@pytest.mark.parametrize(
    "reply", [PLAN, f" {PLAN}\n", f"```json\n{PLAN}\n```", f"First the vitals.\n\n{PLAN}"]
)
def test_a_plan_of_one_call_needs_no_budget(reply):
    for dialect in ("plan", "auto"):
        parsed = parse_reply(reply, dialect)
        assert parsed.dialect == "plan"
        (call,) = parsed.calls
        assert (call.tool, call.arguments) == ("get_vitals", {"patient_id": "123"})
        assert call.budget is None
        assert parsed.clean_message in {"", "First the vitals."}


def test_a_plan_gives_its_budget_to_each_call():
    plan = {"calls": [json.loads(PLAN)] * 2, "budget": BUDGET}
    for reply in (plan, json.dumps(plan), f"Now:\n```json\n{json.dumps(plan, indent=1)}\n```"):
        for dialect in ("plan", "auto"):
            calls = parse_reply(reply, dialect).calls
            assert [call.budget for call in calls] == [Budget(**BUDGET)] * 2


@pytest.mark.parametrize(
    "budget",
    [
        None,
        {},
        [],
        5,
        {"rows": 1, "bytes": 1},
        {**BUDGET, "calls": 1},
        {**BUDGET, "rows": 0},
        {**BUDGET, "rows": -1},
        {**BUDGET, "rows": True},
        {**BUDGET, "rows": "5"},
        {**BUDGET, "bytes": 1.5},
        {**BUDGET, "timeout_ms": None},
    ],
)
def test_a_plan_without_a_whole_budget_is_invalid(budget):
    plan = {"calls": [json.loads(PLAN)], "budget": budget}
    refused(json.dumps(plan), "plan", "invalid_plan")
    refused(json.dumps(plan), "auto", "invalid_plan")


def test_a_plan_that_leaves_its_budget_out_is_invalid():
    refused(json.dumps({"calls": [json.loads(PLAN)]}), "plan", "invalid_plan")


@pytest.mark.parametrize(
    "reply",
    [
        f"{PLAN} please",
        f"{PLAN}\n{PLAN}",
        "{}",
        '{"params":{}}',
        '{"tool":"t","params":{},"budget":{}}',
        '{"tool":"t","params":{},"patient":"p2"}',
        '{"tool":"t","params":{"a":1,"a":2}}',
        json.dumps({"budget": BUDGET}),
        json.dumps({"calls": {}, "budget": BUDGET}),
        json.dumps({"calls": [5], "budget": BUDGET}),
        json.dumps({"calls": [], "budget": BUDGET, "note": ""}),
        json.dumps({"calls": [json.loads(PLAN)] * 33, "budget": BUDGET}),
        PLAN[:-1],
    ],
)
def test_an_unreadable_plan_is_rejected(reply):
    refused(reply, "plan")


def test_32_calls_of_a_plan_are_read():
    plan = {"calls": [json.loads(PLAN)] * 32, "budget": BUDGET}
    assert len(parse_reply(plan, "plan").calls) == 32


@pytest.mark.parametrize(
    "reply",
    [
        "Nothing to fetch.",
        f"As in\n```json\n{PLAN}\n```\nyou see.",
        f"`{PLAN}`",
        f"> {PLAN}",
        f"Inline {PLAN}",
        "{name} is a placeholder",
    ],
)
def test_quoted_text_or_prose_is_not_a_plan(reply):
    parsed = parse_reply(reply, "plan")
    assert (parsed.calls, parsed.clean_message) == ((), reply)


def test_results_of_a_plan_come_in_one_message():
    done = Result(success=True, tool="a", outcome="ok", data=[], truncated={"rows": True})
    (message,) = render_results([done, done], "plan")
    first, second = json.loads(message["content"])["results"]
    assert first == second
    assert first["truncated"] == {"rows": True}


@pytest.mark.parametrize(
    ("reply", "dialect"),
    [
        ('Hi. [TOOL_CALL:{"tool":"t","parameters":{}}]', "inline"),
        (f"Hi.\nAction: {CALL}", "action"),
        (PLAN, "plan"),
        ("Hi.", "text"),
        ('{"answer": 42}', "text"),
        ("Action: none", "text"),
        (f"```\nAction: {CALL}\n```\nThat is the form.", "text"),
        ("[1] see {2}", "text"),
        ({"role": "assistant", "content": f"Hi.\nAction: {CALL}"}, "action"),
    ],
)
def test_auto_finds_the_dialect(reply, dialect):
    parsed = parse_reply(reply)
    assert parsed.dialect == dialect
    assert bool(parsed.calls) == (dialect != "text")


@pytest.mark.parametrize(
    "reply", [PLAN[:-1], 'Plan:\n{"tool":"t","params":{', '{"calls":[', "[TOOL_CALL:", "Action: {"]
)
def test_auto_rejects_text_that_begins_as_a_call(reply):
    refused(reply, "auto")


@pytest.mark.parametrize(
    ("reply", "clean"),
    [
        (f"Now. Action: {CALL}\nBye.", "Now.\nBye."),
        (f"Now. Action: {CALL}\nAction: {CALL}", "Now."),
        (f"Now.\nAction:\n```json\n{CALL}\n```\nBye.", "Now.\nBye."),
        ('Now. Action: {"tool": "t", "args": {n: 1}}\nBye.', "Now.\nBye."),
    ],
)
def test_the_clean_message_of_a_denied_action_has_no_call(reply, clean):
    with pytest.raises(MalformedReplyError) as caught:
        parse_reply(reply, "action")
    assert caught.value.clean_message == clean
