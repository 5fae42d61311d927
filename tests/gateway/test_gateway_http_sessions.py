"""A server over HTTP that forgets a session has not run the call: it is sent once more."""

import json
import secrets
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from guarded import Guarded, called, listed


def error(code: int, message: str) -> bytes:
    said = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return json.dumps(said).encode()


UNKNOWN = {
    "nothing": (404, "text/plain", b""),
    "a page": (404, "text/html", b"<html>"),
    "the error of the protocol": (404, "application/json", error(-32600, "Session not found")),
    "a bad request": (400, "application/json", error(-32000, "Bad Request: No valid session ID")),
}
OTHER = {
    "no such method": (404, "application/json", error(-32601, "Method not found")),
    "a bad argument": (400, "application/json", error(-32602, "session_id is no text")),
    "another bad request": (400, "application/json", error(-32600, "Invalid request")),
    "words alone": (400, "text/plain", b"no session"),
}


class Server(ThreadingHTTPServer):
    """A server with sessions, which may forget them."""

    def __init__(self, unknown: tuple[int, str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.unknown = unknown
        self.sessions: set[str] = set()
        self.opened = 0
        self.calls: list[Any] = []
        """The arguments of the calls that ran."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_told: Any) -> None: ...

    def do_GET(self) -> None:
        self._send(405, "text/plain", b"")

    def do_DELETE(self) -> None:
        self._send(405, "text/plain", b"")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if message["method"] == "initialize":
            session = secrets.token_hex(8)
            self.server.sessions.add(session)
            self.server.opened += 1
            about = {"serverInfo": {"name": "far", "version": "1"}, "capabilities": {"tools": {}}}
            self._answer(message, {"protocolVersion": "2025-11-25", **about}, session)
        elif self.headers["mcp-session-id"] not in self.server.sessions:
            self._send(*self.server.unknown)
        elif message["method"] == "tools/list":
            self._answer(message, {"tools": [listed("note")]})
        elif message["method"] == "tools/call":
            self.server.calls.append(message["params"]["arguments"])
            self._answer(message, {"content": [{"type": "text", "text": "noted"}]})
        else:
            self._send(202, "text/plain", b"")

    def _answer(self, message: Any, result: Any, session: str = "") -> None:
        body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        self._send(200, "application/json", json.dumps(body).encode(), session)

    def _send(self, status: int, kind: str, body: bytes, session: str = "") -> None:
        self.send_response(status)
        if session:
            self.send_header("mcp-session-id", session)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[tuple[int, str, bytes]], tuple[Guarded, Server]]]:
    """Start a server that answers so to an unknown session, with a project of its one tool."""
    servers = []

    def started(unknown: tuple[int, str, bytes]) -> tuple[Guarded, Server]:
        server = Server(unknown)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        project = Guarded(tmp_path / "p")
        project.add("note")
        table = f'[servers.plain]\nurl = "http://127.0.0.1:{server.server_port}/mcp"\n'
        (project.root / "toolmd.toml").write_text(table, encoding="utf-8")
        return project, server

    yield started
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("form", UNKNOWN)
def test_a_call_in_a_forgotten_session_runs_once_in_a_new_one(form: str, start: Any) -> None:
    project, server = start(UNKNOWN[form])
    with project.open() as workspace:
        first = called(workspace, "note", text="one")
        server.sessions.clear()
        second = called(workspace, "note", text="two")
        third = called(workspace, "note", text="three")

    assert [first.outcome, second.outcome, third.outcome] == ["ok"] * 3
    assert [call["text"] for call in server.calls] == ["one", "two", "three"]
    assert server.opened == 2


def test_a_server_that_forgets_each_session_fails_and_runs_nothing(start: Any) -> None:
    project, server = start(UNKNOWN["nothing"])
    with project.open() as workspace:
        called(workspace, "note", text="one")
        server.sessions = Forgetful(server.sessions)
        server.sessions.clear()
        result = called(workspace, "note", text="two")

    assert result.outcome == "failed"
    assert "Nothing was sent" in result.error.message
    assert len(server.calls) == 1


class Forgetful(set[str]):
    """Sessions of which each serves one request, its list of tools."""

    def __contains__(self, session: object) -> bool:
        known = super().__contains__(session)
        self.discard(session)  # type: ignore[arg-type]
        return known


@pytest.mark.parametrize("form", OTHER)
def test_another_answer_of_4xx_fails_the_call_and_keeps_the_session(form: str, start: Any) -> None:
    project, server = start(OTHER[form])
    with project.open() as workspace:
        called(workspace, "note", text="one")
        known = server.sessions.copy()
        server.sessions.clear()
        second = called(workspace, "note", text="two")
        server.sessions |= known
        third = called(workspace, "note", text="three")

    assert (second.outcome, third.outcome) == ("failed", "ok")
    assert server.opened == 1
