"""Serve an ASGI app on a bound socket until a signal, with deadlines for clients and a drain."""

import asyncio
import json
import os
import socket
from collections.abc import Callable, Coroutine
from functools import partial
from http import HTTPStatus
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from toolmd._auth.authentication import problem
from toolmd._types.settings import ServeSettings

BACKLOG = 128
"""The most connections that may wait to be accepted."""
FORCED = 130
"""The exit code when a second signal cuts calls off."""
MAX_HEAD = 64 * 1024
"""The most bytes of a request before its body."""
KEEP = -1.0
"""In place of seconds: the deadline stays."""


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


class Joined:
    """A transport that sends what is written in one turn of the loop at once.

    uvicorn writes head and body of an answer apart; each write would wake the client.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send bytes at the end of this turn."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Close the connection after what was written."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._parts:
            parts, self._parts = self._parts, []
            self._transport.write(b"".join(parts))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


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
        self._due: float | None = KEEP
        """The seconds that the client has for the rest, as the bytes so far decide; or KEEP."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first byte."""
        super().connection_made(cast("asyncio.Transport", Joined(transport, self.loop)))
        self._wait(self._settings.head_timeout)

    def data_received(self, data: bytes) -> None:
        """Read incoming bytes; a head may not be endless."""
        self._due = self._settings.head_timeout if self._deadline is None else KEEP
        self._head_size += len(data)
        super().data_received(data)
        # A request that came at once needs no timer.
        if self._due != KEEP:
            self._wait(self._due)
        if not self._in_body and self._head_size > MAX_HEAD:
            self.send_400_response(f"The head is larger than {MAX_HEAD // 1024} KiB.")

    def on_message_begin(self) -> None:
        """Wait for the head of a request."""
        super().on_message_begin()
        self._due = self._settings.head_timeout

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
        self._due = self._settings.body_timeout

    def on_message_complete(self) -> None:
        """Let the app work without a deadline; after its answer, wait for the next request."""
        super().on_message_complete()
        self._in_body, self._head_size = False, 0
        self._due = self._settings.idle_timeout if self.cycle.response_complete else None

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


async def serve(
    app: Any,
    listening: socket.socket,
    *,
    settings: ServeSettings,
    ending: Callable[[], Coroutine[Any, Any, None]] | None = None,
    is_worker: bool = False,
) -> None:
    """Serve until SIGINT or SIGTERM, let the requests in flight finish, and return.

    They have `serve.drain_timeout`. A second signal ends the process at once.

    Args:
        app: The ASGI app.
        listening: The bound socket.
        settings: The limits of the server.
        ending: Called at the signal; ends streams, and stops other work than requests.
        is_worker: Whether a parent process acts on a second signal.
    """
    server = HttpServer(app, settings=settings, ending=ending, is_worker=is_worker)
    # An earlier Ctrl-C is raised here; within uvicorn it would be logged as a crash.
    await asyncio.sleep(0)
    await server.serve(sockets=[listening])


class HttpServer(uvicorn.Server):
    """A uvicorn server that limits its connections and stops other work when it ends."""

    def __init__(
        self,
        app: Any,
        *,
        settings: ServeSettings,
        ending: Callable[[], Coroutine[Any, Any, None]] | None = None,
        is_worker: bool = False,
    ) -> None:
        """Prepare to serve; the arguments are those of `serve`."""
        protocol = cast("Any", partial(DeadlineProtocol, settings=settings))
        config = uvicorn.Config(
            app,
            http=protocol,
            # Errors of clients are answered to them; in the log, they could fill the disk.
            log_level="error",
            access_log=False,
            server_header=False,
            # Nothing reads the address of a client or the scheme, which they would change.
            proxy_headers=False,
            timeout_keep_alive=settings.idle_timeout,
            timeout_graceful_shutdown=cast("int", settings.drain_timeout),
            limit_concurrency=settings.max_connections,
            ws="none",
            lifespan="on",
        )
        super().__init__(config)
        self._ending = ending
        self._is_worker = is_worker

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Start to end on the first signal; end at once on the second, unless a parent does."""
        del sig, frame
        if self.should_exit and not self._is_worker:
            # All state is written in transactions, so none is half-written.
            os._exit(FORCED)
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop other work while the requests in flight finish."""
        stopping = asyncio.create_task(self._ending()) if self._ending is not None else None
        await super().shutdown(sockets)
        if stopping is not None:
            await stopping
