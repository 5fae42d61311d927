"""Serve an ASGI app on a bound socket until a signal, with deadlines for clients and a drain."""

import asyncio
import json
import os
import signal
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from toolmd._auth.authentication import problem
from toolmd._types.settings import ServeSettings

BACKLOG = 128
"""The most connections that may wait to be accepted."""
CLOSE_S = 2
"""The time for connections to close after the drain, in seconds."""
FORCED = 130
"""The exit code when a second signal cuts calls off."""
MAX_HEAD = 64 * 1024
"""The most bytes of a request before its body."""


def bound_socket(host: str, port: int) -> socket.socket:
    """Open a socket that listens at once; raise OSError if the address is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the protocol is named. Without it, every answer on a
    # kept-alive connection waits 40 ms for a delayed acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        # A client may connect as soon as it sees the printed address, before the server is up.
        bound.listen(BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


class DeadlineProtocol(HttpToolsProtocol):
    """The uvicorn protocol with a deadline for whatever its client has to send or to read."""

    def __init__(self, *args: Any, settings: ServeSettings, **named: Any) -> None:
        super().__init__(*args, **named)
        self._settings = settings
        self._deadline: asyncio.TimerHandle | None = None
        self._read_deadline: asyncio.TimerHandle | None = None
        self._in_body = False
        self._head_size = 0
        """The bytes of the head that is not complete."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first byte."""
        super().connection_made(transport)
        self._wait(self._settings.head_timeout)

    def data_received(self, data: bytes) -> None:
        """Read incoming bytes; a head may not be endless."""
        if self._deadline is None:
            self._wait(self._settings.head_timeout)
        self._head_size += len(data)
        super().data_received(data)
        if not self._in_body and self._head_size > MAX_HEAD:
            self.send_400_response(f"The head is larger than {MAX_HEAD // 1024} KiB.")

    def on_message_begin(self) -> None:
        """Wait for the head of a request."""
        super().on_message_begin()
        self._wait(self._settings.head_timeout)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header of the head; a trailer after the body is none."""
        if not self._in_body:
            # The parser leaves the spaces and tabs behind a value (RFC 9110, 5.5).
            super().on_header(name, value.rstrip(b" \t"))

    def on_headers_complete(self) -> None:
        """Wait for the body; reject a head that leaves open where the body ends."""
        codings = [value.lower() for name, value in self.headers if name == b"transfer-encoding"]
        if codings and (codings != [b"chunked"] or self.parser.get_http_version() != "1.1"):
            raise ValueError
        super().on_headers_complete()
        self._in_body, self._head_size = True, 0
        self._wait(self._settings.body_timeout)

    def on_message_complete(self) -> None:
        """Let the app work without a deadline; after its answer, wait for the next request."""
        super().on_message_complete()
        self._in_body, self._head_size = False, 0
        self._wait(self._settings.idle_timeout if self.cycle.response_complete else None)

    def pause_writing(self) -> None:
        """Wait until the client reads."""
        super().pause_writing()
        timeout_s = self._settings.body_timeout
        self._read_deadline = self.loop.call_later(timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Continue to write."""
        super().resume_writing()
        if self._read_deadline is not None:
            self._read_deadline.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop both timers."""
        self._wait(None)
        super().connection_lost(exc)
        if self._read_deadline is not None:
            self._read_deadline.cancel()

    def send_400_response(self, msg: str) -> None:
        """Reject an unreadable request, and close: the bytes after it may belong to its body."""
        self._reject(HTTPStatus.BAD_REQUEST, "malformed_request", msg)

    def _wait(self, timeout_s: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if timeout_s is None else self.loop.call_later(timeout_s, self._cut)

    def _cut(self) -> None:
        """Close the connection, unless an earlier request of it is being answered."""
        cycle: RequestResponseCycle | None = self.cycle
        works = cycle is not None and not cycle.response_complete and not cycle.more_body
        if works or self.pipeline:
            self._wait(self._settings.body_timeout)
        elif self._in_body or self._head_size:
            detail = "The request did not come in time."
            self._reject(HTTPStatus.REQUEST_TIMEOUT, "too_slow", detail)
        else:
            self.transport.close()

    def _reject(self, status: HTTPStatus, code: str, detail: str) -> None:
        """Answer with a problem if no answer has begun, detach the app, and close."""
        cycle: RequestResponseCycle | None = self.cycle
        begun = self._in_body and cycle is not None and cycle.response_started
        if cycle is not None:
            cycle.disconnected = True
            cycle.message_event.set()
        if not begun:
            body = json.dumps(problem(status, code, detail)).encode()
            self.transport.write(
                b"HTTP/1.1 %d %s\r\ncontent-type: application/problem+json\r\n"
                b"content-length: %d\r\nconnection: close\r\n\r\n%s"
                % (status, status.phrase.encode(), len(body), body)
            )
        self.transport.close()


class InFlight:
    """An ASGI app that counts the requests in flight that may change something in another app."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._ending = asyncio.Event()
        self._changed = asyncio.Event()
        self.number = 0
        """The number of requests in flight, without those that only read."""

    @property
    def words(self) -> str:
        """The number in words."""
        return "1 call" if self.number == 1 else f"{self.number} calls"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Count a request and pass it on; deny it if the server is ending."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD"}:
            await self._app(scope, receive, send)
            return
        if self._ending.is_set():
            await _end(HTTPStatus.SERVICE_UNAVAILABLE, "ending", ENDING, send)
            return
        self.number += 1
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            if not self._ending.is_set():
                raise
            # A server accepts no second beginning of an answer.
            with suppress(RuntimeError):
                await _end(HTTPStatus.INTERNAL_SERVER_ERROR, "cut_off", CUT_OFF, send)
        finally:
            self.number -= 1
            self._changed.set()

    async def wait_end(self, timeout_s: float) -> None:
        """Deny new requests, and wait at most `timeout_s` seconds for those in flight to end."""
        self._ending.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self.number:
                    self._changed.clear()
                    await self._changed.wait()


async def _end(status: HTTPStatus, code: str, detail: str, send: Any) -> None:
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"connection", b"close"),  # the next request goes to another server
    ]
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers.append((b"retry-after", b"5"))
    body = json.dumps(problem(status, code, detail)).encode()
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


ENDING = "The server is shutting down: requests in flight finish, new ones are denied."
CUT_OFF = "The server ended before this request did; it may have taken effect all the same."


class Drain(NamedTuple):
    """The functions that a server calls when it ends."""

    begin: Callable[[], None] = lambda: None
    """Called at the signal: ends the streams that would never end."""
    stop: Callable[[float], Coroutine[Any, Any, None]] = lambda _: asyncio.sleep(0)
    """Stops other work than requests within a time in seconds."""
    tell: Callable[[str], None] = lambda _: None
    """Shows what the server waits for."""
    by_parent: bool = False
    """Whether a parent process ends this one at a second signal: this one then ignores it."""


NO_DRAIN = Drain()
"""Waits for requests alone."""


async def serve(
    app: Any, listening: socket.socket, *, settings: ServeSettings, drain: Drain = NO_DRAIN
) -> None:
    """Serve until SIGINT or SIGTERM, let the calls in flight finish, and return.

    After SIGTERM, new requests are answered for the grace of the settings. A second signal ends
    the process at once.

    Args:
        app: The ASGI app.
        listening: The bound socket.
        settings: The limits of the server.
        drain: The functions to call at the end.
    """
    server = HttpServer(app, listening, settings=settings, drain=drain)
    # An earlier Ctrl-C is raised here; within uvicorn it would be logged as a crash.
    await asyncio.sleep(0)
    await server.serve(sockets=[listening])


class HttpServer(uvicorn.Server):
    """A uvicorn server that limits its connections and waits for calls in flight when it ends."""

    def __init__(
        self,
        app: Any,
        listening: socket.socket,
        *,
        settings: ServeSettings,
        drain: Drain = NO_DRAIN,
    ) -> None:
        """Prepare to serve; the arguments are those of `serve`."""
        self._in_flight = InFlight(app)
        protocol = cast("Any", partial(DeadlineProtocol, settings=settings))
        config = uvicorn.Config(
            self._in_flight,
            http=protocol,
            # Errors of clients are answered to them; in the log, they could fill the disk.
            log_level="error",
            access_log=False,
            server_header=False,
            # Nothing reads the address of a client or the scheme, which they would change.
            proxy_headers=False,
            timeout_keep_alive=settings.idle_timeout,
            timeout_graceful_shutdown=CLOSE_S,
            limit_concurrency=settings.max_connections,
            ws="none",
            lifespan="on",
        )
        super().__init__(config)
        self._settings = settings
        self._listening = listening
        self._drain = drain
        self._draining: asyncio.Task[None] | None = None
        self._ending = False

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal."""
        self._loop = asyncio.get_running_loop()
        await super().serve(sockets or [self._listening])

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Start to end on the first signal; end at once on the second, unless the parent does."""
        del frame
        if self._ending and self._drain.by_parent:
            return
        if self._ending:
            # The signal may interrupt a write to the same stream, so this message may fail. All
            # state is written in transactions, so none is half-written.
            try:
                self._drain.tell("ended at once; calls in flight were cut off")
            finally:
                os._exit(FORCED)
        self._ending = True
        grace_s = 0.0 if sig == signal.SIGINT else self._settings.drain_grace
        self._loop.call_soon_threadsafe(self._begin, grace_s)

    def _begin(self, grace_s: float) -> None:
        self._draining = self._loop.create_task(self._end(grace_s))

    async def _end(self, grace_s: float) -> None:
        drain, flights, limit_s = self._drain, self._in_flight, self._settings.drain_timeout
        drain.begin()
        if grace_s:
            drain.tell(f"answers new requests for {grace_s:g} s; a second signal ends at once")
            await asyncio.sleep(grace_s)
        for server in self.servers:
            server.close()
        if flights.number:
            drain.tell(f"waiting for {flights.words} to finish; a second signal ends at once")
        await asyncio.gather(flights.wait_end(limit_s), drain.stop(limit_s))
        if flights.number:
            drain.tell(f"{flights.words} did not finish within {limit_s:g} s, and will be cut off")
        self.should_exit = True
