"""Answers by a JSON Schema: what is sent, how a wrong answer is corrected, and when it ends."""

import json

import pytest
from nursery import Nursery
from test_chat_command import garden, typed

from toolmd import ConfigError
from toolmd.testing import ModelServer, RawReply, asking

__all__ = ["garden"]
SCHEMA = {
    "type": "object",
    "properties": {"plant": {"type": "string"}, "litres": {"type": "integer", "minimum": 1}},
    "required": ["plant", "litres"],
    "additionalProperties": False,
}
GOOD = {"plant": "fern", "litres": 2}
ASK = "How much does the fern get?"


def test_an_answer_is_corrected_until_it_follows_the_schema(nursery: Nursery) -> None:
    looks = asking(("look_up", {"plant": "fern"}))
    wrong = json.dumps({"plant": "fern", "litres": 0, "more": 1})
    fenced = f"```json\n{json.dumps(GOOD)}\n```"
    with ModelServer(looks, "Two litres.", wrong, fenced) as server:
        (exchange,) = nursery.talk(server, ASK, schema=SCHEMA)

    assert (exchange.value, exchange.stopped, exchange.rounds) == (GOOD, "", 4)
    assert exchange.to_dict()["value"] == GOOD
    sent = server.heard[0]
    assert sent["response_format"]["json_schema"]["schema"] == SCHEMA
    assert sent["messages"][0]["content"].endswith(json.dumps(SCHEMA))
    assert "not JSON" in server.heard[2]["messages"][-1]["content"]
    problems = server.heard[3]["messages"][-1]["content"]
    assert "$.litres: 0 is less than the minimum of 1" in problems
    assert "'more' was unexpected" in problems


def test_an_answer_that_stays_wrong_ends_after_two_corrections(nursery: Nursery) -> None:
    with ModelServer("no", "{}", "[1", "never asked") as server:
        (exchange,) = nursery.talk(server, ASK, schema=SCHEMA)
    assert (exchange.value, exchange.stopped, len(server.heard)) == (None, "schema", 3)


def test_an_endpoint_that_rejects_response_format_is_asked_without_it(nursery: Nursery) -> None:
    body = json.dumps({"error": {"message": "response_format is not supported"}})
    with ModelServer(RawReply(400, body), json.dumps(GOOD), json.dumps(GOOD)) as server:
        first, second = nursery.talk(server, ASK, "And now?", schema=SCHEMA)
    assert (first.value, second.value) == (GOOD, GOOD)
    assert ["response_format" in sent for sent in server.heard] == [True, False, False]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"schema": {"type": "strng"}}, "'strng' is not valid"),
        ({"schema": SCHEMA, "dialect": "inline"}, "need the dialect openai"),
    ],
)
def test_a_schema_that_cannot_be_used_is_an_error(nursery: Nursery, options, words) -> None:
    with ModelServer() as server, pytest.raises(ConfigError, match=words):
        nursery.talk(server, ASK, **options)


def test_a_reference_to_another_host_is_not_followed(nursery: Nursery) -> None:
    with ModelServer(*["{}"] * 3) as server:
        schema = {"$ref": f"{server.base_url}/schema.json"}
        (exchange,) = nursery.talk(server, ASK, schema=schema)
    assert (exchange.stopped, len(server.heard)) == ("schema", 3)


def test_the_command_writes_the_value_alone(garden) -> None:
    (garden / "answer.json").write_text(json.dumps(SCHEMA))
    with ModelServer(json.dumps(GOOD)) as server:
        done = typed(garden, server, "--schema", "answer.json", ASK)
    assert (done.code, json.loads(done.out)) == (0, GOOD)
    (garden / "answer.json").write_text("[]")
    done = typed(garden, None, "--schema", "answer.json", ASK)
    assert (done.code, done.out) == (2, "")
    assert "answer.json has no JSON object" in done.err
