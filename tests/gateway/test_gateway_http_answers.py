"""What a misbehaving server answers over HTTP costs one call, and not those that follow."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest
from guarded import Guarded, called, listed

from toolmd._gateway.bounded import _Bounded

REPORT = """\
data: {"jsonrpc": "2.0", "method": "notifications/progress",
data:  "params": {"progressToken": %s, "progress": 1%s}}

"""


class Handler(BaseHTTPRequestHandler):
    """A server of the protocol 2025-11-25."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write nothing."""

    def do_POST(self) -> None:
        """Answer a request."""
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        params = message.get("params", {})
        match message.get("method"):
            case "initialize":
                self._answer(message, {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "odd", "version": "1"},
                })  # fmt: skip
            case "tools/list":
                self._answer(message, {"tools": [listed("echo"), listed("huge")]})
            case "tools/call" if params["name"] == "huge":
                token = json.dumps(params["_meta"]["progressToken"])
                self._write(200, "text/event-stream", REPORT % (token, "0" * 400))
            case "tools/call" if "text" in params["arguments"]:
                text = {"type": "text", "text": "cut \ud83d"}
                result = {"content": [text, {"type": "hologram"}]}
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
                if params["arguments"]["text"] == "gzip":
                    self._write(200, "application/json", json.dumps(answer), "gzip")
                elif params["arguments"]["text"] == "stream":
                    self._write(200, "text/event-stream", f"data: {json.dumps(answer)}\n\n")
                else:
                    self._write(200, "application/json", json.dumps(answer))
            case "tools/call":
                self._answer(message, {"content": [{"type": "text", "text": "done"}]})
            case _:
                self._write(202 if "id" not in message else 400, "text/plain", "")

    def _answer(self, message: Any, result: Any) -> None:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        self._write(200, "application/json", json.dumps(answer))

    def _write(self, status: int, kind: str, text: str, encoding: str = "identity") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-encoding", encoding)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())


@pytest.fixture
def url() -> Iterator[str]:
    """The URL of a running server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()
        thread.join()


def test_a_report_that_the_client_can_not_read_costs_no_later_call(
    tmp_path: Path, url: str
) -> None:
    project = Guarded(tmp_path / "p", "echo", "huge")
    (project.root / "toolmd.toml").write_text(f'[servers.plain]\nurl = "{url}"\n', "utf-8")
    with project.open() as workspace:
        first = called(workspace, "echo")
        huge = called(workspace, "huge")
        after = called(workspace, "echo")

    assert (first.outcome, first.data) == ("ok", "done")
    assert huge.outcome == "unknown"
    assert (after.outcome, after.data) == ("ok", "done")


@pytest.mark.parametrize("kind", ["stream", "json"])
def test_half_a_letter_and_an_unknown_part_cost_themselves_only(
    tmp_path: Path, url: str, kind: str
) -> None:
    project = Guarded(tmp_path / "p", "echo")
    (project.root / "toolmd.toml").write_text(f'[servers.plain]\nurl = "{url}"\n')
    with project.open() as workspace:
        result = called(workspace, "echo", text=kind)

    assert (result.outcome, result.data) == ("ok", "cut \ufffd")
    assert len(result.notes) == 2


def test_a_compressed_answer_is_told(tmp_path: Path, url: str) -> None:
    project = Guarded(tmp_path / "p", "echo")
    (project.root / "toolmd.toml").write_text(f'[servers.plain]\nurl = "{url}"\n')
    with project.open() as workspace:
        result = called(workspace, "echo", text="gzip")

    assert not result.success


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_body_is_read_once_and_bounded(is_stream: bool) -> None:
    async def chunks(*given: bytes) -> AsyncIterator[bytes]:
        for chunk in given:
            yield chunk

    async def read(*given: bytes, most: int) -> bytes:
        body = _Bounded(chunks(*given), most, is_stream=is_stream)
        return b"".join([chunk async for chunk in body])

    assert asyncio.run(read(b"a\\ud8", b"3d\nb", b"\n", most=99)) == b"a\\ufffd\nb\n"
    with pytest.raises(httpx2.ReadError):
        asyncio.run(read(*[b"x" * 10] * 10, most=99))
    lines = read(*[b"x" * 9 + b"\n"] * 10, most=99)
    if is_stream:
        assert len(asyncio.run(lines)) == 100
    else:
        with pytest.raises(httpx2.ReadError):
            asyncio.run(lines)
