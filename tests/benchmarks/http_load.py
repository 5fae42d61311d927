"""A load of HTTP requests over kept-alive connections, from one process with raw streams.

The client does as little as it can, so that what is measured is the server.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import NamedTuple


class Answer(NamedTuple):
    """A response: its status, its headers with lower-case names, its body."""

    status: int
    headers: dict[str, str]
    body: bytes


class Connection:
    """One kept-alive connection to a port of this machine."""

    def __init__(self, port: int, headers: Mapping[str, str]) -> None:
        """Send `headers` with each request."""
        self.port = port
        self.headers = dict(headers)

    async def open(self) -> "Connection":
        """Connect."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    def request(self, path: str, body: bytes) -> bytes:
        """Return the bytes of a POST, to be sent any number of times."""
        lines = [f"POST {path} HTTP/1.1", f"host: 127.0.0.1:{self.port}"]
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join([*lines, "", ""]).encode() + body

    async def send(self, request: bytes) -> Answer:
        """Send a request and read its answer, of known length or in chunks."""
        self.writer.write(request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        headers = {}
        for line in filter(None, lines):
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        status = int(first.split()[1])
        if "chunked" in headers.get("transfer-encoding", ""):
            return Answer(status, headers, await self._chunks())
        length = int(headers.get("content-length", "0"))
        return Answer(status, headers, await self.reader.readexactly(length))

    async def _chunks(self) -> bytes:
        body = b""
        while size := int(await self.reader.readline(), 16):
            body += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readline()
        return body

    def close(self) -> None:
        """Close the connection."""
        self.writer.close()


async def load(connections, requests, seconds):
    """Send requests on all connections at once, each after the answer to its last.

    Args:
        connections: open ones; each is a client.
        requests: the bytes that each of them sends.
        seconds: how long.

    Returns:
        Answers a second. Raises if an answer names no booking.

    """
    until = time.perf_counter() + seconds

    async def client(connection, request):
        count = 0
        while time.perf_counter() < until:
            answer = await connection.send(request)
            if answer.status != 200 or b"book" not in answer.body:
                raise SystemExit(f"{answer.status}: {answer.body[:300]!r}")
            count += 1
        return count

    began = time.perf_counter()
    pairs = zip(connections, requests, strict=True)
    counts = await asyncio.gather(*(client(*pair) for pair in pairs))
    return sum(counts) / (time.perf_counter() - began)
