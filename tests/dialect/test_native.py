"""OpenAI's and Anthropic's own forms of calls, as dicts, JSON text and objects."""

import json

import pytest
from pydantic import BaseModel

from toolmd._dialect import parse_reply, render_results
from toolmd._types.confirmation import Confirmation
from toolmd._types.result import Failure, Result
from toolmd.errors import MalformedReplyError, NotFoundError

ARGUMENTS = {"systolic": 120, "diastolic": 80}


def chat_call(arguments=None, **changes):
    written = json.dumps(ARGUMENTS) if arguments is None else arguments
    function = {"name": "log_blood_pressure", "arguments": written}
    return {"id": "call_abc123", "type": "function", "function": function, **changes}


def chat(*calls, content="I'll log that for you!", **changes):
    return {"role": "assistant", "content": content, "tool_calls": list(calls), **changes}


def completion(message, **changes):
    return {"id": "gen-1", "choices": [{"index": 0, "message": message, **changes}]}


def item(**changes):
    return {
        "type": "function_call",
        "call_id": "call_abc123",
        "name": "log_blood_pressure",
        "arguments": json.dumps(ARGUMENTS),
        **changes,
    }


def block(**changes):
    return {
        "type": "tool_use",
        "id": "call_abc123",
        "name": "log_blood_pressure",
        "input": ARGUMENTS,
        **changes,
    }


SAID = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "I'll log that for you!"}],
}
TEXT = {"type": "text", "text": "I'll log that for you!"}
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "tool_use"}

FORMS = [
    ("openai", "openai", completion(chat(chat_call()), finish_reason="tool_calls")),
    ("openai", "openai", chat(chat_call())),
    ("openai", "openai", chat(chat_call(ARGUMENTS))),
    ("openai", "openai", [{"role": "user", "content": "hi"}, chat(chat_call(index=0))]),
    ("openai", "openai-responses", {"object": "response", "output": [SAID, item()]}),
    ("openai", "openai-responses", [{"type": "reasoning", "id": "r"}, SAID, item()]),
    ("openai-responses", "openai-responses", [SAID, item(status="completed")]),
    ("anthropic", "anthropic", {**MESSAGE, "content": [TEXT, block()]}),
    ("anthropic", "anthropic", [{"type": "thinking", "thinking": "hm"}, TEXT, block()]),
]


class Given(BaseModel, extra="allow"):
    """A fake object of a provider's package with a model_dump."""


@pytest.mark.parametrize(("dialect", "found", "reply"), FORMS)
@pytest.mark.parametrize("give", [lambda reply: reply, json.dumps, "object"])
def test_every_form_is_read_as_the_same_call_and_text(dialect, found, reply, give):
    if give == "object":
        given = [Given(**r) for r in reply] if isinstance(reply, list) else Given(**reply)
    else:
        given = give(reply)
    for name in (dialect, "auto"):
        parsed = parse_reply(given, name)
        assert parsed.dialect == found
        assert parsed.clean_message == "I'll log that for you!"
        (call,) = parsed.calls
        assert (call.tool, call.id) == ("log_blood_pressure", "call_abc123")
        assert call.arguments == ARGUMENTS
        assert call.confidence is None


@pytest.mark.parametrize("reply", [chat_call(), [chat_call()], item(), [item()], block()])
def test_a_call_may_come_alone(reply):
    assert parse_reply(reply).calls[0].arguments == ARGUMENTS


def test_an_object_of_a_provider_may_stand_inside_a_dict():
    assert parse_reply(chat(Given(**chat_call()))).calls[0].id == "call_abc123"


def test_the_confidence_argument_is_removed():
    stated = {**ARGUMENTS, "_confidence": 0.9}
    for reply in (
        chat(chat_call(json.dumps(stated))),
        [item(arguments=json.dumps(stated))],
        [block(input=stated)],
    ):
        (call,) = parse_reply(reply).calls
        assert call.confidence == 0.9
        assert call.arguments == ARGUMENTS


def test_no_arguments_at_all_are_an_empty_object():
    assert parse_reply(chat(chat_call(""))).calls[0].arguments == {}


@pytest.mark.parametrize(
    "reply",
    [
        chat(chat_call("{")),
        chat(chat_call("[]")),
        chat(chat_call("{} {}")),
        chat(chat_call('{"a":1,"a":2}')),
        chat(chat_call('{"a":NaN}')),
        chat(chat_call('{"_confidence":true}')),
        chat(chat_call('{"_confidence":1.5}')),
        chat(chat_call('{"_confidence":"high"}')),
        chat(chat_call('{"a":' + "[" * 32 + "]" * 32 + "}")),
        chat(chat_call(None, function=None)),
        chat(chat_call(None, function={"arguments": "{}"})),
        chat(chat_call(None, function={"name": "", "arguments": "{}"})),
        chat(chat_call(None, type="custom")),
        chat("call"),
        chat(chat_call(), chat_call("{")),
        chat(*[chat_call()] * 33),
        {"role": "assistant", "tool_calls": "x"},
        completion(chat(chat_call()), finish_reason="length"),
        completion(chat(chat_call()), finish_reason="content_filter"),
        completion(chat(chat_call()), finish_reason="error"),
        completion(chat(chat_call()), finish_reason=["stop"]),
        {"choices": []},
        {"choices": [{"delta": {}}]},
        [item(status="incomplete")],
        {"output": [item()], "status": "incomplete"},
        {"output": [item()], "status": "failed"},
        {"output": [item()], "status": "cancelled"},
        [item(type="custom_tool_call")],
        [block(input="{}")],
        [block(), block(name=None)],
        {**MESSAGE, "content": [block()], "stop_reason": "max_tokens"},
        {**MESSAGE, "content": [block()], "stop_reason": "model_context_window_exceeded"},
        {**MESSAGE, "content": [block(), TEXT], "stop_reason": "refusal"},
        {"role": "assistant", "content": 7},
        {"role": "assistant", "content": float("nan")},
        {"role": "assistant", "content": b"x"},
        {1: 2},
        {},
        [],
        ["x"],
        '{"role":"assistant","role":"user"}',
        '{"role":"assistant","content":',
        "x" * (256 * 1024 + 1),
        chat(content="x" * (256 * 1024 + 1)),
    ],
)
def test_an_unreadable_call_rejects_the_reply(reply):
    for dialect in ("openai", "anthropic", "auto"):
        with pytest.raises(MalformedReplyError) as caught:
            parse_reply(reply, dialect)
        assert caught.value.code == "malformed_call"


def test_a_recursive_value_is_rejected():
    loop = {"role": "assistant"}
    loop["content"] = [loop]
    wide = ["x"]
    for _ in range(40):
        wide = [wide, wide]
    for reply in (loop, {"content": wide, "role": "assistant"}):
        with pytest.raises(MalformedReplyError):
            parse_reply(reply)


def test_an_object_whose_dump_fails_is_rejected():
    class Broken:
        def model_dump(self):
            raise RuntimeError("no")

    with pytest.raises(MalformedReplyError, match="model_dump"):
        parse_reply(Broken())


def test_a_dialect_does_not_read_anothers_calls():
    for dialect, reply in (("anthropic", chat(chat_call())), ("openai", [block()])):
        with pytest.raises(MalformedReplyError):
            parse_reply(reply, dialect)


def test_text_is_not_a_call_in_a_native_dialect():
    marker = '[TOOL_CALL:{"tool":"t","parameters":{}}]'
    for reply in (marker, {"role": "assistant", "content": marker}):
        for dialect in ("openai", "anthropic"):
            parsed = parse_reply(reply, dialect)
            assert (parsed.clean_message, parsed.calls) == (marker, ())


def test_calls_in_messages_of_others_are_not_read():
    for role in ("user", "tool", "system"):
        assert parse_reply(chat(chat_call(), role=role)).calls == ()
        assert parse_reply({"role": role, "content": [block()]}).calls == ()
    result = {"type": "tool_result", "tool_use_id": "x", "content": [block()]}
    assert parse_reply([result]).calls == ()
    output = {"type": "function_call_output", "call_id": "x", "output": json.dumps(item())}
    assert parse_reply([SAID, output]).calls == ()


def test_a_call_that_the_provider_ran_is_not_run_again():
    ran = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    assert parse_reply([TEXT, ran, block()]).calls[0].tool == "log_blood_pressure"
    assert len(parse_reply([TEXT, ran, block()]).calls) == 1
    assert parse_reply([SAID, {"type": "web_search_call", "id": "w"}]).calls == ()


def test_a_models_refusal_is_the_message():
    refusal = {"role": "assistant", "content": None, "refusal": "I can't."}
    assert parse_reply(refusal).clean_message == "I can't."


def test_an_unknown_dialect_names_those_that_there_are():
    with pytest.raises(NotFoundError, match=r"'klingon'.*inline"):
        parse_reply("x", "klingon")


RESULTS = [
    Result(success=True, tool="a", outcome="ok", data={"x": 1}, tool_call_id="1", attempts=1),
    Result(
        success=False,
        tool="b",
        outcome="failed",
        tool_call_id="2",
        error=Failure("tool_error", "The clinic does not answer."),
        api_offline=True,
        truncated={"rows": False, "bytes": False},
    ),
]


def test_chat_results_are_messages_of_the_role_tool():
    first, second = render_results(RESULTS, "openai")
    assert (first["role"], first["tool_call_id"]) == ("tool", "1")
    assert json.loads(first["content"])["data"] == {"x": 1}
    body = json.loads(second["content"])
    assert body["api_offline"] is True
    assert body["error"] == {"code": "tool_error", "message": "The clinic does not answer."}
    assert not {"attempts", "duration_ms", "truncated", "crisis"} & body.keys()


def test_responses_results_are_output_items():
    first, _ = render_results(RESULTS, "openai-responses")
    assert (first["type"], first["call_id"]) == ("function_call_output", "1")
    assert json.loads(first["output"])["success"] is True


def test_anthropic_results_are_blocks_of_one_message():
    (message,) = render_results(RESULTS, "anthropic")
    assert message["role"] == "user"
    first, second = message["content"]
    assert (first["tool_use_id"], first.get("is_error")) == ("1", None)
    assert (second["tool_use_id"], second["is_error"]) == ("2", True)


def test_a_model_reads_the_prompt_of_a_pending_call_but_not_its_id():
    held = Result(
        success=False,
        tool="a",
        outcome="confirm",
        tool_call_id="1",
        confirmation=Confirmation("secret-id", "I'd like to a. Is this correct?"),
        crisis=True,
    )
    (message,) = render_results([held], "openai")
    body = json.loads(message["content"])
    assert body["message"] == "I'd like to a. Is this correct?"
    assert body["crisis"] is True
    assert "secret-id" not in message["content"]


def test_no_results_make_no_message():
    for dialect in ("openai", "openai-responses", "anthropic", "inline", "action", "plan", "text"):
        assert render_results([], dialect) == []


@pytest.mark.parametrize("kind", [{"a": 0}, ["text"], 7, None, True])
def test_a_part_of_an_unknown_kind_is_ignored(kind):
    for reply in ([TEXT, {"type": kind}], {"role": "assistant", "content": [{"type": kind}, TEXT]}):
        assert parse_reply(reply).clean_message == TEXT["text"]


@pytest.mark.parametrize("changes", [{"input": {"a": "\ud800"}}, {"input": {"\ud800": 1}}])
def test_half_of_a_character_rejects_the_reply_in_an_object_as_in_text(changes):
    reply = {**MESSAGE, "content": [TEXT, block(), block(**changes)]}
    plan = {"tool": "t", "params": changes["input"]}
    for given in (reply, json.dumps(reply), plan, json.dumps(plan)):
        with pytest.raises(MalformedReplyError, match="surrogate"):
            parse_reply(given)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"object": "chat.completion.chunk", "choices": [{"delta": {}}]}, "pieces of a stream"),
        ([{"object": "chat.completion.chunk", "choices": []}], "pieces of a stream"),
        ([{"type": "message_start"}, {"type": "content_block_start"}], "pieces of a stream"),
        ([{"type": "response.output_item.added"}], "pieces of a stream"),
        (chat(function_call={"name": "x", "arguments": "{}"}), "the old form of tool_calls"),
    ],
)
def test_a_call_in_an_unsupported_form_is_an_error_and_not_lost(reply, said) -> None:
    for given in (reply, json.dumps(reply)):
        with pytest.raises(MalformedReplyError, match=said):
            parse_reply(given)


@pytest.mark.parametrize("end", [2, 12, 30])
def test_each_readable_id_of_a_reply_that_is_cut_as_text_is_named(end):
    function = {"name": "ping", "arguments": '{"n": 1}'}
    calls = [{"id": own, "type": "function", "function": function} for own in ("aa", "bb")]
    text = json.dumps({"role": "assistant", "content": None, "tool_calls": calls})
    with pytest.raises(MalformedReplyError) as caught:
        parse_reply(text[:-end], "openai")
    assert caught.value.calls == (("aa", "ping"), ("bb", "ping"))
