"""A call comes in over HTTP and over MCP, as programs and hosts make it."""

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

HELLO = {"greeting": "Hello, Ana!"}


class Serving(NamedTuple):
    """A server under way."""

    mcp: str
    headers: dict[str, str]


@pytest.fixture
def serving(project) -> Iterator[Serving]:
    token = "a-token-that-nobody-could-guess"
    process = subprocess.Popen(
        [sys.executable, "-m", "toolmd", "serve", "--transport", "http", "--port", "0"],
        cwd=project.folder,
        env=project.environment(TOOLMD_TOKEN=token),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    told = process.stderr.readline()
    url = re.search(r"http://\S+/mcp", told)
    assert url, told + process.stderr.read()
    yield Serving(url[0], {"Authorization": f"Bearer {token}"})
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert "Traceback" not in rest


def test_a_program_calls_over_http(serving: Serving) -> None:
    url = serving.mcp.removesuffix("/mcp") + "/api/tools/say_hello/call"
    with httpx.Client(headers=serving.headers, timeout=60) as client:
        answers = [client.post(url, json={"arguments": {"name": "Ana"}}) for _ in range(2)]
        stranger = httpx.post(url, json={"arguments": {"name": "Ana"}}, timeout=60)

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json()["data"] == HELLO
    assert stranger.status_code == 401


def test_a_host_calls_over_mcp_and_http(serving: Serving) -> None:
    async def call():
        async with (
            httpx2.AsyncClient(headers=serving.headers, timeout=60) as http,
            Client(streamable_http_client(serving.mcp, http_client=http)) as client,
        ):
            return await client.call_tool("say_hello", {"name": "Ana"})

    assert asyncio.run(call()).structured_content == HELLO


def test_a_host_calls_over_mcp_and_pipes(project) -> None:
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "toolmd", "serve", "--project", str(project.folder)],
        env={"TOOLMD_LOAD_PLUGINS": ""},
    )

    async def call():
        async with Client(started) as client:
            return await client.call_tool("say_hello", {"name": "Ana"})

    assert asyncio.run(call()).structured_content == HELLO
