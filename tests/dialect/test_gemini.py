"""Gemini's own form of calls, as REST, JSON text and its package's objects; results in it."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

from toolmd._dialect import parse_reply, render_denial, render_results
from toolmd._types.result import Failure, Result
from toolmd.errors import MalformedReplyError

PARTS = [
    {"text": "They want a table.", "thought": True},
    {"text": "One "},
    {"text": "moment."},
    {"functionCall": {"name": "find_table", "args": {"guests": 4}}, "thoughtSignature": "AAEC"},
    {"functionCall": {"id": "c2", "name": "say_hello"}},
]


def answer(*parts: Any, reason: str = "STOP") -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": content, "finishReason": reason}], "modelVersion": "g"}


class Given(BaseModel, extra="allow"):
    """A fake object of the provider's package, with other field names."""


def given() -> Given:
    call = {"id": None, "name": "find_table", "args": {"guests": 4}}
    parts = [
        {"text": "One moment.", "function_call": None, "thought_signature": None},
        {"text": None, "function_call": call, "thought_signature": b"\x00\xff"},
        {"text": None, "function_call": {"id": "c2", "name": "say_hello", "args": None}},
    ]
    first = {"content": {"role": "model", "parts": parts}, "finish_reason": "STOP"}
    return Given(candidates=[first], create_time=datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    "reply", [[{"functionCall": {"name": "t"}}], {"parts": [{"functionCall": {"name": "t"}}]}]
)
def test_parts_without_their_content_or_its_role_are_the_model_s(reply):
    (call,) = parse_reply(reply, "gemini").calls
    assert (call.tool, call.arguments) == ("t", {})


@pytest.mark.parametrize("dialect", ["gemini", "auto"])
@pytest.mark.parametrize(
    "reply",
    [answer(*PARTS), json.dumps(answer(*PARTS)), {"role": "model", "parts": PARTS}, given()],
    ids=["answer", "text", "content", "object"],
)
def test_calls_are_read_from_every_form_of_an_answer(reply: Any, dialect: str) -> None:
    parsed = parse_reply(reply, dialect)
    assert (parsed.clean_message, parsed.dialect) == ("One moment.", "gemini")
    assert parsed.calls[0].id
    assert [(c.tool, dict(c.arguments), c.id) for c in parsed.calls] == [
        ("find_table", {"guests": 4}, parsed.calls[0].id),
        ("say_hello", {}, "c2"),
    ]


def test_a_confidence_is_removed_from_the_arguments() -> None:
    part = {"functionCall": {"name": "x", "args": {"a": 1, "_confidence": 0.75}}}
    (call,) = parse_reply(answer(part), "gemini").calls
    assert (dict(call.arguments), call.confidence) == ({"a": 1}, 0.75)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (answer({"functionCall": {"args": {}}}), "call 1: name must be the tool's name"),
        (answer({"functionCall": {"name": "x", "args": "{}"}}), "call 1: args must be an object"),
        (answer({"functionCall": "x"}), "call 1: a call has the keys name and args"),
        (answer(PARTS[3], reason="MAX_TOKENS"), "cut off at its token limit"),
        (answer(PARTS[3], reason="SAFETY"), r"ended early \(SAFETY\)"),
        (answer({"functionCall": {"name": "x", "partialArgs": [{}]}}), "piece of a stream"),
        (answer({"functionCall": {"name": "x", "willContinue": True}}), "piece of a stream"),
        (answer(reason="MALFORMED_FUNCTION_CALL"), "call could not be read: MALFORMED"),
    ],
)
def test_an_unreadable_call_rejects_the_whole_reply(reply: Any, said: str) -> None:
    for dialect in ("gemini", "auto"):
        with pytest.raises(MalformedReplyError, match=said):
            parse_reply(reply, dialect)


def test_a_call_in_the_users_content_is_not_read() -> None:
    assert parse_reply({"role": "user", "parts": PARTS}, "auto").calls == ()


def test_an_answer_without_words_is_empty() -> None:
    blocked = {"candidates": [{"finishReason": "SAFETY", "index": 0}]}
    assert parse_reply(blocked, "gemini").clean_message == ""


@pytest.mark.parametrize("said", ['{"candidates": ["Ana", "Ben"]}', '{"parts": [{"name": "a"}]}'])
def test_json_that_only_looks_like_an_answer_is_text(said: str) -> None:
    assert parse_reply(said, "auto").clean_message == said


def test_results_go_back_as_one_content_in_the_order_of_the_calls() -> None:
    failure = Failure("sold_out", "Nothing is left.")
    results = [
        Result(True, "find_table", "ok", data={"table": 5}),
        Result(False, "say_hello", "failed", tool_call_id="c2", error=failure),
    ]
    (content,) = render_results(results, "gemini")
    first, second = [part["functionResponse"] for part in content["parts"]]
    assert (content["role"], first["name"], second["id"]) == ("user", "find_table", "c2")
    assert "id" not in first
    assert first["response"]["data"] == {"table": 5}
    assert second["response"]["error"]["code"] == "sold_out"
    assert render_results([], "gemini") == []


def test_a_denied_reply_is_rendered_as_a_user_message() -> None:
    refused = Result(False, "", "denied", error=Failure("malformed_call", "not JSON"))
    (content,) = render_denial(refused, "gemini")
    assert content["role"] == "user"
    assert json.loads(content["parts"][0]["text"])["error"]["code"] == "malformed_call"
