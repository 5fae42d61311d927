"""Let the requests in flight end before the server does, and deny new ones meanwhile."""

import asyncio
import json
from typing import Any

_ENDING = json.dumps(
    {
        "type": "about:blank",
        "title": "Service Unavailable",
        "status": 503,
        "detail": "The server is shutting down: requests in flight finish, new ones are denied.",
        "code": "ending",
    }
).encode()


class InFlight:
    """An ASGI app that counts the requests in flight that may change something in another app."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._ending = False
        self._landed = asyncio.Event()
        self.number = 0
        """The number of requests in flight, without those that only read."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Count a request and pass it on; deny it if the server is ending."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD"}:
            await self._app(scope, receive, send)
            return
        if self._ending:
            headers = [(b"content-type", b"application/problem+json"), (b"retry-after", b"5")]
            await send({"type": "http.response.start", "status": 503, "headers": headers})
            await send({"type": "http.response.body", "body": _ENDING})
            return
        self.number += 1
        try:
            await self._app(scope, receive, send)
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
