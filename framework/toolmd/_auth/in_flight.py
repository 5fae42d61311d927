"""Let the requests in flight end before the server does, and deny new ones meanwhile."""

import asyncio
import json
from contextlib import suppress
from http import HTTPStatus
from typing import Any


class InFlight:
    """An ASGI app that counts the requests in flight that may change something in another app."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._ending = False
        self._landed = asyncio.Event()
        self.number = 0
        """The number of requests in flight, without those that only read."""

    @property
    def told(self) -> str:
        """The number in words."""
        return "1 call" if self.number == 1 else f"{self.number} calls"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Count a request and pass it on; deny it if the server is ending."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD"}:
            await self._app(scope, receive, send)
        elif self._ending:
            await _answer(HTTPStatus.SERVICE_UNAVAILABLE, "ending", ENDING, send)
        else:
            await self._count(scope, receive, send)

    async def _count(self, scope: Any, receive: Any, send: Any) -> None:
        self.number += 1
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            if not self._ending:
                raise
            # A server accepts no second beginning of an answer.
            with suppress(RuntimeError):
                await _answer(HTTPStatus.INTERNAL_SERVER_ERROR, "cut_off", CUT_OFF, send)
        finally:
            self.number -= 1
            self._landed.set()

    async def land(self, timeout_s: float) -> None:
        """Deny new requests, and wait at most `timeout_s` seconds for those in flight to end."""
        self._ending = True
        try:
            async with asyncio.timeout(timeout_s):
                while self.number:
                    self._landed.clear()
                    await self._landed.wait()
        except TimeoutError:
            pass


async def _answer(status: HTTPStatus, code: str, detail: str, send: Any) -> None:
    problem = {
        "type": "about:blank", "title": status.phrase, "status": status, "detail": detail,
        "code": code,
    }  # fmt: skip
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"connection", b"close"),  # the next request goes to another server
    ]
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers.append((b"retry-after", b"5"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(problem).encode()})


ENDING = "The server is shutting down: requests in flight finish, new ones are denied."
CUT_OFF = "The server ended before this request did; it may have taken effect all the same."
