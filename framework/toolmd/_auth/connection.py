"""Handle one HTTP connection: strict framing, and a deadline for everything its client sends."""

import asyncio
import json
from enum import Enum
from http import HTTPStatus
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from toolmd._auth.authentication import CALLER
from toolmd._auth.capacity import Capacity
from toolmd._auth.framing import StrictConnection
from toolmd._types.settings import ServeSettings

CLOSE_S = 5.0
"""The time for the last bytes to leave before the connection is cut, in seconds."""


class Phase(Enum):
    """The event that a connection waits for."""

    HEAD = "the head of a request"
    IDLE = "the first byte of the next request"
    BODY = "the body of a request"
    ANSWER = "the answer of the app"
    STALLED = "its client to read"
    CLOSING = "its last bytes to leave"


WAITING = frozenset((Phase.HEAD, Phase.IDLE, Phase.BODY))


class Connection(H11Protocol):
    """The uvicorn protocol, with deadlines for head, body and reading; uvicorn closes idle ones."""

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
        self.conn = StrictConnection()
        self._capacity = capacity
        self._limits: dict[Phase, float] = {
            Phase.HEAD: settings.head_timeout,
            Phase.BODY: settings.body_timeout,
            Phase.STALLED: settings.body_timeout,
            Phase.CLOSING: CLOSE_S,
        }
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
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read incoming bytes."""
        super().data_received(data)
        self._enter()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._known = self.known
        super().on_response_complete()
        self._enter()

    def pause_writing(self) -> None:
        """Wait until the client reads."""
        super().pause_writing()
        self._enter()

    def resume_writing(self) -> None:
        """Continue to write."""
        super().resume_writing()
        self._enter()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that was idle for too long."""
        super().timeout_keep_alive_handler()
        self._enter()

    def send_400_response(self, msg: str) -> None:
        """Reject an unreadable request, and close: the bytes after it may belong to its body."""
        self._reject(HTTPStatus.BAD_REQUEST, "malformed_request", msg)

    def _reject(self, status: HTTPStatus, code: str, detail: str) -> None:
        """Answer with a problem if no answer has begun, detach the app, and close."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            problem = {"type": "about:blank", "title": status.phrase, "status": status,
                       "detail": detail, "code": code}  # fmt: skip
            body = json.dumps(problem).encode()
            headers = [
                ("content-type", "application/problem+json"),
                ("content-length", str(len(body))),
                ("connection", "close"),
            ]
            answer = (
                h11.Response(status_code=status, headers=headers, reason=status.phrase),
                h11.Data(data=body),
                h11.EndOfMessage(),
            )
            self.transport.write(b"".join(self.conn.send(part) or b"" for part in answer))
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
        if self.conn.their_state is h11.SEND_BODY:
            return Phase.BODY
        if self.conn.their_state is not h11.IDLE:
            return Phase.ANSWER
        fresh = self._at is None or self._at == (Phase.HEAD, None)
        return Phase.HEAD if fresh or self.conn.trailing_data[0] else Phase.IDLE

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
            case Phase.HEAD if not self.conn.trailing_data[0]:
                self.transport.close()
            case phase:
                detail = f"{phase.value.capitalize()} did not come within {self._limits[phase]} s."
                self._reject(HTTPStatus.REQUEST_TIMEOUT, "too_slow", detail)
        self._enter()
