"""Answer a request of the current protocol in its own task, without the SDK's message stream."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

LOOK_S = 1.0
"""The time after which a server looks whether the client is still there, in seconds."""
PING_S = 15.0
"""The time between two comments to the client, so that no proxy closes the connection."""
_STREAM = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def is_one_shot(scope: Any, first: Message) -> bool:
    """Return whether nothing but one answer is sent for a request, and it may become a stream.

    Args:
        scope: The scope of the request.
        first: Its first message.
    """
    headers = dict(scope["headers"])
    version = headers.get(b"mcp-protocol-version", b"").decode("latin-1")
    accepts = headers.get(b"accept", b"")
    return (
        scope["method"] == "POST"
        and version not in {"", *HANDSHAKE_PROTOCOL_VERSIONS}
        and b"application/json" in accepts
        and b"text/event-stream" in accepts
        and headers.get(b"mcp-method") != b"subscriptions/listen"
        and not first.get("more_body", False)
        and b"progressToken" not in first.get("body", b"")
    )


def replaying(first: Message, receive: Receive) -> Receive:
    """Return a function that receives `first` again, and then the other messages."""
    messages = [first]

    async def received() -> Message:
        return messages.pop() if messages else await receive()

    return received


class OneShot:
    """A request whose app sends one answer in JSON; a slow one becomes a stream with comments.

    If the client leaves, the app is cancelled.
    """

    def __init__(
        self, receive: Receive, send: Send, *, look_s: float = LOOK_S, ping_s: float = PING_S
    ) -> None:
        self._receive = receive
        self._send = send
        self._look_s = look_s
        self._ping_s = ping_s
        self._watching: asyncio.Task[None] | None = None
        self._is_stream = self._has_begun = self._is_left = False

    async def serve(self, app: Callable[[Receive, Send], Awaitable[None]], first: Message) -> None:
        """Serve the request; `first` is its only message."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        assert task is not None

        def watch() -> None:
            self._watching = loop.create_task(self._watch(task))

        timer = loop.call_later(self._look_s, watch)
        try:
            await app(replaying(first, self._receive), self._send_on)
        except asyncio.CancelledError:
            if not self._is_left:
                raise
            task.uncancel()
        finally:
            timer.cancel()
            if self._watching is not None:
                self._watching.cancel()

    async def _watch(self, task: "asyncio.Task[Any]") -> None:
        """Cancel the task if the client leaves; send comments as long as it waits."""
        while True:
            try:
                async with asyncio.timeout(self._ping_s):
                    while (await self._receive())["type"] != "http.disconnect":
                        pass
            except TimeoutError:
                await self._ping()
            else:
                self._is_left = True
                task.cancel()
                return

    async def _ping(self) -> None:
        if self._has_begun:
            return
        if not self._is_stream:
            self._is_stream = True
            await self._send({"type": "http.response.start", "status": 200, "headers": _STREAM})
        ping = b": ping\r\n\r\n"
        await self._send({"type": "http.response.body", "body": ping, "more_body": True})

    async def _send_on(self, message: Message) -> None:
        """Send the answer, as an event if the stream has begun."""
        self._has_begun = True
        if not self._is_stream:
            await self._send(message)
        elif message["type"] == "http.response.body":
            event = b"event: message\r\ndata: %b\r\n\r\n" % message["body"]
            await self._send({"type": "http.response.body", "body": event})
