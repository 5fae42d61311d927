"""Clients have deadlines to send and read; the server's own work has none."""

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kiosk import Kiosk
from raw import answer, call, connected, everything, head, trickle
from test_api_events import followed, until

PATH = "/api/tools/who-asks/call"
LATE_S = 8.0
"""More than any deadline here and the slowness of a busy machine."""


@pytest.fixture
def hasty(project: Path) -> Iterator[Kiosk]:
    """The kiosk with deadlines of one second."""
    with Kiosk(project, head_timeout=1, body_timeout=1, idle_timeout=1) as open_:
        yield open_


def closed_after(sock: socket.socket) -> tuple[bytes, float]:
    """Read until the server closes; return what came, and how long it took."""
    began = time.monotonic()
    return everything(sock), time.monotonic() - began


@pytest.mark.parametrize(
    ("sent", "answered"),
    [(b"", b""), (b"GET / HTTP/1.1\r\nHost: a\r\n", b"HTTP/1.1 408 ")],
    ids=["nothing", "half a head"],
)
def test_a_new_connection_that_brings_no_request_is_closed(
    hasty: Kiosk, sent: bytes, answered: bytes
) -> None:
    with connected(hasty.port) as sock:
        sock.sendall(sent)
        found, took = closed_after(sock)

    assert found.startswith(answered)
    assert bool(found) == bool(answered)
    assert 0.9 < took < LATE_S


def test_a_head_that_trickles_is_cut_off(hasty: Kiosk) -> None:
    with connected(hasty.port) as sock:
        found, took = trickle(sock, head(hasty.port, PATH, "X-Long: " + "a" * 4000))

    assert found.startswith(b"HTTP/1.1 408 ")
    assert b'"too_slow"' in found
    assert took < LATE_S


def test_the_second_head_of_a_connection_has_the_same_deadline(hasty: Kiosk) -> None:
    with connected(hasty.port) as sock:
        sock.sendall(call(hasty.port, "one"))
        assert answer(sock)[0] == 200
        found, took = trickle(sock, head(hasty.port, PATH, "X-Long: " + "a" * 4000))

    assert found.startswith(b"HTTP/1.1 408 ")
    assert took < LATE_S


@pytest.mark.parametrize("length", ["Content-Length: 4000", "Transfer-Encoding: chunked"])
def test_a_body_that_trickles_is_cut_off_from_the_app(hasty: Kiosk, length: str) -> None:
    with connected(hasty.port) as sock:
        sock.sendall(head(hasty.port, PATH, length))
        found, took = trickle(sock, b"fa0\r\n" + b" " * 4000)

    assert found.startswith(b"HTTP/1.1 408 ")
    assert found.count(b"HTTP/1.1 ") == 1
    assert took < LATE_S


def test_a_body_that_trickles_after_its_answer_is_cut_off(hasty: Kiosk) -> None:
    with connected(hasty.port) as sock:
        sock.sendall(head(hasty.port, PATH, "Content-Length: 4000", token="of-nobody"))
        assert answer(sock)[0] == 401
        found, took = trickle(sock, b" " * 4000)

    assert found == b""
    assert took < LATE_S


def test_a_kept_connection_that_brings_no_second_request_is_closed(hasty: Kiosk) -> None:
    with connected(hasty.port) as sock:
        sock.sendall(call(hasty.port, "one"))
        assert answer(sock)[0] == 200
        found, took = closed_after(sock)

    assert found == b""
    assert 0.9 < took < LATE_S


def test_a_client_that_reads_no_answer_is_cut_off(hasty: Kiosk) -> None:
    with connected(hasty.port) as sock:
        # More answers than the buffers of both sides take in.
        asked = head(hasty.port, "/openapi.json", method="GET")
        sock.settimeout(4 * LATE_S)
        with pytest.raises(ConnectionError):
            sock.sendall(asked * 1_000_000)


def test_a_stream_and_a_long_call_outlive_every_deadline(hasty: Kiosk, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with hasty.client() as client, followed(client) as coming, connected(hasty.port) as busy:
        body = b'{"arguments": {"pipe": "%s"}}' % str(pipe).encode()
        length = f"Content-Length: {len(body)}"
        busy.sendall(head(hasty.port, "/api/tools/wait/call", length) + body)
        with pipe.open("w") as writer:  # opens when the call reads
            for _ in range(3):
                with connected(hasty.port) as idle:
                    everything(idle)  # a deadline has passed
            hasty.event_source.feed.publish("run", {"run_id": "late"})
            until(coming, "run", run_id="late")
            writer.write("done")
        assert answer(busy)[0] == 200
