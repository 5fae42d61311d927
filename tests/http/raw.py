"""Speak HTTP over a socket byte by byte, as no client library would."""

import select
import socket
import time
from typing import Any

from kiosk import TOKEN


def connected(port: int) -> socket.socket:
    """Connect to a server of this machine."""
    made = socket.create_connection(("127.0.0.1", port), timeout=30)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def head(port: int, path: str, *headers: str, method: str = "POST", token: str = TOKEN) -> bytes:
    """Write the head of a request."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}",
             f"Authorization: Bearer {token}", "Content-Type: application/json",
             *headers, "", ""]  # fmt: skip
    return "\r\n".join(lines).encode("latin-1")


def call(port: int, call_id: str) -> bytes:
    """Write a call that leaves its id in the stream of events."""
    body = b'{"arguments": {}, "call_id": "%s"}' % call_id.encode()
    return head(port, "/api/tools/who-asks/call", f"Content-Length: {len(body)}") + body


def everything(sock: socket.socket) -> bytes:
    """Read until the server closes."""
    found = b""
    try:
        while part := sock.recv(65536):
            found += part
    except ConnectionResetError:
        pass
    return found


def trickle(sock: socket.socket, data: bytes) -> tuple[bytes, float]:
    """Send byte after byte, slowly, until the server answers and closes; return how long it took.

    It fails where all of `data` is gone before that.
    """
    began = time.monotonic()
    for place in range(len(data)):
        sock.sendall(data[place : place + 1])
        ready, _, _ = select.select([sock], [], [], 0.1)
        if ready:
            return everything(sock), time.monotonic() - began
    raise AssertionError("the server waited for all of it")


def answer(sock: socket.socket) -> tuple[int, bytes]:
    """Read one answer, and no byte of the next one; return its status and body."""
    top = b""
    while not top.endswith(b"\r\n\r\n"):
        byte = sock.recv(1)
        assert byte, "closed before it answered"
        top += byte
    length = int(top.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    body = b""
    while len(body) < length:
        part = sock.recv(length - len(body))
        assert part, "closed before its body ended"
        body += part
    return int(top.split()[1]), body


def called(kiosk: Any) -> list[str]:
    """Return the ids of the calls that ran."""
    events = [event.data for event in kiosk.event_source.feed._ring if event.kind == "call"]
    return [event.get("tool_call_id", "") for event in events]
