"""The server limits its sessions and streams; the open ones keep working."""

import asyncio
import http.client
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from mcp import MCPError
from test_serve_http import Serving, connected, end, start, whoami

from toolmd._mcp.changes import MAX_STREAMS
from toolmd._mcp.http import MAX_SESSIONS

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "many", "version": "1"},
    },
}


@pytest.fixture
def serving(project: Path) -> Iterator[Serving]:
    started = start(project, "--user", "ana")
    yield started
    end(started)


def test_one_session_too_many_is_denied(serving: Serving) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", serving.port, timeout=60)
    headers = {
        "authorization": f"Bearer {serving.token}",
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
    }

    def status(method: str, **more: str) -> tuple[int, str | None]:
        body = json.dumps(HELLO) if method == "POST" else None
        connection.request(method, "/mcp", body, {**headers, **more})
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers["mcp-session-id"]

    begun = [status("POST") for _ in range(MAX_SESSIONS)]
    assert {code for code, _ in begun} == {200}
    assert status("POST")[0] == 503
    assert whoami(connected(serving.url, serving.token, "auto"))["user"] == "ana"
    session = begun[0][1]
    assert session is not None
    assert status("DELETE", **{"mcp-session-id": session})[0] == 200
    assert status("POST")[0] == 200
    connection.close()


def test_one_stream_of_changes_too_many_is_denied(serving: Serving) -> None:
    async def run() -> None:
        async with (
            connected(serving.url, serving.token, "auto") as client,
            AsyncExitStack() as all_,
        ):
            for _ in range(MAX_STREAMS):
                await all_.enter_async_context(client.listen(tools_list_changed=True))
            with pytest.raises(MCPError, match="limit"):
                await all_.enter_async_context(client.listen(tools_list_changed=True))
            assert (await client.call_tool("whoami", {})).structured_content["user"] == "ana"

    asyncio.run(run())
