"""One question about a text, which a model answers in words."""

from pathlib import Path

import pytest

from toolmd._chat.endpoint import ask_of
from toolmd.config import load_settings
from toolmd.errors import ModelError
from toolmd.testing import ModelServer, RawReply


def test_an_endpoint_that_does_not_answer_is_an_error_of_the_model(tmp_path: Path) -> None:
    with ModelServer(*[RawReply(404, "{}")] * 3) as server:
        settings = load_settings(tmp_path, overrides={"chat.base_url": server.base_url})
        with pytest.raises(ModelError) as raised:
            ask_of("m", settings)("List the plants.", "A fern.")

    assert raised.value.code == "not_found"


def test_the_instructions_and_the_text_are_sent_and_the_words_returned(tmp_path: Path) -> None:
    with ModelServer("A fern.") as server:
        settings = load_settings(tmp_path, overrides={"chat.base_url": server.base_url})
        words = ask_of("m", settings)("List the plants.", "A fern and a stone.")

    (request,) = server.heard
    assert words == "A fern."
    assert [message["content"] for message in request["messages"]] == [
        "List the plants.", "A fern and a stone.",
    ]  # fmt: skip
    assert "tools" not in request
