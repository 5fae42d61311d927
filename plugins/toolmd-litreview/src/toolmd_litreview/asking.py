"""Send a request with the call's own client, and classify its errors.

Temporary errors are raised as the client or Python names them (`httpx.TransportError`,
`httpx.HTTPStatusError` of 429, 502, 503 and 504, `ConnectionError`), since the runtime retries
those. Permanent ones are a ToolError that says what to do.
"""

from collections.abc import Mapping
from typing import Any

import httpx

from toolmd import ToolError

LARGEST = 64 * 1024 * 1024
"""Size limit of an unpacked answer in bytes: five hundred PubMed records take ten million."""
_PASSING = {429, 502, 503, 504}
_FAILED = 500
_GOOD = 200


class Server:
    """A server: its name for people, and the prefix of its error codes."""

    def __init__(self, name: str, code: str, largest: int = LARGEST) -> None:
        """Describe the server; `largest` is in bytes, unpacked."""
        self.name = name
        self.code = code
        self._largest = largest

    async def ask(
        self,
        http: Any,
        url: str,
        *,
        form: Mapping[str, str] | None = None,
        document: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Post a form or a JSON document and return the answer's body."""
        # The request is in the body: logs contain URLs, but must not contain keys.
        body = {"data": form} if document is None else {"json": document}
        try:
            async with http.stream("POST", url, headers=headers, **body) as response:
                answer = await self._read(response)
                self._check(response, answer)
        except httpx.DecodingError as error:
            raise self.garbled() from error
        return answer

    async def _read(self, response: httpx.Response) -> bytes:
        answer = bytearray()
        async for piece in response.aiter_bytes():
            answer += piece
            if len(answer) > self._largest:
                raise self.error("too_large", f"more than {self._largest:,} bytes; ask for less")
        return bytes(answer)

    def _check(self, response: httpx.Response, answer: bytes) -> None:
        status = response.status_code
        if status == _GOOD:
            return
        if status in _PASSING:
            response.raise_for_status()
        if status >= _FAILED and b"out of memory" in answer.lower():
            raise MemoryError(f"{self.name} ran out of memory")
        if status >= _FAILED:
            raise self.error("failed", f"status {status}; its operator must check it")
        message = f"status {status}; its address, its key or what was asked is wrong"
        raise self.error("refused", message)

    def garbled(self) -> ConnectionError:
        """Return the error for an unreadable answer, such as a gateway's page: it is temporary."""
        return ConnectionError(f"{self.name} sent an unreadable answer")

    def error(self, what: str, message: str) -> ToolError:
        """Return the error for a permanent failure."""
        return ToolError(f"{self.name} answered: {message}.", code=f"{self.code}_{what}")
