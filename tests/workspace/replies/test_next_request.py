"""Whatever a model's reply looks like, the messages that `handle` returns make a valid request.

Each provider's rules are modelled below. A reply is generated in a provider's form, with faults.
"""

import json
from functools import cache
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from turn_world import World

LONG = "call__thought__" + "x" * 500
IDS = st.lists(st.sampled_from(["a", "b", "c", "d", LONG, "é"]), max_size=4, unique=True)
ARGUMENTS = st.sampled_from(
    ['{"word": "hi"}', "{}", "null", "", '{"word":', "[]", '{"word": "a", "word": "b"}',
     '{"word": NaN}', '{"word": 1}', "[" * 40 + "]" * 40, '{"word": "' + "x" * 300_000 + '"}']
)  # fmt: skip
TOOLS = st.sampled_from(["say", "ask_first", "nothing", "", None])
CALLS = IDS.flatmap(
    lambda ids: st.tuples(*(st.tuples(st.just(one), TOOLS, ARGUMENTS) for one in ids))
)
FAULTS = st.sampled_from(["", "cut", "stopped", "odd end", "odd words", "custom", "old form"])


def loaded(text: str) -> Any:
    """Return arguments as an object where the form has objects; the text where it is broken."""
    try:
        return json.loads(text or "null")
    except ValueError:
        return text


def chat(calls: Any, fault: str) -> Any:
    made = [
        {"id": own, "type": "function", "function": {"name": name, "arguments": given_}}
        for own, name, given_ in calls
    ]
    for one in made[:1] if fault == "custom" else ():
        one |= {"type": "custom", "custom": one.pop("function")}
    words = 7 if fault == "odd words" else "Well."
    message = {"role": "assistant", "content": words, "tool_calls": made}
    if fault == "old form":
        message["function_call"] = {"name": "say", "arguments": "{}"}
    ends = {"cut": "length", "stopped": "content_filter", "odd end": ["stop"]}
    return {"choices": [{"message": message, "finish_reason": ends.get(fault, "tool_calls")}]}


def responses(calls: Any, fault: str) -> Any:
    items = [
        {"type": "function_call", "call_id": own, "name": name, "arguments": given_}
        for own, name, given_ in calls
    ]
    for one in items[:1] if fault == "custom" else ():
        one |= {"type": "custom_tool_call", "input": one.pop("arguments")}
    ends = {"cut": "incomplete", "stopped": "failed", "odd end": 7}
    words = 7 if fault == "odd words" else [{"type": "output_text", "text": "Well."}]
    said = {"type": "message", "role": "assistant", "content": words}
    return {"output": [said, *items], "status": ends.get(fault, "completed")}


def anthropic(calls: Any, fault: str) -> Any:
    blocks: list[Any] = [
        {"type": "tool_use", "id": own, "name": name, "input": loaded(given_)}
        for own, name, given_ in calls
    ]
    ends = {"cut": "max_tokens", "stopped": "refusal", "odd end": 7}
    words = [{"type": "text", "text": 7 if fault == "odd words" else "Well."}]
    end = ends.get(fault, "tool_use")
    return {"role": "assistant", "content": words + blocks, "stop_reason": end}


def gemini(calls: Any, fault: str) -> Any:
    parts: list[Any] = [
        {"functionCall": {"id": own, "name": name, "args": loaded(given_)}}
        for own, name, given_ in calls
    ]
    for part in parts[:1] if fault == "custom" else ():
        part["functionCall"]["willContinue"] = True
    ends = {"cut": "MAX_TOKENS", "stopped": "MALFORMED_FUNCTION_CALL", "odd end": 7}
    content = {"role": "model", "parts": [{"text": "Well."}, *parts]}
    return {"candidates": [{"content": content, "finishReason": ends.get(fault, "STOP")}]}


def inline(calls: Any, fault: str) -> Any:
    marks = [
        f'[TOOL_CALL:{{"id": {json.dumps(own)}, "tool": {json.dumps(name)}, '
        f'"parameters": {given_ or "null"}}}]'
        for own, name, given_ in calls
    ]
    return " ".join(["Well.", *marks, *(["[TOOL_CALL:{}]"] if fault == "cut" else [])])


def answered_in_chat(messages: Any, calls: Any, fault: str) -> list[Any]:
    del fault
    first = messages[: len(calls)]
    assert [one["role"] for one in first] == ["tool"] * len(calls)
    assert all(one["role"] == "user" for one in messages[len(calls) :])
    return [one["tool_call_id"] for one in first]


def answered_in_responses(messages: Any, calls: Any, fault: str) -> list[Any]:
    outputs = [one for one in messages if "call_id" in one]
    kinds = {own: "function_call_output" for own, _, _ in calls}
    if calls and fault == "custom":
        kinds[calls[0][0]] = "custom_tool_call_output"
    assert all(one["type"] == kinds[one["call_id"]] for one in outputs)
    return [one["call_id"] for one in outputs]


def answered_in_anthropic(messages: Any, calls: Any, fault: str) -> list[Any]:
    del fault
    if not calls:
        return []
    (message,) = messages
    assert message["role"] == "user"
    assert [block["type"] for block in message["content"]] == ["tool_result"] * len(calls)
    return [block["tool_use_id"] for block in message["content"]]


def answered_in_gemini(messages: Any, calls: Any, fault: str) -> list[Any]:
    del fault
    if not calls:
        return []
    (content,) = messages
    told = [part["functionResponse"] for part in content["parts"]]
    assert [one["name"] for one in told] == [name or "" for _, name, _ in calls]
    return [one["id"] for one in told]


def answered_inline(messages: Any, calls: Any, fault: str) -> list[Any]:
    del fault
    lines = messages[0]["content"].split("\n") if calls else []
    told = [json.loads(line.removeprefix("[TOOL_RESULT:")[:-1]) for line in lines]
    return [one["toolCallId"] for one in told]


FORMS: dict[Any, Any] = {
    "openai": (chat, answered_in_chat),
    "openai-responses": (responses, answered_in_responses),
    "anthropic": (anthropic, answered_in_anthropic),
    "gemini": (gemini, answered_in_gemini),
    "inline": (inline, answered_inline),
}


@cache
def world() -> World:
    return World()


@given(st.sampled_from(sorted(FORMS)), CALLS, FAULTS, st.booleans(), st.booleans())
@example("openai", (("a", "say", "{}"), ("b", "say", '{"word":')), "odd words", True, False)
@example("gemini", (("a", "say", "{}"),), "stopped", False, True)
def test_each_id_gets_exactly_one_result_in_the_form_of_its_dialect(
    form: str, calls: Any, fault: str, named: bool, as_text: bool
) -> None:
    write, answered = FORMS[form]
    reply = write(calls, fault)
    if as_text and not isinstance(reply, str):
        reply = json.dumps(reply)
    turn = world().handle(reply, form if named else "auto")
    readable = calls
    if form == "inline":
        # A text over its size is not read at all.
        readable = calls if len(json.dumps(calls)) <= 250_000 else ()

    if readable:
        assert answered(turn.messages, readable, fault) == [own for own, _, _ in readable]
    assert all(one.outcome == "denied" for one in turn.results) or not turn.denied
