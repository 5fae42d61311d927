"""Handle one HTTP connection: strict framing, and a deadline for everything its client sends."""

import asyncio
import contextlib
import json
from http import HTTPStatus
from typing import Any

import httptools
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from toolmd._auth.authentication import CALLER
from toolmd._auth.capacity import Capacity
from toolmd._auth.framing import HEAD_END, MAX_HEAD, framing
from toolmd._auth.phase import WAITING, Phase
from toolmd._types.settings import ServeSettings

CLOSE_S = 5.0
"""The time for the last bytes to leave before the connection is cut, in seconds."""


class Connection(HttpToolsProtocol):
    """The uvicorn protocol, with strict framing, and deadlines for all that a client does.

    The parser gets one request at a time: what follows it stays here until it is answered.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        *,
        settings: ServeSettings,
        capacity: Capacity,
    ) -> None:
        super().__init__(config, server_state, app_state)
        self._capacity = capacity
        self._limits: dict[Phase, float] = {
            Phase.HEAD: settings.head_timeout,
            Phase.IDLE: settings.idle_timeout,
            Phase.BODY: settings.body_timeout,
            Phase.STALLED: settings.body_timeout,
            Phase.CLOSING: CLOSE_S,
        }
        self._unread = b""
        """Bytes that the parser has not got."""
        self._checked = False
        """Whether the parser may begin a request."""
        self._in_body = False
        self._left: int | None = 0
        """The bytes of the body that are to come; None if it comes in chunks."""
        self._loose = 0
        """Bytes since the last chunk began that are not of its data."""
        self._known = False
        self._at: tuple[Phase, Any] | None = None
        """The phase, and the request that it belongs to."""
        self._due: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def known(self) -> bool:
        """Whether a request on this connection had a valid token."""
        if not self._known and self.scope is not None:
            self._known = CALLER in self.scope["state"]
        return self._known

    @property
    def between(self) -> bool:
        """Whether the connection is between two requests."""
        return self._at is not None and self._at[0] in {Phase.HEAD, Phase.IDLE}

    def give_up(self) -> None:
        """Close the connection to make room for another."""
        # uvloop sends an answer at the end of a turn, and this one may have written it.
        self.loop.call_soon(self._close_or_cut)

    def _close_or_cut(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request."""
        super().connection_made(transport)
        self._enter()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection and stop its timer."""
        self._capacity.remove(self)
        self._due = None
        self._unread = b""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read incoming bytes."""
        self._unread = self._unread + data if self._unread else data
        self._read()
        self._enter()

    def _read(self) -> None:
        """Pass bytes on to the parser, up to the end of a request that is not answered."""
        try:
            while self._unread and not self.transport.is_closing():
                if self._in_body:
                    self._feed_body()
                elif self._is_answering:
                    self.flow.pause_reading()
                    return
                elif not self._feed_head():
                    return
        except httptools.HttpParserError:
            self.send_400_response("Invalid HTTP request received.")

    @property
    def _is_answering(self) -> bool:
        """Whether a request has no whole answer yet."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _feed_head(self) -> bool:
        """Pass a head on to the parser; return whether it was there and unambiguous."""
        found = HEAD_END.search(self._unread)
        end = found.end() if found else len(self._unread)
        if end > MAX_HEAD:
            self.send_400_response(f"The head is larger than {MAX_HEAD // 1024} KiB.")
            return False
        if not found:
            return False
        problem, self._left = framing(self._unread[:end])
        before, self._loose = self.cycle, 0
        if not problem:
            self._checked = True
            self._feed(end)
            if self.cycle is not before:
                return True
        self.send_400_response(problem or "Invalid HTTP request received.")
        return False

    def _feed_body(self) -> None:
        if self._left is not None:
            self._feed(min(self._left, len(self._unread)))
            return
        self._loose += len(self._unread)
        try:
            self._feed(len(self._unread))
        except httptools.HttpParserError:
            if self._in_body:
                raise
            # Only the parser knows where chunks end. A request in the same bytes is not read, and
            # its client sends it again, as it must when a connection closes.
            self.cycle.keep_alive = False
            if self.cycle.response_complete:
                self.transport.close()
        if self._in_body and self._loose > MAX_HEAD:
            self.send_400_response("The head of a chunk, or the trailers, are too large.")

    def _feed(self, size: int) -> None:
        fed, self._unread = self._unread[:size], self._unread[size:]
        with contextlib.suppress(httptools.HttpParserUpgrade):
            self.parser.feed_data(fed)

    def on_message_begin(self) -> None:
        """Begin to read a request whose head was checked."""
        checked, self._checked = self._checked, False
        if not checked:
            raise ValueError
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Start the app, and read the body."""
        super().on_headers_complete()
        self._in_body = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header of the head; a trailer after the body is ignored."""
        if self._in_body:
            return
        # The parser leaves the spaces and tabs behind a value, which are not of it (RFC 9110, 5.5).
        name, value = name.lower(), value.rstrip(b" \t")
        if name == b"expect":
            super().on_header(name, value)
        else:
            self.headers.append((name, value))

    def on_chunk_header(self) -> None:
        """Begin to count what is not data."""
        self._loose = 0

    def on_body(self, body: bytes) -> None:
        """Read a part of the body."""
        self._loose -= len(body)
        if self._left is not None:
            self._left -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop to read until the answer is complete."""
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Read the next request."""
        self._known = self.known
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
            self._read()
        self._enter()

    def pause_writing(self) -> None:
        """Wait until the client reads."""
        super().pause_writing()
        self._enter()

    def resume_writing(self) -> None:
        """Continue to write."""
        super().resume_writing()
        self._enter()

    def send_400_response(self, msg: str) -> None:
        """Reject an unreadable request, and close: the bytes after it may belong to its body."""
        self._reject(HTTPStatus.BAD_REQUEST, "malformed_request", msg)

    def _reject(self, status: HTTPStatus, code: str, detail: str) -> None:
        """Answer with a problem if no answer has begun, detach the app, and close."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None:
            cycle.disconnected = True
            cycle.message_event.set()
        begun = cycle is not None and cycle.response_started
        if not begun or not (self._in_body or self._is_answering):
            problem = {"type": "about:blank", "title": status.phrase, "status": status,
                       "detail": detail, "code": code}  # fmt: skip
            body = json.dumps(problem).encode()
            head = (
                b"HTTP/1.1 %d %s\r\ncontent-type: application/problem+json\r\n"
                b"content-length: %d\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head % (status, status.phrase.encode(), len(body)) + body)
        self.transport.close()

    def _enter(self) -> None:
        """Record the current phase and its deadline."""
        phase = self._phase()
        at = (phase, self.cycle)
        if at == self._at:
            return
        self._at = at
        if phase in WAITING:
            self._capacity.wait(self)
        else:
            self._capacity.work(self)
        limit = self._limits.get(phase)
        self._due = None if limit is None else self.loop.time() + limit
        self._arm()

    def _phase(self) -> Phase:
        if self.transport.is_closing():
            return Phase.CLOSING
        if self.flow.write_paused:
            return Phase.STALLED
        if self._in_body:
            return Phase.BODY
        if self._is_answering:
            return Phase.ANSWER
        fresh = self._at is None or self._at == (Phase.HEAD, None)
        return Phase.HEAD if fresh or self._unread else Phase.IDLE

    def _arm(self) -> None:
        """Start a timer that fires no later than the deadline."""
        if self._due is None or (self._timer is not None and self._timer.when() <= self._due):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_at(self._due, self._look)

    def _look(self) -> None:
        """Close the connection if its deadline has passed; otherwise set the timer again."""
        self._timer = None
        if self._due is None or self.loop.time() < self._due:
            self._arm()
            return
        assert self._at is not None
        match self._at[0]:
            case Phase.STALLED | Phase.CLOSING:
                self.transport.abort()
            case phase if phase is not Phase.BODY and not self._unread:
                self.transport.close()
            case phase:
                detail = f"{phase.value.capitalize()} did not come within {self._limits[phase]} s."
                self._reject(HTTPStatus.REQUEST_TIMEOUT, "too_slow", detail)
        self._enter()
