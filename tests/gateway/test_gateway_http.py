"""A server that runs already is called over HTTP, in both eras of the protocol."""

import asyncio
import os
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from guarded import Guarded, called
from tests import warm_python

PROGRAM = """
import os, sys
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("far")

@server.tool()
def echo(text: str = "") -> dict[str, str]:
    "Echo."
    if text == "die":
        os._exit(1)
    return {"echo": text}

@server.tool()
def whose(ctx: Context) -> dict[str, str]:
    "Return who calls."
    value = ctx.request_context.request.headers["x-user"]
    return {"user": value.encode("latin-1").decode()}

server.run("streamable-http", port=int(sys.argv[1]))
"""


class Far:
    """A server in a process of its own, at a port that stays the same."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, command: Sequence[str] = ()) -> None:
        """Start it, or what `command` starts at its port, and wait until it listens."""
        command = command or [sys.executable, "-c", textwrap.dedent(PROGRAM), str(self.port)]
        self.process = warm_python.Popen(command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        """Kill it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def far() -> Iterator[Far]:
    """A running server."""
    server = Far()
    server.start()
    yield server
    server.kill()


@pytest.fixture
def project(tmp_path: Path, far: Far) -> Guarded:
    """A project with one tool of that server."""
    made = Guarded(tmp_path / "p")
    made.add("echo")
    text = f'[servers.plain]\nurl = "http://127.0.0.1:{far.port}/mcp"\n'
    (made.root / "toolmd.toml").write_text(text, encoding="utf-8")
    return made


def test_a_server_over_http_is_called_and_called_again_after_a_restart(
    project: Guarded, far: Far
) -> None:
    with project.open() as workspace:
        first = called(workspace, "echo", text="one")
        far.kill()
        down = called(workspace, "echo", text="two")
        far.start()
        until = time.monotonic() + 30
        after = called(workspace, "echo", text="three")
        while after.outcome != "ok" and time.monotonic() < until:
            asyncio.run(asyncio.sleep(0.2))
            after = called(workspace, "echo", text="three")

    assert (first.outcome, first.data) == ("ok", {"echo": "one"})
    assert down.outcome in {"failed", "unknown"}
    assert (after.outcome, after.data) == ("ok", {"echo": "three"})


def test_a_server_that_dies_in_a_call_leaves_the_outcome_unknown(project: Guarded) -> None:
    with project.open() as workspace:
        result = called(workspace, "echo", text="die")

    assert result.outcome == "unknown"


def test_a_server_that_is_not_there_is_told(project: Guarded, far: Far) -> None:
    far.kill()
    with project.open() as workspace:
        result = called(workspace, "echo", text="one")

    assert result.outcome == "failed"
    assert result.api_offline
    assert result.error is not None
    assert "Nothing was sent" in result.error.message


def test_a_server_that_went_down_is_one_line_of_the_log(
    project: Guarded, far: Far, caplog: pytest.LogCaptureFixture
) -> None:
    with project.open() as workspace:
        called(workspace, "echo", text="one")
        far.kill()
        caplog.clear()
        for _ in range(2):
            called(workspace, "echo", text="two")

    (record,) = [one for one in caplog.records if one.levelname in {"WARNING", "ERROR"}]
    assert "echo can't reach its service: LostAnswerError: the server plain did not" in caplog.text
    assert record.exc_info is None
    assert "\n" not in record.getMessage()


def test_a_header_contains_the_user_as_utf8(project: Guarded, far: Far) -> None:
    project.add("whose")
    table = f'[servers.plain]\nurl = "http://127.0.0.1:{far.port}/mcp"\n'
    table += 'headers = {X-User = "$TOOLMD_USER"}\n'
    (project.root / "toolmd.toml").write_text(table, encoding="utf-8")
    with project.open() as workspace:
        users = [
            workspace.call_sync("whose", {}, user=user).data["user"]
            for user in ("ana", "Zoë", "Анна")
        ]

    assert users == ["ana", "Zoë", "Анна"]


@pytest.mark.skipif(os.name != "posix", reason="a variable is always a text")
def test_a_header_that_is_no_utf8_names_itself(
    project: Guarded, far: Far, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAR_KEY", os.fsdecode(b"key-\xff"))
    table = f'[servers.plain]\nurl = "http://127.0.0.1:{far.port}/mcp"\n'
    table += 'headers = {X-Key = "$FAR_KEY"}\n'
    (project.root / "toolmd.toml").write_text(table, encoding="utf-8")
    with project.open() as workspace:
        result = called(workspace, "echo", text="one")

    assert result.outcome == "failed"
    assert result.error is not None
    assert "the header X-Key can't be encoded as UTF-8" in result.error.message
