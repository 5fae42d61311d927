"""Streamed replies: words as they come, calls from pieces, streams that break off."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from toolmd import ModelError
from toolmd.testing import ModelServer, RawReply, asking

WATER = asking(("water", {"plant": "fern", "litres": 2}))


def chunk(delta: dict, finish: str | None = None) -> str:
    return f"data: {json.dumps({'choices': [{'delta': delta, 'finish_reason': finish}]})}\n\n"


def half_call() -> list[str]:
    function = {"name": "water", "arguments": '{"plant": "fern", "litres": 2}'}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    return [chunk({"content": "At once."}), chunk({"tool_calls": [call]})]


def stream_of(*chunks: str, **headers: str) -> RawReply:
    return RawReply(200, "".join(chunks), {"content-type": "text/event-stream", **headers})


def test_words_are_told_before_the_answer_is_complete(nursery) -> None:
    told = threading.Event()

    class Slow(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(chunk({"content": "First, "}).encode())
            self.wfile.flush()
            # The rest comes only after the first words were told.
            rest = "then the rest." if told.wait(30) else "but nobody listened."
            self.wfile.write(f"{chunk({'content': rest}, 'stop')}data: [DONE]\n\n".encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    server.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        (exchange,) = nursery.talk(server, "Hello", stream=True, on_text=lambda _: told.set())
    finally:
        server.shutdown()
        server.server_close()
    assert exchange.text == "First, then the rest."


def test_calls_are_put_together_from_pieces(nursery) -> None:
    with ModelServer(WATER, "Done.") as server:
        (exchange,) = nursery.talk(server, "Water the fern", stream=True, on_text=print)
    assert nursery.garden.done == [("water", "fern", 2)]
    assert exchange.text == "Done."


@pytest.mark.parametrize(
    "torn",
    [
        stream_of(*half_call()),
        stream_of(*half_call(), "data: [DONE]\n\n"),
        stream_of(*half_call(), **{"content-length": "9999"}),
        stream_of(chunk({"content": "The fern ne"})),
        stream_of(*half_call(), chunk({}, "tool_calls"), **{"content-length": "9999"}),
    ],
)
def test_a_stream_that_breaks_off_is_an_error_and_runs_nothing(nursery, torn: RawReply) -> None:
    with ModelServer(torn) as server, pytest.raises(ModelError, match="broke off") as raised:
        nursery.talk(server, "Water the fern", stream=True, on_text=print)
    assert raised.value.code == "unreadable"
    assert "send the message again" in str(raised.value)
    assert nursery.garden.done == []


def test_an_endpoint_that_answers_whole_is_understood(nursery) -> None:
    answer = {"choices": [{"message": {"role": "assistant", "content": "Hi."}}]}
    told: list[str] = []
    with ModelServer(RawReply(200, json.dumps(answer))) as server:
        (exchange,) = nursery.talk(server, "Hello", stream=True, on_text=told.append)
    assert (exchange.text, told) == ("Hi.", ["Hi."])
