"""Calls on one connection that is kept open."""

import socket
import time
from typing import Any

import pytest
from kiosk import TOKEN

ROUNDS, CALLS = 3, 20
DELAYED_ACK_S = 0.04
"""How long Linux waits at least before it acknowledges what it has nothing to add to."""


@pytest.fixture
def kept(kiosk: Any) -> Any:
    """One connection to the kiosk that stays open, without a client library of its own."""
    with socket.create_connection(("127.0.0.1", kiosk.port), timeout=30) as made:
        yield made


def call(kept: Any, port: int) -> bytes:
    """Send one call as most clients do, in two segments, and return the answer."""
    body = b'{"arguments": {}}'
    head = (
        f"POST /api/tools/who-asks/call HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    kept.sendall(head.encode())
    kept.sendall(body)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += kept.recv(65536)
    top, _, rest = answer.partition(b"\r\n\r\n")
    length = int(top.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(rest) < length:
        rest += kept.recv(65536)
    return top


def test_an_accepted_connection_waits_for_no_acknowledgement(kiosk: Any, kept: Any) -> None:
    assert call(kept, kiosk.port).startswith(b"HTTP/1.1 200")
    (connection,) = kiosk.connections
    accepted = connection.transport.get_extra_info("socket")

    assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_calls_on_a_kept_connection_do_not_wait_for_delayed_acknowledgements(
    kiosk: Any, kept: Any
) -> None:
    kept.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    rounds = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(CALLS):
            call(kept, kiosk.port)
        rounds.append(time.perf_counter() - began)

    assert min(rounds) < CALLS * DELAYED_ACK_S / 2
