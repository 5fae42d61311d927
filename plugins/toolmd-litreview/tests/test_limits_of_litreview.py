"""The runtime's limits for the review's tools: retries, batches, memory, rates."""

import asyncio
import json

from ncbi_server import Fault
from openai_server import pico_of


def test_an_unreachable_server_is_reported_as_offline(workspace, ncbi):
    ncbi.faults += [Fault(502)] * 40
    args = '{"query": "x", "expand_mode": "ripple"}'
    reply = f'Action: {{"tool": "search_pubmed", "args": {args}}}'
    turn = asyncio.run(workspace.handle(reply, dialect="action", user="ana"))
    assert '"api_offline":true' in turn.messages[0]["content"].replace(" ", "")
    assert (turn.results[0].attempts, len(ncbi.asked)) == (4, 4)


def test_more_than_256_texts_are_split_without_a_word(call, openai):
    texts = [f"text {number}" for number in range(600)]
    result = call("embed_text", {"text": texts})
    assert (result.success, len(result.data["vectors"])) == (True, 600)
    assert [len(asked["input"]) for _, asked, *_ in openai.asked] == [256, 256, 88]


def test_a_batch_that_exhausts_memory_is_halved_once(call, openai):
    openai.faults.append(Fault(500, b"CUDA out of memory"))
    result = call("embed_text", {"text": [f"text {number}" for number in range(256)]})
    assert (result.success, len(result.data["vectors"])) == (True, 256)
    assert [len(asked["input"]) for _, asked, *_ in openai.asked] == [256, 128, 128]


def test_a_batch_that_exhausts_memory_twice_is_skipped_and_reported(call, openai):
    texts = [f"text {number}" for number in range(300)]
    openai.faults += [Fault(500, b"CUDA out of memory")] * 3
    result = call("embed_text", {"text": texts})
    assert result.success
    assert result.notes


def test_a_run_of_pico_continues_after_its_cut(call, ncbi, openai):
    for pmid in range(1, 81):
        ncbi.add(pmid)
    openai.say = lambda task, material: pico_of(material)
    openai.faults += [None, Fault(503)]
    result = call("run_pico", {"pmid_list": list(range(1, 81))})
    assert (result.success, result.data["extracted"], result.attempts) == (True, 80, 2)
    asked = [json.loads(a["messages"][1]["content"].splitlines()[0])["pmid"]
             for _, a, *_ in openai.asked]  # fmt: skip
    assert asked == [1, 41, 41]
