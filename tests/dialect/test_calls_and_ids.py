"""Ids of calls, empty arguments, and the calls of a reply that can't be read as a whole."""

import json
from typing import Any

import pytest

from toolmd._dialect import parse_reply
from toolmd.errors import MalformedReplyError


def chat(*calls: tuple[Any, str, Any]) -> dict[str, Any]:
    return {
        "role": "assistant", "content": None,
        "tool_calls": [
            {"id": own, "type": "function", "function": {"name": name, "arguments": given}}
            for own, name, given in calls
        ],
    }  # fmt: skip


def responses(*calls: tuple[Any, str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "function_call", "call_id": own, "name": name, "arguments": given}
        for own, name, given in calls
    ]


def anthropic(*calls: tuple[Any, str, Any]) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": own, "name": name, "input": _object(given)}
              for own, name, given in calls]  # fmt: skip
    return {"role": "assistant", "content": blocks}


def gemini(*calls: tuple[Any, str, Any]) -> dict[str, Any]:
    parts = [{"functionCall": {"id": own, "name": name, "args": _object(given)}}
             for own, name, given in calls]  # fmt: skip
    return {"role": "model", "parts": parts}


def inline(*calls: tuple[Any, str, Any]) -> str:
    return " ".join(
        f"[TOOL_CALL:{json.dumps({'id': own, 'tool': name, 'parameters': _object(given)})}]"
        for own, name, given in calls
    )


def _object(given: Any) -> Any:
    return json.loads(given) if isinstance(given, str) and given.startswith("{") else given


FORMS = pytest.mark.parametrize("form", [chat, responses, anthropic, gemini, inline])


@FORMS
def test_an_id_is_any_text_of_any_length(form: Any) -> None:
    own = "call_f5b3__thought__" + "ü/" * 2500

    assert [call.id for call in parse_reply(form((own, "find", "{}"))).calls] == [own]


@FORMS
@pytest.mark.parametrize("own", [None, ""])
def test_a_missing_or_empty_id_gets_one_of_ours(form: Any, own: Any) -> None:
    calls = parse_reply(form((own, "find", "{}"), (own, "find", "{}"), ("a", "find", "{}"))).calls

    assert calls[2].id == "a"
    assert all(call.id for call in calls)
    assert len({call.id for call in calls}) == 3


@FORMS
def test_the_same_id_name_and_arguments_twice_is_one_call(form: Any) -> None:
    one, other = ("a", "pay", '{"sum": 1}'), ("a", "pay", '{"sum": true}')
    calls = parse_reply(form(one, one, other, ("a", "find", '{"sum": 1}'))).calls

    assert [(call.tool, call.arguments["sum"]) for call in calls] == [
        ("pay", 1), ("pay", True), ("find", 1),
    ]  # fmt: skip
    assert calls[0].id == "a"
    assert len({call.id for call in calls}) == 3


@FORMS
@pytest.mark.parametrize("given", [None, "", " ", "null", "{}"])
def test_no_arguments_are_an_empty_object_however_written(form: Any, given: Any) -> None:
    assert [call.arguments for call in parse_reply(form(("a", "ping", given))).calls] == [{}]


def test_a_list_that_repeats_itself_takes_no_time() -> None:
    value: Any = ["x"]
    for _ in range(40):
        value = [value, value]
    with pytest.raises(MalformedReplyError):
        parse_reply(anthropic(("a", "ping", value)))
