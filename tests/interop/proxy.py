"""A proxy that adds the token for checkers that can't send one; the server stays strict."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Self

LONGEST_HEAD = 64 * 1024


class TokenProxy:
    """Hands every request on with the token, and its answer back as it comes.

    Nothing else is changed, Host and Origin least of all: the server checks them.
    """

    def __init__(self, token: str) -> None:
        """Listen at once on a free port, so that the server can be told of it."""
        self._added = b"Authorization: Bearer %b\r\nConnection: close\r\n" % token.encode()
        self._loop = asyncio.new_event_loop()
        self._server_port = 0
        self._listening = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, limit=LONGEST_HEAD)
        )
        self.port: int = self._listening.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(timeout=10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()

    def hand_to(self, port: int) -> None:
        """Set the port of the server on this machine."""
        self._server_port = port

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection with one request: the added header closes it after the answer."""
        with _closed(writer), contextlib.suppress(OSError, asyncio.IncompleteReadError):
            first, _, headers = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")
            kept = b"\r\n".join(
                line
                for line in headers.split(b"\r\n")
                if not line.lower().startswith((b"connection:", b"authorization:"))
            )
            to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
            with _closed(to_server[1]):
                to_server[1].write(first + b"\r\n" + self._added + kept)
                ways = (_pump(reader, to_server[1]), _pump(to_server[0], writer))
                both = [asyncio.ensure_future(way) for way in ways]
                # Whoever hangs up first ends the exchange: a stream that nobody reads is over.
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
                for way in both:
                    way.cancel()

    async def _end(self) -> None:
        self._listening.close()
        open_still = asyncio.all_tasks() - {asyncio.current_task()}
        for task in open_still:
            task.cancel()
        await asyncio.gather(*open_still, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(LONGEST_HEAD):
            writer.write(data)
            await writer.drain()


@contextlib.contextmanager
def _closed(writer: asyncio.StreamWriter) -> Iterator[None]:
    try:
        yield
    finally:
        writer.close()
