"""Properties of the dialects for every text and every call."""

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolmd._dialect import DIALECTS, parse_reply
from toolmd.errors import MalformedReplyError

WHOLE = st.characters(exclude_categories=["Cs"])
TEXTS = st.text(WHOLE, max_size=40)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
ARGUMENTS = st.dictionaries(TEXTS.filter(lambda key: key != "_confidence"), VALUES, max_size=5)
NAMES = st.text(WHOLE, min_size=1, max_size=30)
CONFIDENCES = st.none() | st.floats(0, 1)
CALLS = st.lists(st.tuples(NAMES, ARGUMENTS, CONFIDENCES), min_size=1, max_size=5)
PIECES = st.sampled_from(
    [
        "[TOOL_CALL:",
        '[TOOL_CALL:{"tool":"t","parameters":{}}]',
        'Action: {"tool":"t","args":{}}',
        '{"tool":"t","params":{}}',
        '{"calls":[',
        "Action:",
        "```",
        "```json\n",
        "~~~",
        "`",
        "``",
        "\\",
        "\n",
        "\r\n",
        "\n\n",
        "> ",
        "- ",
        "1. ",
        "# ",
        "    ",
        "|",
        "{",
        "}",
        "[",
        "]",
        '"',
        '{"',
        "text",
        "\ud800",
        "\u00a0",
        "\u2028",
    ]
)
SCRAPS = st.lists(PIECES | st.text(max_size=3), max_size=25).map("".join)
SAYINGS = st.sampled_from(["", "Fine.", "Two\n\nparagraphs", "`code` and **bold**", "- a\n- b"])


def call_json(call, tool, arguments, confidence=None):
    name, values, sure = call
    written = {tool: name, arguments: values}
    return written if sure is None or confidence is None else {**written, confidence: sure}


def stated(call):
    name, values, sure = call
    return (name, values if sure is None else {**values, "_confidence": sure})


def attempt(reply, dialect):
    """Return the parsed reply, or the error."""
    try:
        return parse_reply(reply, dialect)
    except MalformedReplyError as error:
        return error


def read(parsed):
    return [(call.tool, call.arguments, call.confidence) for call in parsed.calls]


@given(CALLS, SAYINGS, st.sampled_from([None, 0, 2]), st.booleans())
def test_inline_calls_come_back_as_they_were_written(calls, said, indent, ascii_only):
    reply = said + "\n\n"
    for call in calls:
        written = call_json(call, "tool", "parameters", "confidence")
        reply += f" [TOOL_CALL:{json.dumps(written, indent=indent, ensure_ascii=ascii_only)}]"
    for dialect in ("inline", "auto"):
        parsed = parse_reply(reply, dialect)
        assert read(parsed) == calls
        assert parsed.clean_message == said


@given(CALLS, SAYINGS)
def test_chat_calls_come_back_as_they_were_written(calls, said):
    written = [
        {"id": f"c{i}", "type": "function", "function": {"name": n, "arguments": json.dumps(a)}}
        for i, (n, a) in enumerate(map(stated, calls))
    ]
    reply = {"role": "assistant", "content": said, "tool_calls": written}
    for given_reply in (reply, json.dumps(reply)):
        parsed = parse_reply(given_reply)
        assert read(parsed) == calls
        assert parsed.clean_message == said


@given(CALLS, SAYINGS)
def test_responses_and_anthropic_calls_come_back_as_they_were_written(calls, said):
    items = [
        {"type": "function_call", "call_id": f"c{i}", "name": n, "arguments": json.dumps(a)}
        for i, (n, a) in enumerate(map(stated, calls))
    ]
    blocks = [
        {"type": "tool_use", "id": f"c{i}", "name": n, "input": a}
        for i, (n, a) in enumerate(map(stated, calls))
    ]
    for reply in ({"output": items}, [{"type": "text", "text": said}, *blocks]):
        assert read(parse_reply(reply)) == calls


@given(CALLS, SAYINGS, st.sampled_from([None, 1]))
def test_actions_and_plans_come_back_as_they_were_written(calls, said, indent):
    name, values = stated(calls[0])
    action = json.dumps({"tool": name, "args": values}, indent=indent)
    parsed = parse_reply(f"{said}\n\nAction: {action}", "action")
    assert read(parsed) == calls[:1]
    assert parsed.clean_message == said
    plan = {
        "calls": [{"tool": n, "params": a} for n, a in map(stated, calls)],
        "budget": {"rows": 1, "bytes": 2, "timeout_ms": 3},
    }
    parsed = parse_reply(f"{said}\n\n{json.dumps(plan, indent=indent)}", "plan")
    assert read(parsed) == calls
    assert parsed.clean_message == said


@settings(max_examples=4 * settings.default.max_examples)
@given(SCRAPS | st.text(), st.sampled_from(sorted(DIALECTS)))
@example("```[TOOL_CALL:", "auto")
@example("\\`\n> `[TOOL_CALL:", "auto")
@example("Action:\n~~~", "action")
@example("{\n", "plan")
def test_any_text_is_read_or_rejected(text, dialect):
    outcome = attempt(text, dialect)
    outcome.clean_message.encode()
    if isinstance(outcome, MalformedReplyError):
        assert outcome.code in {"malformed_call", "invalid_plan"}
    else:
        assert len(outcome.calls) <= 32


@settings(max_examples=2 * settings.default.max_examples)
@given(
    st.recursive(
        VALUES | st.binary(max_size=5) | st.just(float("inf")) | SCRAPS,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["role", "content", "tool_calls", "choices", "output", "type"]),
                inner | st.sampled_from(["assistant", "function_call", "tool_use", "message"]),
                max_size=4,
            )
        ),
        max_leaves=15,
    ),
    st.sampled_from(sorted(DIALECTS)),
)
def test_any_value_is_read_or_rejected(value, dialect):
    outcome = attempt(value, dialect)
    if isinstance(outcome, MalformedReplyError):
        assert outcome.code in {"malformed_call", "invalid_plan"}


@settings(max_examples=3 * settings.default.max_examples)
@given(SCRAPS)
@example("\ufeff")
def test_a_call_stands_in_the_text_and_the_message_keeps_the_rest(text):
    parsed = attempt(text, "inline")
    if isinstance(parsed, MalformedReplyError):
        return
    assert len(parsed.calls) <= text.count("[TOOL_CALL:")
    text = text.removeprefix("\ufeff")  # A mark of the encoding, no text.
    without = "".join(text.replace('[TOOL_CALL:{"tool":"t","parameters":{}}]', "").split())
    kept = "".join(parsed.clean_message.split())
    for sign in set(without) - set('[]{}:"TOL_CAparmestl\ud800'):
        assert kept.count(sign) >= without.count(sign)


@given(SCRAPS, st.sampled_from(["```", "~~~", "`````"]))
def test_nothing_in_a_fence_is_a_call(text, fence):
    quoted = text.replace("`", "'").replace("~", "-")
    reply = f"Look:\n{fence}\n{quoted}\n{fence}\nThat was it."
    parsed = parse_reply(reply, "inline")
    assert parsed.calls == ()


@given(SCRAPS)
@example('[TOOL_CALL:{"calls":[')
def test_nothing_in_a_code_span_is_a_call(text):
    quoted = "".join(c for c in text if c not in "`\n\r")
    assert parse_reply(f"Look: ``{quoted} x`` there.", "inline").calls == ()


@given(CALLS, st.data())
def test_one_bad_call_among_good_ones_rejects_all(calls, data):
    written = [
        f"[TOOL_CALL:{json.dumps(call_json(call, 'tool', 'parameters', 'confidence'))}]"
        for call in calls
    ]
    place = data.draw(st.integers(0, len(written)))
    bad = data.draw(
        st.sampled_from(
            [
                '[TOOL_CALL:{"tool":"t","parameters":{"a":1,"a":1}}]',
                '[TOOL_CALL:{"tool":"t","parameters":{},"confidence":true}]',
                '[TOOL_CALL:{"tool":"t","parameters":{},"extra":1}]',
                "[TOOL_CALL:{]",
            ]
        )
    )
    reply = " ".join([*written[:place], bad, *written[place:]])
    assert isinstance(attempt(reply, "inline"), MalformedReplyError)
