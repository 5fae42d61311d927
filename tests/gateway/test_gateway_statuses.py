"""A status of HTTP that is no answer leaves open whether the tool ran, or says that it did not."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from guarded import Guarded, called, listed

WORDS = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "no s3cret-token"}}
ANSWERS = {
    "refused": (401, "application/json", b'{"detail": "no"}'),
    "gateway": (502, "text/html", b"<html>"),
    "busy": (503, "application/json", b'{"detail": "busy"}'),
    "page": (200, "text/html", b"<html>"),
    "accepted": (202, "application/json", b""),
    "words": (500, "application/json", json.dumps(WORDS).encode()),
}  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    """A server whose tools answer with a status, and do not say whether they ran."""

    def log_message(self, *_told: Any) -> None: ...

    def do_GET(self) -> None:
        self._send(405, "text/plain", b"")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if message["method"] == "tools/call":
            self._send(*ANSWERS[message["params"]["name"]])
        elif message["method"] == "initialize":
            about = {"serverInfo": {"name": "far", "version": "1"}, "capabilities": {"tools": {}}}
            self._answer(message, {"protocolVersion": "2025-11-25", **about})
        elif message["method"] == "tools/list":
            self._answer(message, {"tools": [listed(name) for name in ANSWERS]})
        else:
            self._send(202 if "id" not in message else 400, "text/plain", b"")

    def _answer(self, message: Any, result: Any) -> None:
        body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        self._send(200, "application/json", json.dumps(body).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def address() -> Iterator[str]:
    """The address of a running server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()


def test_a_status_says_whether_a_call_may_have_run(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAR_TOKEN", "s3cret-token")
    project = Guarded(tmp_path / "p")
    for name in ANSWERS:
        project.add(name)
    table = f'[servers.plain]\nurl = "{address}"\nheaders = {{ X-Token = "$FAR_TOKEN" }}\n'
    (project.root / "toolmd.toml").write_text(table, encoding="utf-8")
    with project.open() as workspace:
        results = {name: called(workspace, name) for name in ANSWERS}

    outcomes = {name: result.outcome for name, result in results.items()}
    assert outcomes == {
        "refused": "failed", "gateway": "unknown", "busy": "unknown", "page": "unknown",
        "accepted": "unknown", "words": "failed",
    }  # fmt: skip
    assert "HTTP 401 Unauthorized" in results["refused"].error.message
    assert results["words"].error.message.endswith("with an error: no [hidden]")
