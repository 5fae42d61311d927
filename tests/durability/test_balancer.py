"""Two servers of one Postgres behind a balancer of Debian, without sticky sessions."""

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult
from tests import warm_python

TOKEN = "the-token-of-both-servers"
TOOL = """# Pay

Pays.

## Metadata

- **Name**: pay
- **Version**: 1.0.0
- **Category**: general

## Parameters

None

## Safety

- **Requires Confirmation**: true

## Returns

- **Type**: object
"""
CODE = """
from pathlib import Path

def pay():
    with (Path(__file__).parents[2] / "paid").open("a") as paid:
        paid.write("x")
    return {}
"""
BALANCER = """
defaults
    mode http
    timeout connect 3s
    timeout client 1m
    timeout server 1m
    option redispatch
    retries 2

frontend entrance
    bind 127.0.0.1:{port}
    default_backend servers

backend servers
    balance roundrobin
    option httpchk GET /ready
    default-server inter 200ms fall 1 rise 1
    server a 127.0.0.1:{a} check
    server b 127.0.0.1:{b} check
"""
WAIT_S = 60.0

pytestmark = pytest.mark.skipif(
    shutil.which("haproxy") is None, reason="haproxy is not installed (Debian: haproxy)"
)


class Served:
    """A running `toolmd serve` of a machine of its own: a folder with its own state."""

    def __init__(self, folder: Path, store: str, balancer: int) -> None:
        tools = folder / "tools_md"
        tools.mkdir(parents=True)
        (folder / "toolmd.toml").touch()
        (tools / "pay.tool.md").write_text(TOOL)
        (tools / "pay.py").write_text(CODE)
        words = [
            *("--project", str(folder), "--transport", "http", "--port", "0"),
            *("--may", "call,decide,operate", "--allow-host", f"127.0.0.1:{balancer}"),
        ]
        given = {"TOOLMD_LOAD_PLUGINS": "", "TOOLMD_TOKEN": TOKEN, "TOOLMD_STORE": store}
        self.process = warm_python.Popen(
            [sys.executable, "-m", "toolmd", "serve", *words],
            env={**os.environ, **given}, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        told = ""
        for line in self.process.stderr or ():
            told += line
            if found := re.search(r"MCP at http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                return
        raise AssertionError(told)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def balanced(port: int, a: int, b: int, folder: Path) -> Iterator[httpx.Client]:
    settings = folder / "haproxy.cfg"
    settings.write_text(BALANCER.format(port=port, a=a, b=b))
    process = warm_python.Popen(["haproxy", "-q", "-f", str(settings)])
    try:
        # Each request has a connection of its own, so that it may go to either server.
        headers = {"authorization": f"Bearer {TOKEN}", "connection": "close"}
        base = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=base, headers=headers, timeout=WAIT_S) as client:
            until(lambda: ready(client))
            yield client
    finally:
        process.kill()
        process.wait()


def ready(client: httpx.Client) -> bool:
    """Return whether eight requests in a row are answered."""
    try:
        return all(client.get("/ready").status_code == 200 for _ in range(8))
    except httpx.TransportError:
        return False


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def fleet(tmp_path: Path, postgres: str) -> Iterator[tuple[httpx.Client, list[Served]]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with ExitStack() as opened:
        servers = []
        for name in ("a", "b"):
            servers.append(Served(tmp_path / name / "project", postgres, port))
            opened.callback(servers[-1].close)
        ports = [server.port for server in servers]
        yield opened.enter_context(balanced(port, *ports, tmp_path)), servers


def paid(folder: Path) -> int:
    return sum(len(file.read_text()) for file in folder.glob("*/paid"))


def hold(client: httpx.Client, conversation: str) -> str:
    named = {"toolmd-conversation": conversation}
    held = client.post("/api/tools/pay/call", json={"arguments": {}}, headers=named).json()
    return str(held["confirmation"]["id"])


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_any_server_goes_on_with_a_client_of_mcp(
    fleet: tuple[httpx.Client, list[Served]], tmp_path: Path, mode: str
) -> None:
    url = str(fleet[0].base_url)

    async def agree(*_: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={})

    async def run() -> list[Any]:
        sent = {"authorization": f"Bearer {TOKEN}", "connection": "close"}
        async with httpx2.AsyncClient(headers=sent, timeout=WAIT_S) as over:
            transport = streamable_http_client(f"{url}/mcp", http_client=over)
            async with Client(transport, mode=mode, elicitation_callback=agree) as mcp:
                assert [tool.name for tool in (await mcp.list_tools()).tools] == ["pay"]
                return [await mcp.call_tool("pay", {}) for _ in range(7)]

    results = asyncio.run(asyncio.wait_for(run(), WAIT_S))

    if mode == "legacy":  # It has no session, in which it could be asked.
        codes = {one.structured_content["error"]["code"] for one in results}
        assert codes == {"confirmation_required"}
    else:
        assert not any(one.is_error for one in results)
        assert paid(tmp_path) == 7


def test_a_login_counts_on_each_server(fleet: tuple[httpx.Client, list[Served]]) -> None:
    client, _ = fleet
    del client.headers["authorization"]
    assert client.post("/api/session", json={"token": TOKEN}).status_code == 204

    assert {client.get("/api/tools").status_code for _ in range(9)} == {200}

    client.cookies.clear()
    assert client.get("/api/tools").status_code == 401


def test_any_server_decides_a_call_of_the_other_and_a_dead_one_is_left_out(
    fleet: tuple[httpx.Client, list[Served]], tmp_path: Path
) -> None:
    client, (first, _) = fleet
    pending = [hold(client, f"c-{number}") for number in range(5)]
    # An odd number of requests in between: each decision goes to the other server.
    assert {one["id"] for one in client.get("/api/pending").json()} == {*pending}
    approve = {"decision": "approve"}
    for one in pending[:3]:
        assert client.post(f"/api/pending/{one}", json=approve).json()["outcome"] == "ok"
        used = client.post(f"/api/pending/{one}", json=approve).json()
        assert used["error"]["code"] == "confirmation_used"
    assert paid(tmp_path) == 3

    first.process.send_signal(signal.SIGKILL)
    until(lambda: ready(client))
    for one in pending[3:]:
        assert client.post(f"/api/pending/{one}", json=approve).json()["outcome"] == "ok"
    assert paid(tmp_path) == 5
