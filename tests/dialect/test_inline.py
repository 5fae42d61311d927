"""Calls in the words themselves: seed 001, and what only looks like one."""

import json

import pytest

from toolmd._dialect import parse_reply, render_results
from toolmd._types.result import Failure, Result
from toolmd.errors import MalformedReplyError


def inline(reply):
    return parse_reply(reply, "inline")


def refused(reply, dialect="inline"):
    with pytest.raises(MalformedReplyError) as caught:
        parse_reply(reply, dialect)
    assert caught.value.code == "malformed_call"
    return caught.value


def marked(**call):
    return f"[TOOL_CALL:{json.dumps({'tool': 'note', 'parameters': {}, **call})}]"


def test_the_seeds_first_example_is_read_as_its_call_and_its_text():
    parsed = inline(
        "Got it! I'll log that for you. "
        '[TOOL_CALL:{"id":"call-123","tool":"log_medication","parameters":'
        '{"medication_name":"aspirin","dose":"1 tablet"},"confidence":0.95}]'
    )
    assert parsed.clean_message == "Got it! I'll log that for you."
    (call,) = parsed.calls
    assert call.tool == "log_medication"
    assert call.arguments == {"medication_name": "aspirin", "dose": "1 tablet"}
    assert (call.id, call.confidence) == ("call-123", 0.95)


def test_the_seeds_pair_of_calls_keeps_its_order():
    parsed = inline(
        "Awesome! I'll update your mood and log your medication. "
        '[TOOL_CALL:{"id":"call-1","tool":"update_mood","parameters":{"mood":"great"},'
        '"confidence":0.95}][TOOL_CALL:{"id":"call-2","tool":"log_medication","parameters":'
        '{"medication_name":"morning medication"},"confidence":0.9}]'
    )
    assert parsed.clean_message == "Awesome! I'll update your mood and log your medication."
    assert [call.tool for call in parsed.calls] == ["update_mood", "log_medication"]


@pytest.mark.parametrize(
    ("reply", "clean"),
    [
        ("A {} B", "A B"),
        ("A{}.", "A."),
        ("A {}.", "A."),
        ("A\n\n{}\n\nB", "A\n\nB"),
        ("A\n{}\nB", "A\nB"),
        ("A\n\n\n\n{}\n{}\n\n\nB", "A\n\nB"),
        ("A\n{}\n  - B", "A\n  - B"),
        ("{}{}", ""),
        ("{} \n A", "A"),
        ("A\n\n    code  kept\n{}", "A\n\n    code  kept"),
    ],
)
def test_the_gap_that_a_call_leaves_is_closed(reply, clean):
    assert inline(reply.replace("{}", marked())).clean_message == clean


@pytest.mark.parametrize(
    "reply",
    [
        "```\n{}\n```",
        "```json\nx\n{}\n\n{}\n```\nafter",
        "~~~\n{}\n```\n{}\n~~~",
        "````\n```\n{}\n```\n{}\n````",
        "```\n{}",
        "- item\n  ```\n  {}\n  ```",
        "- ```\n  {}\n  ```",
        "```\n{}\n    ```\n{}\n```\n",
        "`{}`",
        "``a ` {} ``",
        "```{}```",
        "some `code\n{} over` two lines",
        "don't \\` and `{}`",
        "- a ` b\n- `{}`",
        "a ` b\n\n`{}`",
        "# a ` b\n`{}`",
        "> {}",
        "> You said ` this\n\n`{}`",
        "1. > {}",
        "> You said this\n{}",
        "> You said\nall this\n{}\nand that",
        "> > You said this\n> more\n{}",
        "> - You said this\n    1. {}",
        "> You said this\n#{}",
        "> You said this\r\n{}",
        "\r\n```\r\n{}\r\n```\r\n",
        "a\r```\r{}\r```\r",
    ],
)
def test_quoted_text_is_not_a_call_and_stays_in_the_message(reply):
    text = reply.replace("{}", marked())
    parsed = inline(text)
    assert parsed.calls == ()
    assert parsed.clean_message == text.strip()


@pytest.mark.parametrize(
    "reply",
    [
        "```\nx\n```\n{}",
        "`x` {} `y`",
        "a ` b\n\n{} c ` d",
        "``a ` b`` {}",
        "\\`{}\\`",
        "a ``` b\n\n{}",
        "> quoted ` here\n\n{} `x`",
        "> quoted\n>\n{}",
        "> # quoted\n{}",
        "> ```\n> x\n> ```\n{}",
        "> quoted\n- {}",
        "> quoted\n1. {}",
        "> quoted\n# {}",
        "> quoted\n***\n{}",
        "> quoted\n```\nx\n```\n{}",
        "```x``` {}",
        "~~~\n```\n~~~\n{}",
        "    {}",
        "- {}",
        "# {}",
    ],
)
def test_a_call_next_to_a_quote_is_a_call(reply):
    assert len(inline(reply.replace("{}", marked())).calls) == 1


def test_json_may_contain_brackets_markers_line_breaks_and_backticks():
    parameters = {"a": [[1, [2]], ["]]}"]], "b": "[TOOL_CALL:{", "c": "`x", "d": "1\n```\n2"}
    for text in (json.dumps(parameters), json.dumps(parameters, indent=2)):
        parsed = inline(f'A [TOOL_CALL: {{"tool":"t","parameters":{text}}} ] `B` {marked()}')
        assert [call.arguments for call in parsed.calls] == [parameters, {}]
        assert parsed.clean_message == "A `B`"


def test_a_raw_line_break_inside_a_string_is_read():
    (call,) = inline('[TOOL_CALL:{"tool":"t","parameters":{"notes":"one\ntwo"}}]').calls
    assert call.arguments == {"notes": "one\ntwo"}


@pytest.mark.parametrize(
    "call",
    [
        "[TOOL_CALL:",
        "[TOOL_CALL:]",
        "[TOOL_CALL:x]",
        "[TOOL_CALL:[]]",
        '[TOOL_CALL:"x"]',
        "[TOOL_CALL:{}]",
        '[TOOL_CALL:{"tool":"t","parameters":{}}',
        '[TOOL_CALL:{"tool":"t","parameters":{}',
        '[TOOL_CALL:{"tool":"t","parameters":{}} x]',
        '[TOOL_CALL:{"tool":"t","parameters":{},}]',
        "[TOOL_CALL:{'tool':'t','parameters':{}}]",
        '[TOOL_CALL:{"parameters":{}}]',
        '[TOOL_CALL:{"tool":"t","parameters":[]}]',
        '[TOOL_CALL:{"tool":"t","parameters":"{}"}]',
        '[TOOL_CALL:{"tool":"","parameters":{}}]',
        '[TOOL_CALL:{"tool":1,"parameters":{}}]',
        '[TOOL_CALL:{"tool":"t","parameters":{},"user":"u2"}]',
        '[TOOL_CALL:{"tool":"t","tool":"u","parameters":{}}]',
        '[TOOL_CALL:{"tool":"t","parameters":{"a":1,"a":2}}]',
        '[TOOL_CALL:{"tool":"t","parameters":{"a":{"b":1,"\\u0062":2}}}]',
        '[TOOL_CALL:{"tool":"t","parameters":{"a":NaN}}]',
        '[TOOL_CALL:{"tool":"t","parameters":{"a":-Infinity}}]',
        '[TOOL_CALL:{"tool":"t","parameters":{"a":1e999}}]',
        '[TOOL_CALL:{"tool":"t","parameters":{"a":"\\ud800"}}]',
        '[TOOL_CALL:{"tool":"t","parameters":{"a":"\ud800"}}]',
        '[TOOL_CALL:{"tool":"t","parame\ud800ters":{"a":[1]},"confidence":.9}]',
        '[TOOL_CALL:{"tool":"t","parameters":{"a":' + "9" * 5000 + "}}]",
        '[TOOL_CALL:{"tool":"t","parameters":{},"confidence":true}]',
        '[TOOL_CALL:{"tool":"t","parameters":{},"confidence":null}]',
        '[TOOL_CALL:{"tool":"t","parameters":{},"confidence":"0.9"}]',
        '[TOOL_CALL:{"tool":"t","parameters":{},"confidence":1.0001}]',
        '[TOOL_CALL:{"tool":"t","parameters":{},"confidence":-0.1}]',
        '[TOOL_CALL:{"tool":"t","parameters":{},"confidence":NaN}]',
    ],
)
def test_one_bad_call_rejects_the_whole_reply(call):
    error = refused(f"Well. {marked()} Then. {call} End. {marked()}")
    unclosed = call.count("{") > call.count("}")
    rest = "" if unclosed else " x] End." if call.endswith(" x]") else " End."
    assert error.clean_message == f"Well. Then.{rest}"
    assert "call 2" in str(error)


@pytest.mark.parametrize(
    ("cut", "ids", "clean"),
    [
        ('A [TOOL_CALL:{"id":"1","tool":"t"}] B [TOOL_CALL:{"id":"2","tool":"t","pa',
         ["1", "2"], "A B"),
        ('A [TOOL_CALL:{"id":"1","tool":"t","parameters":{"n":1', ["1"], "A"),
        ('A [TOOL_CALL:{"id":"1","to', ["1"], "A"),
        ('A [TOOL_CALL:{"id":"1', [], "A"),
        ('A [TOOL_CALL:{"id":"1","parameters":{n:1}}] B [TOOL_CALL:{"id":"2","tool":"t"}] C',
         ["1", "2"], "A B C"),
        ('A [TOOL_CALL:{"id":"1","tool":"t","parameters":{"n":"a\nb",}}] B', ["1"], "A B"),
    ],
)  # fmt: skip
def test_each_readable_id_of_a_broken_reply_is_named(cut, ids, clean):
    error = refused(cut)
    assert [own for own, _ in error.calls] == ids
    assert error.clean_message == clean


@pytest.mark.parametrize("confidence", [0, 1, 0.0, 1.0, 0.7])
def test_confidence_may_be_any_number_from_0_to_1(confidence):
    assert inline(marked(confidence=confidence)).calls[0].confidence == confidence


def test_32_calls_are_read_and_33_are_rejected():
    assert len(inline(marked() * 32).calls) == 32
    refused(marked() * 33)


def test_json_of_32_levels_is_read_and_of_33_rejected():
    def nested(levels):
        # The call's object and `parameters` are two of them.
        return f'[TOOL_CALL:{{"tool":"t","parameters":{{"a":{"[" * levels}{"]" * levels}}}}}]'

    assert len(inline(nested(30)).calls) == 1
    refused(nested(31))
    refused(nested(100_000))


def test_many_shallow_brackets_are_not_deep():
    shallow = {"a": [[{}, '[[[[{{{{\\"'] for _ in range(100)]}
    assert inline(marked(parameters=shallow)).calls[0].arguments == shallow


def test_256_kib_are_read_and_one_byte_more_is_rejected():
    call = marked()
    room = 256 * 1024 - len(call)
    assert len(inline("x" * room + call).calls) == 1
    refused("x" * (room + 1) + call)
    assert len(inline("é" * (room // 2) + call).calls) == 1
    refused("é" * (room // 2 + 1) + call)
    refused("x" * (room + 1 + len(call)))


def test_a_reply_without_calls_is_its_own_message():
    parsed = inline("  Just [words] and {braces}, TOOL_CALL: none.\n")
    assert parsed.clean_message == "Just [words] and {braces}, TOOL_CALL: none."
    assert (parsed.calls, parsed.dialect) == ((), "text")
    assert inline("").clean_message == ""


def test_half_a_surrogate_pair_in_the_words_becomes_a_replacement_sign():
    assert inline("a\ud800b").clean_message == "a\ufffdb"


def test_calls_come_from_the_assistants_message_only():
    said = {"content": f"Fine. {marked()}"}
    assert len(inline({"role": "assistant", **said}).calls) == 1
    for role in ("user", "system", "tool", "developer"):
        parsed = inline({"role": role, **said})
        assert parsed.calls == ()
        assert parsed.clean_message == said["content"]
    conversation = [{"role": "assistant", **said}, {"role": "user", **said}]
    assert inline(conversation).calls == ()
    assert len(inline(conversation[::-1]).calls) == 1


def test_bytes_are_read_as_utf_8():
    assert inline(f"é {marked()}".encode()).clean_message == "é"
    refused(b"\xff" + marked().encode())


def test_a_value_that_is_not_a_reply_is_rejected():
    for nothing in (None, 7, {"a": 1}, [1], object(), {"role": "assistant", "content": 5}):
        refused(nothing)


def test_results_go_back_as_one_message_of_the_user():
    done = Result(
        success=True, tool="note", outcome="ok", message="Noted", data={"n": 1}, tool_call_id="c1"
    )
    denied = Result(
        success=False, tool="nope", outcome="denied", error=Failure("unknown_tool", "No tool nope.")
    )
    (message,) = render_results([done, denied], "inline")
    assert message["role"] == "user"
    first, second = message["content"].splitlines()
    assert json.loads(first.removeprefix("[TOOL_RESULT:")[:-1]) == {
        "success": True,
        "toolCallId": "c1",
        "tool": "note",
        "outcome": "ok",
        "message": "Noted",
        "data": {"n": 1},
    }
    assert '"code":"unknown_tool"' in second
    assert '"message":"Tool call blocked by safety guardrails"' in second
    assert inline(message).calls == ()
