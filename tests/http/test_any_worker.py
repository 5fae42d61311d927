"""Any process of `serve --workers` answers the next request: of MCP, of a browser, a decision."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult
from served_kiosk import TOKEN
from served_workers import ServedByMany, act, done_in, project_of

ASKS = "\n## Safety\n\n- **Requires Confirmation**: true"

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="the processes are found as Linux lists them"
)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedByMany]:
    with ServedByMany(project_of(tmp_path_factory.mktemp("plain")), 3) as served:
        served.answering()
        yield served


def talk(served: ServedByMany, mode: str, calls: int) -> list[Any]:
    """Call the tool over MCP, each request on a connection of its own; the user agrees."""

    async def agree(*_: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={})

    async def run() -> list[Any]:
        sent = {"authorization": f"Bearer {TOKEN}", "connection": "close"}
        async with httpx2.AsyncClient(headers=sent, timeout=30) as over:
            transport = streamable_http_client(
                f"http://127.0.0.1:{served.port}/mcp", http_client=over
            )
            async with Client(transport, mode=mode, elicitation_callback=agree) as client:
                return [await client.call_tool("act", {}) for _ in range(calls)]

    return asyncio.run(asyncio.wait_for(run(), 60))


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_a_client_of_mcp_is_served_by_all(plain: ServedByMany, mode: str) -> None:
    results = talk(plain, mode, 100)

    assert not any(one.is_error for one in results)
    assert {one.structured_content["pid"] for one in results} == plain.children()


def test_any_process_takes_the_answer_the_decision_and_the_cookie(tmp_path: Path) -> None:
    project = project_of(tmp_path, ASKS)
    with ServedByMany(project, 3) as served:
        # A question of the newer era is answered to any process; the older era can't be asked.
        answers = talk(served, "2026-07-28", 12)
        assert [one.structured_content for one in answers if one.is_error] == []
        (held,) = talk(served, "legacy", 1)
        assert held.structured_content["error"]["code"] == "confirmation_required"
        assert len(done_in(project)) == 12

        with served.fresh() as client:
            pending = [act(client, conversation=str(at))["confirmation"]["id"] for at in range(6)]
            for one in pending:
                path = f"/api/pending/{one}"
                body = {"decision": "approve"}
                assert client.post(path, json=body).json()["outcome"] == "ok"
                used = client.post(path, json=body).json()
                assert used["error"]["code"] == "confirmation_used"

        with served.fresh() as browser:
            del browser.headers["authorization"]
            assert browser.post("/api/session", json={"token": TOKEN}).status_code == 204
            # The cookie is in the client from now on; each request has its own connection.
            assert {browser.get("/api/tools").status_code for _ in range(12)} == {200}
            cookie = next(iter(browser.cookies.jar))
            forged = {"cookie": f"{cookie.name}={cookie.value[:-1]}x"}
            browser.cookies.clear()
            assert browser.get("/api/tools", headers=forged).status_code == 401
    assert len(done_in(project)) == 18
