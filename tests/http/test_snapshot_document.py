"""The document of a snapshot is built once, for any number of requests."""

import asyncio
from pathlib import Path
from typing import Any

from raw import connected, head

from toolmd import Workspace
from toolmd._http.api import SnapshotDocument


def test_of_many_requests_the_first_builds_and_a_reload_builds_again(project: Path) -> None:
    with Workspace.open(project) as workspace:
        built: list[Any] = []

        def build() -> list[str]:
            built.append(workspace.registry)
            return sorted(workspace.tools)

        async def ask(number: int) -> set[bytes]:
            answers = await asyncio.gather(*(document.answer() for _ in range(number)))
            return {*answers}

        async def both() -> tuple[set[bytes], set[bytes]]:
            before = await ask(50)
            assert len(built) == 1
            (project / "tools_md" / "burn.tool.md").unlink()
            await asyncio.to_thread(workspace.reload)
            return before, await ask(50)

        document = SnapshotDocument(workspace, build)
        (before,), (after,) = asyncio.run(both())
        assert len(built) == 2

    assert b'"burn"' in before
    assert b'"burn"' not in after


def test_a_reload_while_it_is_built_is_not_missed(project: Path) -> None:
    with Workspace.open(project) as workspace:

        def build() -> list[str]:
            found = sorted(workspace.tools)
            if "burn" in found:
                (project / "tools_md" / "burn.tool.md").unlink()
                workspace.reload()
            return found

        answer = asyncio.run(SnapshotDocument(workspace, build).answer())
        assert b'"burn"' not in answer


def test_many_document_requests_delay_no_other_client(kiosk: Any) -> None:
    flood = [connected(kiosk.port) for _ in range(20)]
    try:
        for sock in flood:
            sock.sendall(head(kiosk.port, "/openapi.json", method="GET") * 50)
        with kiosk.client() as client:
            assert client.get("/health", timeout=5).status_code == 200
    finally:
        for sock in flood:
            sock.close()
