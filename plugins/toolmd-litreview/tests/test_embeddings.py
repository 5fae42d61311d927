"""embed_text: vectors of a server, their order, their size, their memory."""

import asyncio

import httpx
import pytest
from ncbi_server import PAGE, Fault
from openai_server import vector_of

from toolmd import ToolError
from toolmd.testing import FakeClock, memory_workspace
from toolmd_litreview.configuration import Endpoint
from toolmd_litreview.embedding import CYCLE_S, Embedder
from toolmd_litreview.plugin import Litreview


def vectors_of(embedder, texts):
    async def go():
        async with httpx.AsyncClient() as http:
            return await embedder.vectors(http, texts)

    return asyncio.run(go())


def embedder_of(openai, *, shorten=False, clock=None):
    endpoint = Endpoint(openai.url, "qwen", shorten=shorten)
    return Embedder(endpoint, clock) if clock else Embedder(endpoint)


def test_a_text_has_one_vector_of_1024_numbers(call):
    result = call("embed_text", {"text": "statins in the old"})
    assert (result.outcome, result.notes) == ("ok", ())
    (vector,) = result.data["vectors"]
    assert vector == pytest.approx(vector_of("statins in the old"))


def test_the_request_has_the_model_and_the_key(call, openai):
    call("embed_text", {"text": ["a", "b"]})
    ((path, asked, _, headers),) = openai.asked
    assert path == "/v1/embeddings"
    assert asked == {
        "model": "Qwen/Qwen3-Embedding-0.6B",
        "input": ["a", "b"],
        "encoding_format": "float",
    }
    assert headers["authorization"] == "Bearer secret-of-model"


def test_a_key_goes_to_no_other_server(openai):
    environ = {
        "LITREVIEW_MODEL_URL": "http://127.0.0.1:9/v1",
        "LITREVIEW_MODEL": "m",
        "LITREVIEW_MODEL_KEY": "secret",
        "OPENAI_API_KEY": "secret",
        "LITREVIEW_EMBEDDINGS_URL": openai.url,
    }
    plugin = Litreview(environ, FakeClock())
    with memory_workspace({"none.txt": ""}, plugins={"litreview": plugin}) as workspace:
        assert workspace.call_sync("embed_text", {"text": "a"}).success
    assert "secret" not in str(openai.asked)


def test_an_embedding_is_cached_for_the_cycle(openai):
    now = [0.0]
    embedder = embedder_of(openai, clock=lambda: now[0])
    vectors_of(embedder, ["a"])
    now[0] += CYCLE_S - 1
    vectors_of(embedder, ["a", "b"])
    assert [asked["input"] for _, asked, *_ in openai.asked] == [["a"], ["b"]]
    now[0] += CYCLE_S
    vectors_of(embedder, ["a"])
    assert openai.asked[-1][1]["input"] == ["a"]


def test_qwen3_gets_a_query_with_its_instruction(call, openai, ncbi):
    ncbi.add(1, "One.")
    call("search_pubmed", {"query": "do statins help?", "expand_mode": "semantic"})
    first, *others = openai.asked[0][1]["input"]
    assert first.startswith("Instruct: ")
    assert first.endswith("\nQuery:do statins help?")
    assert not any("Instruct" in text for text in others)
    assert embedder_of(openai).as_query("q") == "q"


def test_a_server_that_can_shorten_is_asked_to(openai):
    vectors_of(embedder_of(openai, shorten=True), ["a"])
    assert openai.asked[0][1]["dimensions"] == 1024


def test_vectors_of_another_size_are_an_error_with_a_remedy(openai):
    openai.size = 768
    with pytest.raises(ToolError, match="768 numbers, not of 1024") as caught:
        vectors_of(embedder_of(openai), ["a"])
    assert caught.value.code == "embeddings_misfit"


@pytest.mark.parametrize(
    "body",
    [
        PAGE,
        b"",
        b"[]",
        b'{"data": null}',
        b'{"data": [{"index": 1, "embedding": []}]}',
        b'{"data": [{"index": [], "embedding": []}]}',
        b"[" * 100_000,
    ],
)
def test_an_invalid_answer_of_the_server_may_be_retried(openai, body):
    openai.faults.append(Fault(200, body))
    with pytest.raises(ConnectionError):
        vectors_of(embedder_of(openai), ["a"])


def test_memory_exhaustion_at_the_server_is_reported_as_such(openai):
    openai.faults.append(Fault(500, b'{"error": {"message": "CUDA out of memory. Tried to ..."}}'))
    with pytest.raises(MemoryError):
        vectors_of(embedder_of(openai), ["a"])


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "embeddings_refused"), (404, "embeddings_refused"), (500, "embeddings_failed")],
)  # fmt: skip
def test_a_rejected_request_has_its_own_error(call, openai, status, code):
    openai.faults.append(Fault(status, b"secret-of-model"))
    result = call("embed_text", {"text": "a"})
    assert result.error.code == code
    assert "secret" not in result.error.message


def test_without_a_server_the_error_names_the_settings():
    with memory_workspace({"none.txt": ""}, plugins={"l": Litreview({}, FakeClock())}) as workspace:
        result = workspace.call_sync("embed_text", {"text": "a"})
    assert result.error.code == "not_configured"
