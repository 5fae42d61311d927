"""Failures of an endpoint, and their error messages."""

import asyncio
import contextlib
import json
import socket
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolmd import ConfigError, Conversation, ModelError
from toolmd._chat.endpoint import base_url_of, key_of, model_of, open_client
from toolmd._types.settings import ChatSettings, Settings
from toolmd.testing import ModelServer, RawReply, asking


def error_body(message: str, **more) -> str:
    return json.dumps({"error": {"message": message, **more}})


FAULTS = [
    (RawReply(401, error_body("No such key: sk-secret")), "unauthorized", "check the key"),
    (RawReply(402, error_body("Insufficient credits")), "not_paid", "Insufficient credits"),
    (RawReply(403, error_body("Not yours")), "unauthorized", "Not yours"),
    (RawReply(404, error_body("no model x")), "not_found", "--model"),
    (RawReply(400, error_body("too many tools")), "rejected", "too many tools"),
    (RawReply(429, error_body("slow down")), "rate_limited", "wait"),
    (RawReply(500, error_body("oops")), "unavailable", "500"),
    (RawReply(503, "<html>down</html>"), "unavailable", "send the message again later"),
    (RawReply(418, "a teapot"), "rejected", "418"),
    (RawReply(200, "<html>Log in</html>", {"content-type": "text/html"}), "unreadable", "html"),
    (RawReply(200, '{"choices": ['), "unreadable", "not JSON"),
    (RawReply(200, "[]"), "unreadable", "not an object"),
    (RawReply(200, "{}"), "unreadable", "no message"),
    (RawReply(200, '{"choices": []}'), "unreadable", "no message"),
    (RawReply(200, '{"choices": [{"message": "hi"}]}'), "unreadable", "no message"),
    (RawReply(200, "[" * 100_000), "unreadable", "not JSON"),
    (RawReply(200, error_body("down", code=502)), "unavailable", "down"),
    (RawReply(200, error_body("slow down", code=429)), "rate_limited", "slow down"),
    (
        RawReply(200, '{"choices": [{"error": {"message": "gone", "code": 502}}]}'),
        "unavailable",
        "gone",
    ),
]
ANSWERED = 200


@pytest.mark.parametrize(("reply", "code", "says"), FAULTS)
def test_an_endpoints_failure_is_reported_with_a_remedy(nursery, reply, code, says) -> None:
    refused(nursery, reply, code, says, stream=False)


@pytest.mark.parametrize(
    ("reply", "code", "says"), [fault for fault in FAULTS if fault[0].status != ANSWERED]
)
def test_a_rejected_stream_is_reported_with_a_remedy(nursery, reply, code, says) -> None:
    refused(nursery, reply, code, says, stream=True)


def refused(nursery, reply: RawReply, code: str, says: str, *, stream: bool) -> None:
    with ModelServer(reply) as server, pytest.raises(ModelError) as raised:
        nursery.talk(server, "Hello", stream=stream, on_text=print)
    assert raised.value.code == code
    assert says in str(raised.value)
    assert server.base_url in str(raised.value)
    assert "sk-secret" not in str(raised.value)


def test_the_waiting_time_is_reported(nursery) -> None:
    reply = RawReply(429, error_body("slow down"), {"retry-after": "7"})
    with ModelServer(reply) as server, pytest.raises(ModelError, match="in 7 s") as raised:
        nursery.talk(server, "Hello")
    assert raised.value.retry_after_s == 7


def event(data: str) -> RawReply:
    return RawReply(200, data, {"content-type": "text/event-stream"})


@pytest.mark.parametrize(
    "reply",
    [
        event("data: [DONE]\n\n"),
        event("data: {not json}\n\n"),
        event('data: {"choices": [{"delta": 5}]}\n\n'),
        event('data: {"choices": [7]}\n\n'),
        event('data: {"choices": [{"delta": {"tool_calls": [3]}}]}\n\n'),
        event('data: {"error": {"message": "gone", "code": 502}}\n\n'),
        RawReply(200, "<html>Log in</html>", {"content-type": "text/html"}),
        RawReply(200, ""),
    ],
)
def test_an_invalid_stream_is_reported(nursery, reply: RawReply) -> None:
    with ModelServer(reply) as server, pytest.raises(ModelError):
        nursery.talk(server, "Hello", stream=True, on_text=print)


def test_a_missing_server_is_reported(nursery) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"

    async def say() -> None:
        async with Conversation(nursery.workspace, model="m", client=open_client(url, "k", 5)) as t:
            await t.say("Hello")

    with pytest.raises(ModelError) as raised:
        asyncio.run(say())
    assert raised.value.code == "unreachable"
    assert "--base-url" in str(raised.value)


def test_a_silent_endpoint_is_reported(nursery, client_of) -> None:
    async def say() -> None:
        client = client_of(server, timeout=0.2)
        async with Conversation(nursery.workspace, model="m", client=client) as talk:
            await talk.say("Hello")

    with ModelServer(RawReply(0)) as server, pytest.raises(ModelError) as raised:
        asyncio.run(say())
    assert raised.value.code == "timeout"


def test_an_unanswered_message_can_be_sent_again(nursery, client_of) -> None:
    async def say() -> list[dict]:
        async with Conversation(nursery.workspace, model="m", client=client_of(server)) as talk:
            with pytest.raises(ModelError):
                await talk.say("Hello")
            await talk.say("Hello")
            return talk.messages

    with ModelServer(RawReply(400, error_body("no")), "Hi") as server:
        messages = asyncio.run(say())
    assert [message["role"] for message in messages] == ["user", "assistant"]


def test_an_endpoint_that_fails_after_calls_leaves_a_history_that_goes_on(
    nursery, client_of
) -> None:
    async def say() -> None:
        async with Conversation(nursery.workspace, model="m", client=client_of(server)) as talk:
            with pytest.raises(ModelError):
                await talk.say("Water")
            await talk.say("And?")

    call = asking(("water", {"plant": "fern", "litres": 2}))
    with ModelServer(call, RawReply(400, error_body("no")), "Watered.") as server:
        asyncio.run(say())
    assert nursery.garden.done == [("water", "fern", 2)]
    roles = [message["role"] for message in server.heard[2]["messages"]]
    assert roles == ["user", "assistant", "tool", "user"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "message", "content", "tool_calls", "function", "name", "arguments", "id",
             "error", "code", "role", "type", "finish_reason", "index", "delta"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@FUZZ
@given(answer=st.dictionaries(st.sampled_from(["choices", "error", "id"]), json_values))
def test_any_endpoint_answer_is_an_exchange_or_a_model_error(nursery, answer) -> None:
    replies = [RawReply(200, json.dumps(answer))] * 4
    with ModelServer(*replies) as server, contextlib.suppress(ModelError):
        nursery.talk(server, "Hello")
    assert nursery.garden.done == []


@FUZZ
@given(message=st.fixed_dictionaries({"content": json_values, "tool_calls": json_values}))
def test_any_message_content_is_an_exchange_or_a_model_error(nursery, message) -> None:
    answer = {"choices": [{"message": message}]}
    replies = [RawReply(200, json.dumps(answer))] * 12
    with ModelServer(*replies) as server, contextlib.suppress(ModelError):
        nursery.talk(server, "Hello")
    assert nursery.garden.done == []


OPENROUTER = "https://openrouter.ai/api/v1"
BOTH = {"OPENROUTER_API_KEY": "or-key", "OPENAI_API_KEY": "oa-key"}


@pytest.mark.parametrize(
    ("url", "environ", "key"),
    [
        (OPENROUTER, BOTH, "or-key"),
        ("https://api.openai.com/v1", BOTH, "oa-key"),
        ("https://elsewhere.example/v1", BOTH, "oa-key"),
        ("https://openrouter.ai.elsewhere.example/v1", BOTH, "oa-key"),
        ("http://127.0.0.1:8000/v1", BOTH, "oa-key"),
        ("http://localhost:8000/v1", {"OPENROUTER_API_KEY": "or-key"}, "or-key"),
        ("http://[::1]:8000/v1", {}, "none"),
    ],
)
def test_a_key_goes_only_where_it_belongs(url: str, environ: dict[str, str], key: str) -> None:
    assert key_of(url, environ) == key


@pytest.mark.parametrize(
    ("url", "environ", "names"),
    [
        (OPENROUTER, {"OPENAI_API_KEY": "oa-key"}, "OPENROUTER_API_KEY"),
        ("https://elsewhere.example/v1", {"OPENROUTER_API_KEY": "or-key"}, "OPENAI_API_KEY"),
        (OPENROUTER, {"OPENROUTER_API_KEY": ""}, "OPENROUTER_API_KEY"),
    ],
)
def test_a_missing_key_is_named(url: str, environ: dict[str, str], names: str) -> None:
    with pytest.raises(ConfigError, match=names):
        key_of(url, environ)


def test_the_settings_name_model_and_address(tmp_path) -> None:
    plain = Settings(root=tmp_path)
    own = Settings(root=tmp_path, chat=ChatSettings("theirs", "http://127.0.0.1:1/v1"))
    assert base_url_of(None, plain) == OPENROUTER
    assert base_url_of(None, own) == "http://127.0.0.1:1/v1"
    assert base_url_of("http://127.0.0.1:2/v1", own) == "http://127.0.0.1:2/v1"
    assert (model_of(None, own), model_of("mine", own)) == ("theirs", "mine")
    with pytest.raises(ConfigError, match="--model"):
        model_of(None, plain)


@pytest.mark.parametrize("url", ["openrouter.ai", "ftp://x/", "http://", "http://[", "https:///v1"])
def test_an_invalid_address_is_reported(tmp_path, url: str) -> None:
    with pytest.raises(ConfigError, match="base URL"):
        base_url_of(url, Settings(root=tmp_path))


@pytest.mark.parametrize("dialect", ["auto", "openai-responses", "anthropic"])
def test_an_unsuitable_dialect_is_reported(nursery, dialect: str) -> None:
    with pytest.raises(ConfigError, match="inline"):
        Conversation(nursery.workspace, model="m", client=object(), dialect=dialect)


def test_without_the_package_the_error_names_the_remedy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", """
import sys
sys.modules["openai"] = None
from toolmd import ConfigError, Conversation
from toolmd.testing import memory_workspace
with memory_workspace({}) as workspace:
    try:
        Conversation(workspace, model="m", base_url="http://127.0.0.1:1/v1")
    except ConfigError as error:
        print(error)
"""],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "pip install 'toolmd[chat]'" in done.stdout
