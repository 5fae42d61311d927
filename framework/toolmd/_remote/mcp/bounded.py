"""Open an HTTP client whose answers are bounded, and that stays at one origin."""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2


class _Bounded(httpx2.AsyncByteStream):
    """A body that fails once it is too long; a stream of events has a bound for each event."""

    def __init__(self, body: Any, most: int) -> None:
        self._body = body
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            size += len(chunk)
            if size > self._most:
                raise httpx2.ReadError(f"the server answered with more than {self._most:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        """Close the body."""
        await self._body.aclose()


class _OneOrigin(httpx2.AsyncHTTPTransport):
    """Sends requests to one origin only."""

    def __init__(self, url: str, most: int) -> None:
        super().__init__()
        self._origin = _origin(url)
        self._most = most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; raises ConnectError for another origin."""
        if _origin(str(request.url)) != self._origin:
            raise httpx2.ConnectError("the server leads to another host, which is not followed")
        response = await super().handle_async_request(request)
        kind = response.headers.get("content-type", "")
        if not kind.lower().startswith("text/event-stream"):
            response.stream = _Bounded(response.stream, self._most)
        return response


def open_bounded_client(url: str, headers: Mapping[str, str], most: int) -> httpx2.AsyncClient:
    """Return a client for the server at `url`, whose answers have at most `most` bytes each."""
    timeout = httpx2.Timeout(30.0, read=300.0)
    return httpx2.AsyncClient(
        transport=_OneOrigin(url, most), headers=dict(headers), timeout=timeout, trust_env=False
    )


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or default
