"""Open an HTTP client whose answers are bounded, and that stays at one origin."""

import json
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND

from toolmd._gateway import GONE
from toolmd._gateway.stdio import repair

_SESSION = "mcp-session-id"
"""The header that names the session of a request."""


class _Bounded(httpx2.AsyncByteStream):
    """A body that fails once it is too long; a stream of events fails for a line that is."""

    def __init__(self, body: Any, most: int, *, is_stream: bool) -> None:
        self._body = body
        self._most = most
        self._is_stream = is_stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, parts = 0, list[bytes]()
        async for chunk in self._body:
            # A stream of events is bounded line by line.
            size += len(chunk)
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                yield repair(b"".join([*parts, line])) + b"\n"
                parts, size = [], len(rest) if self._is_stream else size
            parts.append(rest)
            if size > self._most:
                raise httpx2.ReadError(f"the server answered with more than {self._most:,} bytes")
        yield repair(b"".join(parts))

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
        kind = response.headers.get("content-type", "").lower()
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            # A few compressed bytes can hold gigabytes; the request asked for none.
            await response.aclose()
            raise httpx2.ReadError("the server compressed its answer, which the request forbids")
        is_stream = kind.startswith("text/event-stream")
        response.stream = _Bounded(response.stream, self._most, is_stream=is_stream)
        return await _answer_of(request, response, kind)


async def _answer_of(
    request: httpx2.Request, response: httpx2.Response, kind: str
) -> httpx2.Response:
    """Return a response; one that answers no request becomes an error of the protocol.

    The client would not tell the status, and not whether the server may have begun.
    """
    status = response.status_code
    is_json = kind.startswith("application/json")
    is_known = response.is_redirect or (
        status == HTTPStatus.NOT_FOUND and _SESSION not in request.headers
    )
    is_answer = status == HTTPStatus.OK and (is_json or kind.startswith("text/event-stream"))
    if request.method != "POST" or is_known or is_answer:
        return response
    if json.loads(request.content).get("id") is None:
        return response
    body = await response.aread() if is_json else b""
    await response.aclose()
    said = _error_in(body)
    is_gone = _SESSION in request.headers and _names_no_session(status, said)
    if said is None or is_gone:
        # A proxy may answer so after the server has begun.
        is_lost = response.is_success or response.is_server_error
        code = GONE if is_gone else CONNECTION_CLOSED if is_lost else INTERNAL_ERROR
        error = {"code": code, "message": f"HTTP {status} {response.reason_phrase}".strip()}
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = {"content-type": "application/json"}
    status = max(status, HTTPStatus.BAD_REQUEST)
    return httpx2.Response(status, headers=headers, content=body, request=request)


def _names_no_session(status: int, said: tuple[int, str] | None) -> bool:
    """Return whether an answer says that the server does not know the session of a request."""
    code, words = said or (0, "")
    if code in {METHOD_NOT_FOUND, INVALID_PARAMS}:
        return False
    # Many servers answer with 400 and such words, though the protocol asks for 404.
    is_bad = status == HTTPStatus.BAD_REQUEST and "session" in words.casefold()
    return status == HTTPStatus.NOT_FOUND or is_bad


def _error_in(body: bytes) -> tuple[int, str] | None:
    """Return the code and the message of the server's own error; None where a body is none."""
    try:
        error = json.loads(body)["error"]
        code, words = error["code"], error["message"]
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    return (code, words) if isinstance(code, int) and isinstance(words, str) else None


def open_bounded_client(url: str, headers: Mapping[bytes, bytes], most: int) -> httpx2.AsyncClient:
    """Return a client for the server at `url`, whose answers have at most `most` bytes each."""
    timeout = httpx2.Timeout(30.0, read=300.0)
    return httpx2.AsyncClient(
        transport=_OneOrigin(url, most),
        headers={**headers, b"accept-encoding": b"identity"},
        timeout=timeout,
        trust_env=False,
    )


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or default
