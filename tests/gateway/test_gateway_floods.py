"""What a misbehaving server writes costs bounded time and memory, and loses no session."""

import asyncio
import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from guarded import SERVER, Guarded, called, listed
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from toolmd import Workspace
from toolmd._gateway.connection import ToolList
from toolmd._gateway.stdio import ServerProcess

MIB_OF_ERRORS = int(os.environ.get("GATEWAY_STDERR_MIB", "32"))
TOOLS = int(os.environ.get("GATEWAY_TOOLS", "100"))
CALLS = int(os.environ.get("GATEWAY_CALLS", "200"))


def test_json_that_nests_ten_thousand_deep_ends_that_call_alone(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "whoami")
    project.add("deep", more="## Limits\n\n- **Timeout**: 2s")
    project.serve(listed("whoami"), listed("deep"))
    with project.open() as workspace:
        before = called(workspace, "whoami").data
        deep = called(workspace, "deep")
        after = called(workspace, "whoami").data

    assert deep.outcome in {"unknown", "failed"}
    assert before == after


def test_a_flood_on_stderr_is_drained_and_only_its_end_is_kept(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "noise", "whoami")
    with project.open() as workspace:
        called(workspace, "whoami")
        began = time.process_time()
        result = called(workspace, "noise", text=str(MIB_OF_ERRORS))
        used = time.process_time() - began

    assert (result.outcome, result.data) == ("ok", "done")
    assert used < 2 + MIB_OF_ERRORS / 100


class Pipe:
    """The stdin of a server that reads, or does not."""

    def __init__(self, *, may_read: bool = True) -> None:
        self.may_read = may_read

    def write(self, line: bytes) -> None:
        """Take a line."""

    async def drain(self) -> None:
        """Wait until the server has read."""
        if not self.may_read:
            await asyncio.Event().wait()


def test_no_more_requests_of_a_server_are_read_than_it_reads_answers() -> None:
    class Process:
        """A server that has sent many requests."""

        def __init__(self) -> None:
            self.stdout = asyncio.StreamReader()
            for number in range(1_000):
                message = {"jsonrpc": "2.0", "id": number, "method": "ping"}
                self.stdout.feed_data(json.dumps(message).encode() + b"\n")
            self.stdin = Pipe()

    async def read(server: ServerProcess) -> int:
        count = 0
        with suppress(TimeoutError):
            while True:
                async with asyncio.timeout(0.2):
                    await server.receive()
                count += 1
        return count

    async def counts() -> tuple[int, int]:
        server = ServerProcess(cast("Any", Process()))
        first = await read(server)
        for number in range(50):
            reply = JSONRPCResponse(jsonrpc="2.0", id=number, result={})
            await server.send(SessionMessage(reply))
        return first, await read(server)

    first, second = asyncio.run(counts())

    assert 50 < first < 200
    assert 40 < second < 60


def test_a_server_whose_answers_wait_in_the_pipe_is_read_no_further() -> None:
    class Process:
        """A server that has sent many requests under one number."""

        def __init__(self) -> None:
            self.stdout = asyncio.StreamReader()
            for _ in range(20_000):
                self.stdout.feed_data(b'{"jsonrpc":"2.0","id":"same","method":"ping"}\n')
            self.stdin = Pipe(may_read=False)

    async def count() -> int:
        server, tasks = ServerProcess(cast("Any", Process())), []
        reply = SessionMessage(JSONRPCResponse(jsonrpc="2.0", id="same", result={}))
        with suppress(TimeoutError):
            while len(tasks) < 20_000:
                async with asyncio.timeout(0.5):
                    await server.receive()
                tasks.append(asyncio.create_task(server.send(reply)))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return len(tasks)

    assert 100 <= asyncio.run(count()) < 200


def test_a_page_of_too_many_tools_is_told_and_stops_no_other_server(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "whoami")
    project.serve(*[{"name": "same"}] * 100_000, listed("whoami"))
    with project.open() as workspace:
        result = called(workspace, "whoami")

    assert result.outcome == "failed"
    assert result.error is not None
    assert "it lists more than 5,000 tools. Nothing was sent" in result.error.message


def test_pages_of_too_many_bytes_are_not_kept() -> None:
    class Endless:
        """A client whose server has page after page."""

        protocol_version = "2025-11-25"

        def __init__(self, tools: ToolList) -> None:
            self.session = self
            self.pages = 0
            self._tools = tools

        async def list_tools(self, params: Any) -> None:
            """Read the next page."""
            del params
            self.pages += 1
            page = [{"name": f"tool_{self.pages}", "_meta": {"more": "x" * (9 << 20)}}]
            self._tools.tap.page, self._tools.tap.cursor = page, str(self.pages)

    async def run() -> int:
        tools = ToolList(30.0)
        client = Endless(tools)
        with pytest.raises(ValueError, match="does not end"):
            await tools.begin(client)
        return client.pages

    assert asyncio.run(run()) == 3


def test_half_a_letter_on_stdout_loses_no_session(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "half", "whoami")
    with project.open() as workspace:
        before = called(workspace, "whoami").data
        result = called(workspace, "half")
        after = called(workspace, "whoami").data

    assert result.outcome == "ok"
    assert before == after


def test_many_calls_at_once_and_in_turn_use_one_session(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "whoami")

    async def calls(workspace: Workspace) -> set[str]:
        found = set()
        for _ in range(CALLS // 20):
            results = await asyncio.gather(*(workspace.call("whoami", {}) for _ in range(20)))
            found |= {str(result.data) for result in results}
        return found

    with project.open() as workspace:
        found = asyncio.run(calls(workspace))

    assert len(found) == 1
    assert len(project.lines("calls.txt")) == CALLS


def test_many_tools_are_listed_and_exported_without_a_start_of_the_server(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", *(f"tool_{number}" for number in range(TOOLS)))
    with project.open() as workspace:
        listed_tools = workspace.export("openai")
        errors = [one for one in workspace.diagnostics if one.severity == "error"]

    assert (len(listed_tools), errors) == (TOOLS, [])
    assert project.lines("starts.txt") == []


def test_no_process_of_a_launcher_is_left(tmp_path: Path) -> None:
    project = Guarded(tmp_path / "p", "whoami")
    program = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    command = [sys.executable, "-S", "-c", program, sys.executable, "-S", str(SERVER)]
    table = f"[servers.plain]\ncommand = {json.dumps([*command, str(project.files)])}\n"
    (project.root / "toolmd.toml").write_text(table, encoding="utf-8")
    with project.open() as workspace:
        number = int(called(workspace, "whoami").data)

    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
