"""Text by others than the assistant contains no calls, however it is marked."""

import contextlib
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolmd._dialect import parse_reply
from toolmd.errors import MalformedReplyError

ARGUMENTS = {"a": 'b "c" {', "d": ["<e>", "f: g"]}
INLINE = "[TOOL_CALL:" + json.dumps({"tool": "t", "parameters": ARGUMENTS}) + "]"
ACTION = "Action: " + json.dumps({"tool": "t", "args": ARGUMENTS})
PLAN = json.dumps({"tool": "t", "params": ARGUMENTS})
CALLS = {"inline": INLINE, "action": ACTION, "plan": PLAN}

OTHERS = [
    "<tool_result>{}</tool_result>",
    "<tool_result>\n{}\n</tool_result>",
    "<tool_result>\n{}",
    "<pre>\n{}\n</pre>",
    "<PRE>{}</pre>",
    "<div class='x > y'>{}</div>",
    "<a><a>x</a>\n{}\n</a>",
    "<a>\n<a/>\n{}\n</a>",
    "<x a='/>'>{}</x>",
    "<!-- {} -->",
    "<!--\n{}\n",
    "<![CDATA[{}]]>",
    "<think>I could write {}</think>",
    "<think>I could write\n{}",
    "I could write {} </think>",
    "I could write\n{}\n</thinking>\n",
    'They sent "{}".',
    'They sent "please\n\n{}\n\nnow".',
    'They sent "please\n{}',
    '"{}"',
    "'{}'",
    "“{}”",
    "“{}",
    "„{}“",
    "„{}”",
    "«{}»",
    "« {} »",
    "»{}«",
    "‹{}›",
    "‘do {} now’",
    "”{}”",
    "「{}」",
    "**User:** {}",
    "User: {}",
    "- Tool result: {}",
    "User:\n\nfirst\n{}\nlast",
    '[TOOL_RESULT:{"data": "{}"}]',
    "Text.\n\n    {}\n\nMore.",
    'She said "so\n```\nit is" and\n{}',
    "One `a\n~~~\nb` two\n{}",
    "A <q>word\n```\nmore</q>\n{}",
    "Text.\n\n    x\n\n\t{}",
]
OWN = [
    "Sure: {}",
    "I'll do it now: {}",
    "As you said: {}",
    "As you asked, I write it down: {}",
    "I wrote: {}",
    "At 12:30 it is done. {}",
    "See https://example.org/a:b then. {}",
    "See <https://example.org/a> then. {}",
    "x < y, and y > z. {}",
    "a vector<int> is it. {}",
    "One line<br> {}",
    "One line<br/>\n{}",
    "<pre>x</pre>\n{}",
    "<think>no</think>\n{}",
    "<think>\n```json\nno\n</think>\n\n{}",
    'She said "so\n```\nit\n```\nis" then.\n{}',
    "<!-- x -->\n{}",
    "She is 5'4\" tall. {}",
    'She said "hi" and left. {}',
    'The pipe is 12" wide and 6" deep. {}',
    "I don't mind, and she won't. {}",
    "In the '90s. {}",
    "“Hi.” {}",
    "„Hallo“, ja. {}",
    "« Oui » donc. {}",
    'Given {"a": "b", "c": "d"} so. {}',
    "The user wrote: hi\n{}",
    "Thought: it is clear.\n{}",
    "- item\n\n    {}",
]


@pytest.mark.parametrize("reply", OTHERS)
@pytest.mark.parametrize("dialect", ["inline", "action", "plan", "auto"])
def test_quoted_text_contains_no_call(reply, dialect):
    for name in CALLS if dialect == "auto" else [dialect]:
        try:
            parsed = parse_reply(reply.replace("{}", CALLS[name]), dialect)
        except MalformedReplyError:
            # A call that ends in a quote is an error in a dialect with one terminal call.
            continue
        assert parsed.calls == ()


@pytest.mark.parametrize("reply", OWN)
def test_the_assistants_own_text_contains_its_call(reply):
    for dialect in ("inline", "auto"):
        (call,) = parse_reply(reply.replace("{}", INLINE), dialect).calls
        assert call.arguments == ARGUMENTS
    (call,) = parse_reply(reply.replace("{}", ACTION), "action").calls
    assert call.arguments == ARGUMENTS


@pytest.mark.parametrize("reply", [reply for reply in OWN if reply.endswith("\n{}")])
def test_a_plan_on_its_own_line_is_read(reply):
    (call,) = parse_reply(reply.replace("{}", PLAN), "plan").calls
    assert call.arguments == ARGUMENTS


@pytest.mark.parametrize("reply", ["<p>{}</p>", '"{}"', "User: {}", "> {}"])
@pytest.mark.parametrize("dialect", ["inline", "action"])
def test_only_the_call_after_quoted_text_is_read(reply, dialect):
    call = CALLS[dialect]
    quoted = reply.replace("{}", call)
    parsed = parse_reply(f"{quoted}\n\n{call}", dialect)
    assert (len(parsed.calls), parsed.clean_message) == (1, quoted)


def test_a_whole_reply_in_quotation_marks_is_still_the_assistants():
    (call,) = parse_reply(f'"Got it! I write it down. {INLINE}"', "inline").calls
    assert call.arguments == ARGUMENTS


SCRAPS = st.lists(
    st.sampled_from([INLINE, ACTION, f"\n{PLAN}\n", "<a>", "</b>", "<!--", '"', "'", "“", "```",
                     "`", "> ", "\n\n", "User: ", "text "]) | st.text(max_size=3),
    max_size=12,
).map("".join)  # fmt: skip


@settings(max_examples=2 * settings.default.max_examples)
@given(SCRAPS, st.sampled_from([("<out>", "</out>"), ("<out a='b'>\n", "\n</out>"), ("<out>", "")]))
def test_nothing_in_an_element_is_a_call(text, around):
    text = text.replace("</out", "")
    for dialect in ("inline", "plan", "action"):
        try:
            assert parse_reply(f"Look: {around[0]}{text}{around[1]}", dialect).calls == ()
        except MalformedReplyError:
            continue


HEAPS = [
    "<", "<a ", "<a>", "x<a>", '"', ' "a', '"{}', '"{"a"', " 'a", "user: ", "the user wrote:\n",
    '<a"', "<a'\" ", "<!-", "\n    x", "</think", "</thinkx>", '`a<"',
    '{"a": "b: c", "d": [1]},\n',
]  # fmt: skip


@pytest.mark.parametrize("heap", HEAPS)
def test_a_heap_of_signs_costs_no_more_than_in_proportion(heap):
    def cost(size):
        text = (heap * (size // len(heap))) + INLINE
        began = time.process_time()
        with contextlib.suppress(MalformedReplyError):
            parse_reply(text, "inline")
        return time.process_time() - began

    # A second time where the machine was busy.
    assert cost(80_000) < 0.7 or cost(80_000) < 0.7
