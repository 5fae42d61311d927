"""One question about a text, whose answer is JSON."""

import json
from pathlib import Path

import pytest

from toolmd._chat.one_answer import ask_of
from toolmd.config import load_settings
from toolmd.errors import ModelError
from toolmd.testing import ModelServer, RawReply

SCHEMA = {"type": "object", "required": ["plants"]}
REFUSED = {"role": "assistant", "content": None, "refusal": "I can't help with that."}


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (RawReply(0), "timeout"),
        (REFUSED, "unreadable"),
        ("I know none.", "unreadable"),
        ("[" * 10_000, "unreadable"),
        (RawReply(404, "{}"), "not_found"),
    ],
)
def test_no_usable_answer_is_an_error_of_the_model(
    tmp_path: Path, reply: object, code: str
) -> None:
    with ModelServer(*[reply] * 3) as server:
        settings = load_settings(tmp_path, overrides={"chat.base_url": server.base_url})
        ask = ask_of("m", settings, timeout_s=0.1)
        with pytest.raises(ModelError) as raised:
            ask("List the plants.", "A fern.", SCHEMA)

    assert raised.value.code == code


def test_an_answer_is_asked_for_by_its_schema_and_read(tmp_path: Path) -> None:
    with ModelServer(json.dumps({"plants": ["fern"]})) as server:
        settings = load_settings(tmp_path, overrides={"chat.base_url": server.base_url})
        value = ask_of("m", settings)("List the plants.", "A fern.", SCHEMA)

    (request,) = server.heard
    assert value == {"plants": ["fern"]}
    assert json.dumps(SCHEMA) in request["messages"][0]["content"]
    assert request["messages"][-1]["content"] == "A fern."
    assert "tools" not in request
