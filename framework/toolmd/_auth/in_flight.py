"""Requests under way: let them end before the server does, and take no more meanwhile."""

import asyncio
import json
from typing import Any

_ENDING = json.dumps(
    {
        "type": "about:blank",
        "title": "Service Unavailable",
        "status": 503,
        "detail": "The server is ending: what was under way is finished, nothing new begins.",
        "code": "ending",
    }
).encode()


class InFlight:
    """An ASGI app that counts what is under way in another: what may change something."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._ending = False
        self._landed = asyncio.Event()
        self.number = 0
        """How many requests are under way, but for those that only read."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Count a request and hand it on, or refuse it at the end."""
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

    async def land(self, lock_retry_s: float) -> None:
        """Take no more, and wait until nothing is under way, at most `lock_retry_s` seconds."""
        self._ending = True
        try:
            async with asyncio.timeout(lock_retry_s):
                while self.number:
                    self._landed.clear()
                    await self._landed.wait()
        except TimeoutError:
            pass
