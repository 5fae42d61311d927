"""A workspace with the review's tools in it, and the servers that they ask."""

import asyncio
import json
from datetime import UTC, datetime

import pytest
from ncbi_server import HEARTS, LUNGS, NcbiServer
from openai_server import OpenAiServer

from toolmd.testing import FakeClock, memory_workspace
from toolmd_litreview.library import Library
from toolmd_litreview.plugin import Litreview

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.fixture
def ncbi():
    server = NcbiServer()
    with server.open() as url:
        server.url = url
        yield server


@pytest.fixture
def openai():
    server = OpenAiServer()
    with server.open() as url:
        server.url = f"{url}/v1"
        yield server


@pytest.fixture
def environ(ncbi, openai):
    return {
        "LITREVIEW_NCBI_URL": f"{ncbi.url}/entrez/eutils",
        "NCBI_EMAIL": "ana@example.org",
        "NCBI_API_KEY": "secret-of-ncbi",
        "LITREVIEW_MODEL_URL": openai.url,
        "LITREVIEW_MODEL": "gemma-3",
        "LITREVIEW_MODEL_KEY": "secret-of-model",
    }


@pytest.fixture
def workspace(environ):
    plugin = Litreview(environ, FakeClock(NOON), apart_s=0.0)
    with memory_workspace({"none.txt": ""}, plugins={"litreview": plugin}) as opened:
        yield opened


@pytest.fixture
def call(workspace):
    """Call a tool; a search without a mode is a ripple."""

    def go(tool, arguments, **options):
        if tool == "search_pubmed":
            arguments = {"expand_mode": "ripple", **arguments}
        return asyncio.run(workspace.call(tool, arguments, **{"user": "ana", **options}))

    return go


@pytest.fixture
def library(tmp_path):
    opened = Library(tmp_path / "state", FakeClock(NOON))
    yield opened
    opened.close()


@pytest.fixture
def searched(call, ncbi):
    """Sixty clustered papers of two themes; returns the two cluster ids."""
    for pmid in HEARTS:
        ncbi.add(pmid, f"Statins and heart failure {pmid}", f"Statins help hearts {pmid}.")
    for pmid in LUNGS:
        ncbi.add(pmid, f"Steroids in asthma of children {pmid}", f"Steroids help lungs {pmid}.")
    result = call("search_pubmed", {"query": "statins OR steroids"})
    by_theme = {about.split(":")[0]: id_ for id_, about in result.data["clusters"].items()}
    return by_theme["failure heart statins"], by_theme["asthma children steroids"]


@pytest.fixture
def lines(workspace):
    def read(file):
        text = (workspace.settings.state / file).read_text("utf-8")
        assert text.endswith("\n")
        return [json.loads(line) for line in text.splitlines()]

    return read
