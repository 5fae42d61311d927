"""A request to which only its answer is sent: slow ones get comments, left ones are cancelled."""

import asyncio
from typing import Any

import pytest

from toolmd._mcp.one_shot import OneShot, is_one_shot

START = {"type": "http.response.start", "status": 200, "headers": []}
BODY = {"type": "http.response.body", "body": b'{"id":1}'}
WHOLE = {"type": "http.request", "body": b"{}", "more_body": False}
MODERN = {
    b"mcp-protocol-version": b"2026-07-28",
    b"accept": b"application/json, text/event-stream",
    b"mcp-method": b"tools/call",
}


class Wire:
    """A connection whose client leaves when it is told to."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.left = asyncio.Event()
        self.pinged = asyncio.Event()

    async def receive(self) -> Any:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        if b"ping" in message.get("body", b""):
            self.pinged.set()


def one_shot(wire: Wire, look_s: float = 0) -> OneShot:
    return OneShot(wire.receive, wire.send, look_s=look_s, ping_s=0.001)


def test_a_quick_answer_is_sent_as_it_is() -> None:
    async def run() -> list[Any]:
        wire = Wire()

        async def app(receive: Any, send: Any) -> None:
            assert await receive() == WHOLE
            await send(START)
            await send(BODY)

        await one_shot(wire, look_s=60).serve(app, WHOLE)
        return wire.sent

    assert asyncio.run(run()) == [START, BODY]


def test_a_slow_answer_becomes_a_stream_with_comments() -> None:
    async def run() -> list[Any]:
        wire = Wire()

        async def app(receive: Any, send: Any) -> None:
            await wire.pinged.wait()
            await send(START)
            await send(BODY)

        await one_shot(wire).serve(app, WHOLE)
        return wire.sent

    start, *pings, last = asyncio.run(run())
    assert (b"content-type", b"text/event-stream") in start["headers"]
    assert pings
    assert {(ping["body"], ping["more_body"]) for ping in pings} == {(b": ping\r\n\r\n", True)}
    assert last["body"] == b'event: message\r\ndata: {"id":1}\r\n\r\n'
    assert not last.get("more_body", False)


def test_a_client_that_leaves_ends_its_call() -> None:
    async def run() -> list[str]:
        wire, seen = Wire(), []

        async def app(receive: Any, send: Any) -> None:
            wire.left.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        await one_shot(wire).serve(app, WHOLE)
        return seen

    assert asyncio.run(run()) == ["cancelled"]


def test_a_server_that_ends_cancels_the_call_too() -> None:
    async def run() -> None:
        async def app(receive: Any, send: Any) -> None:
            await asyncio.Event().wait()

        task = asyncio.ensure_future(one_shot(Wire()).serve(app, WHOLE))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


@pytest.mark.parametrize(
    ("method", "headers", "first"),
    [
        ("GET", {}, {}),
        ("POST", {b"mcp-protocol-version": b"2025-11-25"}, {}),
        ("POST", {b"mcp-protocol-version": b""}, {}),
        ("POST", {b"accept": b"application/json"}, {}),
        ("POST", {b"accept": b"text/event-stream"}, {}),
        ("POST", {b"mcp-method": b"subscriptions/listen"}, {}),
        ("POST", {}, {"more_body": True}),
        ("POST", {}, {"body": b'{"params":{"_meta":{"progressToken":1}}}'}),
    ],
)
def test_other_requests_are_left_to_the_sdk(
    method: str, headers: dict[bytes, bytes], first: dict[str, Any]
) -> None:
    def asked(method: str, headers: dict[bytes, bytes], first: dict[str, Any]) -> bool:
        scope = {"method": method, "headers": list((MODERN | headers).items())}
        return is_one_shot(scope, WHOLE | first)

    assert asked("POST", {}, {})
    assert not asked(method, headers, first)
