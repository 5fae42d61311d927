"""A request can't hide in another: if the end of one is ambiguous, the connection ends."""

from collections.abc import Iterator
from typing import Any

import pytest
from kiosk import Kiosk, copied
from raw import answer, call, called, connected, everything, head


@pytest.fixture(scope="module")
def kiosk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kiosk]:
    """One server for all cases: nothing that is hidden may ever run on it."""
    with Kiosk(copied(tmp_path_factory.mktemp("framing"))) as open_:
        yield open_


PATH = "/api/tools/who-asks/call"


def first(port: int, *headers: str, body: bytes = b"", version: str = "1.1") -> bytes:
    """Write the request in which the second hides."""
    text = head(port, PATH, *headers).replace(b"HTTP/1.1", f"HTTP/{version}".encode(), 1)
    return text + body


CHUNKED = "Transfer-Encoding: chunked"
END = b"0\r\n\r\n"
DOUBTFUL = {
    "length and encoding": lambda port: first(port, "Content-Length: 5", CHUNKED, body=END),
    "encoding and length": lambda port: first(port, CHUNKED, "Content-Length: 5", body=END),
    "two lengths": lambda port: first(port, "Content-Length: 0", "Content-Length: 5"),
    "two equal lengths": lambda port: first(port, "Content-Length: 0", "Content-Length: 0"),
    "a list of lengths": lambda port: first(port, "Content-Length: 0, 5"),
    "a length with a sign": lambda port: first(port, "Content-Length: +0"),
    "a negative length": lambda port: first(port, "Content-Length: -1"),
    "a length in hex": lambda port: first(port, "Content-Length: 0x0"),
    "an empty length": lambda port: first(port, "Content-Length:"),
    "two encodings": lambda port: first(port, CHUNKED, CHUNKED, body=END),
    "chunked, identity": lambda port: first(port, f"{CHUNKED}, identity", body=END),
    "identity, chunked": lambda port: first(port, "Transfer-Encoding: identity, chunked", body=END),
    "an unknown encoding": lambda port: first(port, "Transfer-Encoding: xchunked", body=END),
    "a vertical tab": lambda port: first(port, "Transfer-Encoding: \x0bchunked", body=END),
    "a space before the colon": lambda port: first(port, "Transfer-Encoding : chunked", body=END),
    "a folded encoding": lambda port: first(port, "Transfer-Encoding:\r\n chunked", body=END),
    "a folded header": lambda port: first(port, "X-Fold: a\r\n\tTransfer-Encoding: chunked"),
    "a bare LF in the head": lambda port: first(port, "X-Line: a\nContent-Length: 0"),
    "a bare CR in the head": lambda port: first(port, "X-Line: a\rContent-Length: 0"),
    "a head that ends with LF": lambda port: first(port, "Content-Length: 0")[:-2] + b"\n",
    "chunked HTTP/1.0": lambda port: first(
        port, CHUNKED, "Connection: keep-alive", body=END, version="1.0"
    ),
    "LF after a chunk's size": lambda port: first(port, CHUNKED, body=b"0\n\r\n"),
    "LF within an extension": lambda port: first(port, CHUNKED, body=b"0;a\nb\r\n\r\n"),
    "a size with a sign": lambda port: first(port, CHUNKED, body=b"+0\r\n\r\n"),
    "a size in 0x": lambda port: first(port, CHUNKED, body=b"0x0\r\n\r\n"),
    "a size before a space": lambda port: first(port, CHUNKED, body=b" 0\r\n\r\n"),
    "a size that overflows": lambda port: first(port, CHUNKED, body=b"1" + b"0" * 21 + b"\r\n"),
    "no CR LF after a chunk": lambda port: first(port, CHUNKED, body=b"2\r\n{}xx0\r\n\r\n"),
    "trailers that end with LF": lambda port: first(port, CHUNKED, body=b"0\r\n\n"),
    "a trailer that ends with LF": lambda port: first(port, CHUNKED, body=b"0\r\nX: a\n\r\n"),
}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_bytes_after_an_ambiguous_request_never_run(kiosk: Any, name: str) -> None:
    hidden = name.replace(" ", "-")
    with connected(kiosk.port) as sock:
        sock.settimeout(5)
        sock.sendall(DOUBTFUL[name](kiosk.port) + call(kiosk.port, hidden))
        answered = everything(sock)

    assert hidden not in called(kiosk)
    assert answered.startswith(b"HTTP/1.1 4")
    assert answered.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("body", [b"0\r\n\r\n", b"0;a=b\r\n\r\n", b"0\r\nX: a\r\n\r\n"])
def test_a_chunked_body_and_what_follows_it_are_read(kiosk: Any, body: bytes) -> None:
    with connected(kiosk.port) as sock:
        sock.sendall(first(kiosk.port, CHUNKED, body=b"2\r\n{}\r\n" + body))
        assert answer(sock)[0] == 200
        sock.sendall(call(kiosk.port, "honest"))
        assert answer(sock)[0] == 200
    assert called(kiosk)[-1] == "honest"


def test_a_chunked_body_that_comes_byte_by_byte_is_read(kiosk: Any) -> None:
    with connected(kiosk.port) as sock:
        for byte in first(kiosk.port, CHUNKED, body=b"2\r\n{}\r\n0\r\n\r\n"):
            sock.sendall(bytes((byte,)))
        assert answer(sock)[0] == 200


def test_the_body_of_a_rejected_request_is_not_read_as_a_request(kiosk: Any) -> None:
    hidden = call(kiosk.port, "hidden")
    length = f"Content-Length: {len(hidden)}"
    with connected(kiosk.port) as sock:
        sock.sendall(head(kiosk.port, PATH, length, token="of-nobody") + hidden)
        sock.sendall(call(kiosk.port, "honest"))

        assert answer(sock)[0] == 401
        assert answer(sock)[0] == 200
    assert called(kiosk)[-1] == "honest"
    assert "hidden" not in called(kiosk)


def test_a_body_that_breaks_after_its_answer_leaves_no_trace_in_the_log(
    kiosk: Any, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with connected(kiosk.port) as sock:
        sock.sendall(head(kiosk.port, PATH, CHUNKED, token="of-nobody"))
        assert answer(sock)[0] == 401
        sock.sendall(b"no chunk\r\n" + call(kiosk.port, "hidden"))
        assert everything(sock) == b""

    assert "hidden" not in called(kiosk)
    assert caplog.records == []
    assert capfd.readouterr().err == ""


def test_requests_in_one_packet_are_answered_in_order(kiosk: Any) -> None:
    with connected(kiosk.port) as sock:
        sock.sendall(call(kiosk.port, "one") + call(kiosk.port, "two"))
        assert [answer(sock)[0], answer(sock)[0]] == [200, 200]
    assert called(kiosk)[-2:] == ["one", "two"]


def test_a_trailer_is_not_a_header(kiosk: Any) -> None:
    trailer = b"2\r\n{}\r\n0\r\nToolmd-Context-Patient: of-nobody\r\n\r\n"
    with connected(kiosk.port) as sock:
        sock.sendall(first(kiosk.port, CHUNKED, body=trailer))
        assert answer(sock)[0] == 200


def test_spaces_around_a_value_are_not_of_it(kiosk: Any) -> None:
    head_, _, body = call(kiosk.port, "spaced").partition(b"\r\n\r\n")
    request, *headers = head_.split(b"\r\n")
    spaced = [header.replace(b": ", b":\t ") + b" \t" for header in headers]
    with connected(kiosk.port) as sock:
        sock.sendall(b"\r\n".join([request, *spaced, b"", b""]) + body)
        status, said = answer(sock)

    assert status == 200, said
    assert "spaced" in called(kiosk)
