"""Plain calls and lists are answered in front of the SDK's server, with the same answers."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.test_serve_stdio import start

from toolmd import Workspace
from toolmd._auth import CALLER, RIGHTS
from toolmd._mcp.callers import Callers
from toolmd._mcp.http import McpEndpoint
from toolmd._mcp.server import McpServer
from toolmd._types.call import Caller

OLD, NEW = "2025-11-25", "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
ABOUT = {"name": "test", "version": "1"}
NAP = """# Nap

Sleep for some seconds.

## Metadata

- **Name**: nap
- **Version**: 1.0.0
- **Category**: test
- **Read Only**: true

## Parameters

### seconds

- **Type**: integer
- **Required**: true
- **Description**: How long

## Returns

- **Type**: string
- **Description**: How it was
"""
NAP_PYTHON = '''"""Sleep for some seconds."""

import asyncio
from pathlib import Path


async def nap(seconds: int) -> str:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        Path(__file__).with_name("woken.txt").touch()
        raise
    return "well"
'''


@pytest.fixture
def project(project: Path) -> Path:
    (project / "tools_md" / "nap.tool.md").write_text(NAP)
    (project / "tools_md" / "nap.py").write_text(NAP_PYTHON)
    return project


class Host:
    """A host over HTTP, in this process, and the methods that the SDK's server served."""

    def __init__(self, workspace: Workspace, version: str) -> None:
        self.server = McpServer(workspace, Callers())
        self.served: list[str] = []
        self.server.low.middleware.insert(0, self._serve)
        self.endpoint = McpEndpoint(self.server)
        self.version = version
        self.headers = {"accept": "application/json, text/event-stream"}

    async def _serve(self, ctx: Any, call_next: Any) -> Any:
        self.served.append(ctx.method)
        return await call_next(ctx)

    async def begin(self) -> None:
        """Begin a session of the old protocol."""
        self.headers["mcp-protocol-version"] = self.version
        if self.version == NEW:
            return
        params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": ABOUT}
        _, headers, _ = await self.send({"method": "initialize", "id": 0, "params": params})
        self.headers["mcp-session-id"] = headers["mcp-session-id"]
        await self.send({"method": "notifications/initialized"})

    async def send(
        self, message: dict[str, Any] | None, http: str = "POST", user: str = "ana", **headers: str
    ) -> tuple[int, dict[str, str], Any]:
        """Send a message; return the status, the headers and the message of the answer."""
        sent = {"content-type": "application/json", **self.headers, **headers}
        body = b"" if message is None else json.dumps({"jsonrpc": "2.0", **message}).encode()
        received = [{"type": "http.request", "body": body, "more_body": False}]
        answers: list[Any] = []

        async def receive() -> Any:
            return received.pop() if received else await asyncio.Event().wait()

        async def send(answer: Any) -> None:
            answers.append(answer)

        state = {CALLER: Caller(user), RIGHTS: frozenset(("call", "decide"))}
        pairs = [(name.encode(), value.encode()) for name, value in sent.items()]
        scope = {"type": "http", "method": http, "path": "/mcp", "query_string": b"",
                 "headers": pairs, "state": state}  # fmt: skip
        await self.endpoint(scope, receive, send)
        text = b"".join(one.get("body", b"") for one in answers[1:]).decode()
        text = re.sub(r'"duration_ms": ?[^,}]+', '"duration_ms": 0', text)
        data = next((line[6:] for line in text.split("\r\n") if line.startswith("data: ")), text)
        got = {name.decode(): value.decode() for name, value in answers[0]["headers"]}
        return answers[0]["status"], got, json.loads(data) if data else None

    async def ask(self, method: str, params: dict[str, Any], name: Any = 1, **sent: str) -> Any:
        """Send a request of the era, and return its answer."""
        headers = {}
        if self.version == NEW:
            meta = {f"{PREFIX}protocolVersion": NEW, f"{PREFIX}clientInfo": ABOUT,
                    f"{PREFIX}clientCapabilities": {"elicitation": {"form": {}}}}  # fmt: skip
            params = {**params, "_meta": {**meta, **params.get("_meta", {})}}
            headers = {"mcp-method": method, "mcp-name": params.get("name", "")}
        message = {"method": method, "id": name, "params": params}
        _, _, answer = await self.send(message, **{**headers, **sent})
        return answer


@pytest.fixture(params=[OLD, NEW])
def host(request: pytest.FixtureRequest, workspace: Workspace) -> Host:
    return Host(workspace, request.param)


@asynccontextmanager
async def open_(host: Host) -> AsyncIterator[Host]:
    async with host.endpoint.running():
        await host.begin()
        yield host
        host.server.changes.close()


GREET = {"name": "greet", "arguments": {"name": "Ana"}}


@pytest.mark.parametrize(
    ("method", "params"),
    [("tools/list", {}), ("tools/call", GREET), ("tools/call", {"name": "add", "arguments": {}}),
     ("tools/call", {"name": "paint"}), ("tools/call", {"name": "fail"})],
)  # fmt: skip
def test_an_equal_request_gets_the_same_answer_without_the_sdk(
    host: Host, method: str, params: dict[str, Any]
) -> None:
    async def run() -> None:
        async with open_(host):
            first, *others = [await host.ask(method, params) for _ in range(3)]

        assert host.served.count(method) == 1
        if params.get("name") != "fail":  # Its answer has the reference of a log's line.
            assert [first, first] == others

    asyncio.run(run())


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", {"cursor": "x"}),
        ("tools/list", {"_meta": {"progressToken": 7}}),
        ("tools/call", {**GREET, "_meta": {"progressToken": 7}}),
        ("tools/call", {**GREET, "requestState": "x"}),
        ("tools/call", {**GREET, "arguments": None}),
        ("tools/call", {**GREET, "name": "nothing"}),
        ("tools/call", {**GREET, "_meta": {f"{PREFIX}logLevel": "error"}}),
    ],
)
def test_the_sdk_serves_what_is_not_plain(host: Host, method: str, params: Any) -> None:
    async def run() -> None:
        async with open_(host):
            for _ in range(2):
                await host.ask("tools/list", {})
                await host.ask("tools/call", GREET)
            host.served.clear()
            await host.ask(method, params)

        assert host.served == [method]

    asyncio.run(run())


def test_a_session_is_answered_to_its_own_caller_and_until_it_ends(workspace: Workspace) -> None:
    host = Host(workspace, OLD)
    greet = {"method": "tools/call", "id": 1, "params": GREET}

    async def run() -> list[int]:
        async with open_(host):
            for _ in range(2):
                await host.ask("tools/call", GREET)
            assert host.served.count("tools/call") == 1
            foreign, _, _ = await host.send(greet, user="eve")
            await host.send(None, "DELETE")
            ended, _, _ = await host.send(greet)
            return [foreign, ended]

    assert asyncio.run(run()) == [404, 404]


def test_a_call_that_asks_goes_on_in_the_sdk_and_runs_once(
    workspace: Workspace, reminders: Any
) -> None:
    host = Host(workspace, NEW)
    params: dict[str, Any] = {"name": "remind", "arguments": {"title": "Tea", "hour": 9}}

    async def run() -> Any:
        async with open_(host):
            for _ in range(3):
                asked = (await host.ask("tools/call", params))["result"]
                assert asked["resultType"] == "input_required"
            accepted = {"confirm": {"action": "accept", "content": {}}}
            state = asked["requestState"]
            return await host.ask(
                "tools/call", {**params, "inputResponses": accepted, "requestState": state}
            )

    answer = asyncio.run(run())

    assert answer["result"]["structuredContent"]["title"] == "Tea"
    assert len(reminders()) == 1


def test_a_call_that_lasts_goes_on_in_the_sdk_and_can_be_cancelled(
    workspace: Workspace, project: Path
) -> None:
    host = Host(workspace, OLD)

    async def run() -> Any:
        async with open_(host):
            for _ in range(2):
                await host.ask("tools/call", {"name": "nap", "arguments": {"seconds": 0}})
            assert host.served.count("tools/call") == 1
            napping = asyncio.create_task(
                host.ask("tools/call", {"name": "nap", "arguments": {"seconds": 60}}, 9)
            )
            await asyncio.sleep(0)
            await host.send({"method": "notifications/cancelled", "params": {"requestId": 9}})
            return await napping

    answer = asyncio.run(run())

    assert answer["error"]["code"] == -32800
    assert (project / "tools_md" / "woken.txt").exists()


def test_over_stdio_too_a_call_that_lasts_can_be_cancelled(project: Path) -> None:
    server = start(project)
    assert server.stdin is not None
    assert server.stdout is not None
    start_ = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": ABOUT}

    def nap(name: int, seconds: int) -> dict[str, Any]:
        params = {"name": "nap", "arguments": {"seconds": seconds}}
        return {"id": name, "method": "tools/call", "params": params}

    def send(*messages: dict[str, Any]) -> None:
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        server.stdin.flush()

    def read() -> Any:
        return json.loads(server.stdout.readline())

    send({"id": 0, "method": "initialize", "params": start_})
    assert read()["id"] == 0
    send({"method": "notifications/initialized"})
    for name in (1, 2, 3):
        send(nap(name, 0))
        assert read()["result"]["structuredContent"] == {"result": "well"}
    send(nap(4, 60), {"method": "notifications/cancelled", "params": {"requestId": 4}}, nap(5, 0))
    assert read()["id"] == 5
    server.stdin.close()
    assert server.wait(30) == 0
    server.stdout.close()
    assert (project / "tools_md" / "woken.txt").exists()
