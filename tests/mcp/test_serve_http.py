"""`toolmd serve --transport http`: only clients with the token are served."""

import asyncio
import hashlib
import http.client
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests import warm_python

TOKENS = {"ana": "the-token-of-ana-which-is-long", "eve": "the-token-of-eve-which-is-long"}


class Serving(NamedTuple):
    """A running server."""

    process: subprocess.Popen[str]
    url: str
    token: str

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])


def start(project: Path, *words: str, **variables: str) -> Serving:
    process = warm_python.Popen(
        [sys.executable, "-m", "toolmd", "serve", "--project", str(project),
         "--transport", "http", "--port", "0", *words],
        stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TOOLMD_LOAD_PLUGINS": "", **variables},
    )  # fmt: skip
    assert process.stderr is not None
    told = process.stderr.readline()
    if "serve.tokens" not in (project / "toolmd.toml").read_text() and not variables:
        told += process.stderr.readline()
    url = re.search(r"http://\S+", told)
    token = re.search(r"Token: (\S+)", told)
    assert url, told
    return Serving(process, url[0], token[1] if token else "")


def end(serving: Serving) -> int:
    serving.process.send_signal(signal.SIGINT)
    _, rest = serving.process.communicate(timeout=30)
    assert "Traceback" not in rest
    return serving.process.returncode


@pytest.fixture
def serving(project: Path) -> Iterator[Serving]:
    words = ("--user", "ana", "--context", "patient=p1", "--may", "call,decide")
    started = start(project, *words)
    yield started
    end(started)


@pytest.fixture
def shared(project: Path) -> Iterator[Serving]:
    """A server of several users."""
    lines = [
        f'[[serve.tokens]]\nsha256 = "{hashlib.sha256(token.encode()).hexdigest()}"\n'
        f'user = "{user}"\ncontext = {{ patient = ["p-{user}"] }}\n'
        for user, token in TOKENS.items()
    ]
    with (project / "toolmd.toml").open("a") as file:
        file.write("\n".join(lines))
    started = start(project)
    yield started
    end(started)


@asynccontextmanager
async def connected(
    url: str, token: str, mode: str, headers: dict[str, str] | None = None, **options: Any
) -> AsyncIterator[Client]:
    sent = {"authorization": f"Bearer {token}", **(headers or {})}
    async with httpx2.AsyncClient(headers=sent, timeout=30) as over:
        transport = streamable_http_client(url, http_client=over)
        async with Client(transport, mode=mode, **options) as client:
            yield client


def whoami(client: AbstractAsyncContextManager[Client]) -> Any:
    async def run() -> Any:
        async with client as open_:
            return (await open_.call_tool("whoami", {})).structured_content

    return asyncio.run(run())


def raw(serving: Serving, headers: dict[str, str], method: str = "POST", body: Any = None) -> int:
    """Return the status of a request with exactly these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=30)
    connection.putrequest(method, "/mcp", skip_host=True, skip_accept_encoding=True)
    data = json.dumps(body or {"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    for name, value in {**headers, "content-length": str(len(data))}.items():
        connection.putheader(name, value)
    connection.endheaders(data)
    status = connection.getresponse().status
    connection.close()
    return status


def test_a_client_with_the_token_calls_and_its_user_confirms(
    serving: Serving, mode: str, person: Callable[..., Any], reminders: Any
) -> None:
    async def run() -> tuple[Any, Any, list[Any]]:
        heard: list[Any] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append(message)

        user = person({"title": "Tea"})
        client = connected(serving.url, serving.token, mode, elicitation_callback=user)
        async with client as open_:
            who = await open_.call_tool("whoami", {})
            await open_.call_tool("count", {"to": 3}, progress_callback=hear)
            return who, await open_.call_tool("remind", {"title": "Walk", "hour": 9}), heard

    who, made, heard = asyncio.run(run())

    assert who.structured_content == {"user": "ana", "patient": "p1"}
    assert made.structured_content["title"] == "Tea"
    assert heard == ["1", "2", "3"]
    assert len(reminders()) == 1


def test_the_request_that_the_start_prints_is_answered(serving: Serving) -> None:
    assert serving.process.stderr is not None
    words = shlex.split(serving.process.stderr.readline().partition("; try: ")[2])
    assert words[:2] == ["curl", "-H"]
    name, _, value = words[2].partition(": ")
    answer = httpx2.get(words[3], headers={name: value})
    assert answer.status_code == 200
    assert answer.json()


def test_a_key_that_stands_twice_is_denied_and_no_list_has_a_second_page(serving: Serving) -> None:
    accepts = {"accept": "application/json, text/event-stream", "content-type": "application/json",
               "authorization": f"Bearer {serving.token}"}  # fmt: skip
    params = '{"name":"add","arguments":{"a":1,"b":2,"a":3}}'
    text = f'{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{params}}}'

    answer = httpx2.post(serving.url, headers=accepts, content=text).json()
    assert answer["id"] == 5
    assert answer["result"]["structuredContent"]["error"]["code"] == "malformed_call"

    async def ask() -> None:
        async with connected(serving.url, serving.token, "auto") as client:
            with pytest.raises(MCPError, match="no such page"):
                await client.list_tools(cursor="x")

    asyncio.run(ask())


def test_a_token_that_may_only_call_confirms_nothing_over_mcp(
    project: Path, mode: str, person: Callable[..., Any], reminders: Any
) -> None:
    started = start(project, "--user", "ana")

    async def run() -> Any:
        user = person({"title": "Tea"})
        client = connected(started.url, started.token, mode, elicitation_callback=user)
        async with client as open_:
            return await open_.call_tool("remind", {"title": "Walk", "hour": 9}), user

    held, _ = asyncio.run(run())
    end(started)

    assert held.is_error
    assert held.structured_content["error"]["code"] == "confirmation_required"
    assert "toolmd confirm" in held.content[-1].text
    assert reminders() == []


def test_no_request_with_a_foreign_host_or_origin_or_without_the_token_is_answered(
    serving: Serving,
) -> None:
    good = {
        "host": f"127.0.0.1:{serving.port}",
        "authorization": f"Bearer {serving.token}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
    }
    foreign = [
        *({"host": host} for host in ("evil.example", "127.0.0.1", "localhost:1", "")),
        *({"origin": o} for o in ("null", "http://evil.example", "https://127.0.0.1", "")),
        {"authorization": ""}, {"authorization": "Bearer x"}, {"content-type": "text/plain"},
    ]  # fmt: skip

    answered = [raw(serving, {**good, **change}) for change in foreign]

    assert sorted(set(answered)) == [401, 403, 415, 421]
    assert raw(serving, {k: v for k, v in good.items() if k != "host"}) in {400, 421}
    assert raw(serving, {**good, "host": f"localhost:{serving.port}"}) not in answered
    for method in ("GET", "DELETE", "OPTIONS"):
        assert raw(serving, {"host": good["host"], "origin": "http://evil.example"}, method) == 403


def test_a_token_sets_its_user_and_limits_the_context(shared: Serving, mode: str) -> None:
    def ask(user: str, **headers: str) -> Any:
        return whoami(connected(shared.url, TOKENS[user], mode, headers))

    assert ask("ana") == {"user": "ana", "patient": "p-ana"}
    assert ask("eve", **{"toolmd-context-patient": "p-eve"}) == {"user": "eve", "patient": "p-eve"}
    good = {
        "host": f"127.0.0.1:{shared.port}",
        "content-type": "application/json",
        "authorization": f"Bearer {TOKENS['eve']}",
        "toolmd-context-patient": "p-ana",
    }
    assert raw(shared, good) == 403


def test_the_users_of_the_tokens_are_printed_at_the_start(shared: Serving) -> None:
    assert shared.process.stderr is not None
    told = shared.process.stderr.readline()
    assert told == f"Tokens of the settings: {', '.join(sorted(TOKENS))}\n"
    assert not [token for token in TOKENS.values() if token in told]
    assert httpx2.get(f"http://127.0.0.1:{shared.port}/health", timeout=30).status_code == 200


def test_a_session_belongs_to_its_caller(shared: Serving) -> None:
    accept = "application/json, text/event-stream"
    first = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                   "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip

    def post(user: str, body: Any, **headers: str) -> httpx2.Response:
        sent = {"authorization": f"Bearer {TOKENS[user]}", "accept": accept, **headers}
        return httpx2.post(shared.url, json=body, headers=sent)

    session = post("ana", first).headers["mcp-session-id"]
    list_ = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}

    assert post("ana", list_, **{"mcp-session-id": session}).status_code == 200
    assert post("eve", list_, **{"mcp-session-id": session}).status_code == 404


def test_a_token_of_the_environment_stays_over_restarts_and_is_not_printed(project: Path) -> None:
    token = "a-token-that-nobody-can-guess"
    serving = start(project, "--user", "bo", TOOLMD_TOKEN=token)
    try:
        assert whoami(connected(serving.url, token, "auto"))["user"] == "bo"
        assert serving.token == ""
    finally:
        end(serving)


def test_an_interrupt_ends_it_though_a_client_listens(project: Path) -> None:
    serving = start(project)

    async def run() -> None:
        client = connected(serving.url, serving.token, "auto")
        async with client as open_, open_.listen(tools_list_changed=True) as stream:
            serving.process.send_signal(signal.SIGINT)
            async for _ in stream:
                pass

    asyncio.run(run())

    _, rest = serving.process.communicate(timeout=30)
    assert "Traceback" not in rest


@pytest.mark.parametrize("may", ["call,decide,operate", "call"])
def test_an_operators_start_prints_the_link_to_the_console(project: Path, may: str) -> None:
    serving = start(project, "--may", may)
    assert serving.process.stderr is not None
    told = serving.process.stderr.readline()
    origin = serving.url.removesuffix("/mcp")
    try:
        with httpx2.Client(base_url=origin) as browser:
            assert browser.get("/").status_code == 401
            if may == "call":
                assert told.startswith("API at ")
                return
            assert told == f"Console at {origin}/enter#token={serving.token}\n"
            browser.post("/api/session", json={"token": serving.token}, headers={"origin": origin})
            page = browser.get("/")
        assert page.headers["content-type"].startswith("text/html"), page.text
    finally:
        end(serving)
