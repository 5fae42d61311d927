"""One connection to a server: a task of its own opens, keeps and closes it."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from toolmd._remote.mcp.error import CLOSED, NotStartedError
from toolmd._remote.mcp.listing import ToolList
from toolmd._remote.mcp.stdio import MAX_LINE, MAX_SHOWN, ServerProcess, run_server, telling
from toolmd._remote.mcp.tap import ReadTap, WriteTap
from toolmd._types.settings import ServerSettings
from toolmd.config.servers import needed_variables, secret_values
from toolmd.config.services import filled

_END_S = 2.0


class Connection:
    """A connection, and the client of the protocol that uses it."""

    def __init__(self, server: ServerSettings, folder: Path, ask: Any) -> None:
        """Keep the table of a server, the project's folder, and the callback for its questions."""
        self.tools = ToolList(server.start_timeout)
        """The tools that the server lists."""
        self.client: Any = None
        """The client of the protocol, once it is connected."""
        self.process: ServerProcess | None = None
        """The server's process, if it is one of this machine."""
        self.loop: asyncio.AbstractEventLoop
        """The event loop in which it was opened."""
        self._server = server
        self._folder = folder
        self._ask = ask
        self._stop = asyncio.Event()
        self._unread = asyncio.Event()
        """Set once the client reads no more messages: a server may make it fail."""
        self._task: asyncio.Task[None] | None = None
        self._is_ready = False
        self._is_closed = False
        self._secrets: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Return whether messages can be sent."""
        if self.client is None or self._is_closed or self._unread.is_set():
            return False
        return self.process is None or self.process.is_alive

    def hide(self, text: str) -> str:
        """Return a text without the values of the table's variables."""
        for secret in self._secrets:
            text = text.replace(secret, "[hidden]")
        return text

    async def open(self) -> None:
        """Start the server and list its tools; raises NotStartedError with the reason."""
        self.loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = self.loop.create_future()
        self._task = asyncio.create_task(self._own(ready))
        try:
            async with asyncio.timeout(self._server.start_timeout):
                await asyncio.shield(ready)
        except TimeoutError:
            said = f"it did not answer within {self._server.start_timeout:g} s"
            if self._server.command:
                said += "; run its command once by hand, in case it is still being downloaded"
            await self._give_up(NotStartedError(said))
        except asyncio.CancelledError:
            await self.close()
            raise
        except Exception as error:  # noqa: BLE001 - whatever the client raises
            await self._give_up(error)

    def forget(self) -> None:
        """Send no more messages: the server has forgotten the session."""
        self._is_closed = True

    async def close(self) -> None:
        """Close the session and end the server's process, before the event loop may close."""
        self._is_closed = True
        self._stop.set()
        if self._task is not None:
            if not self._is_ready:
                # It waits for its server, and would not notice.
                self._task.cancel()
            for _ in range(2):
                await asyncio.wait([self._task], timeout=3 * _END_S)
                self._task.cancel()

    async def _own(self, ready: "asyncio.Future[None]") -> None:
        try:
            async with AsyncExitStack() as stack:
                self.client = await stack.enter_async_context(self._connected())
                await self.tools.begin(self.client)
                self._is_ready = True
                if not ready.done():
                    ready.set_result(None)
                await self._until_end()
        except BaseException as error:  # noqa: BLE001 - `open` reports it
            if not ready.done():
                ready.set_exception(
                    error if isinstance(error, Exception) else RuntimeError("it was cancelled")
                )
                # Nobody may wait for it any more, and asyncio would log it then.
                ready.exception()
        finally:
            self._is_closed = True

    async def _until_end(self) -> None:
        """Wait until the session is closed, its client fails, or its process ends."""
        waits = [asyncio.create_task(one.wait()) for one in (self._stop, self._unread)]
        if self.process is not None:
            waits.append(asyncio.create_task(self.process.ended.wait()))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            self.tools.end()

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Any]:
        from mcp import Client

        lacking = [name for name in needed_variables(self._server) if not os.environ.get(name)]
        if lacking:
            raise NotStartedError(f"the environment variable {', '.join(lacking)} is not set")
        self._secrets = secret_values(self._server, os.environ)
        transport = self._process_streams() if self._server.command else self._http()
        async with Client(
            transport, mode="auto", cache=None, elicitation_callback=self._ask
        ) as client:
            yield client

    @asynccontextmanager
    async def _process_streams(self) -> AsyncIterator[Any]:
        env = {key: filled(text, os.environ) for key, text in self._server.env.items()}
        async with run_server(self._server.command, env, self._folder) as server:
            self.process = server
            yield self._taps(server.receive, server.send)

    @asynccontextmanager
    async def _http(self) -> AsyncIterator[Any]:
        from mcp.client.streamable_http import streamable_http_client

        from toolmd._remote.mcp.bounded import open_bounded_client

        headers = {key: filled(text, os.environ) for key, text in self._server.headers.items()}
        async with (
            open_bounded_client(self._server.url, headers, MAX_LINE) as client,
            streamable_http_client(
                self._server.url, http_client=client, max_sse_event_size=MAX_LINE
            ) as (read, write),
        ):
            yield self._taps(read.__anext__, write.send)

    def _taps(self, receive: Any, send: Any) -> tuple[ReadTap, WriteTap]:
        tap = self.tools.tap
        return ReadTap(receive, tap, self._unread.set), WriteTap(send, tap)

    async def _give_up(self, error: BaseException) -> None:
        await self.close()
        told = self.hide(self.process.errors) if self.process is not None else ""
        ending = telling(told)
        said = self.hide(self.reason_of(error))[:MAX_SHOWN]
        raise NotStartedError(f"{said}; its stderr says: {ending}" if ending else said)

    def reason_of(self, error: BaseException) -> str:
        """Return why the client raised an error, in words."""
        while isinstance(error, BaseExceptionGroup) and error.exceptions:
            error = error.exceptions[0]
        code = getattr(getattr(error, "error", None), "code", None)
        if code == CLOSED and self.process is not None:
            return self.reason()
        if isinstance(error, NotStartedError):
            return str(error)
        if isinstance(error, TimeoutError):
            return f"it did not answer within {self._server.start_timeout:g} s"
        if said := getattr(getattr(error, "error", None), "message", ""):
            return str(said)
        return f"{type(error).__name__}: {error}".rstrip(": ")

    def reason(self) -> str:
        """Return why the connection ended."""
        if self.process is None:
            return "the connection was closed"
        if self.process.problem:
            return self.process.problem
        code = self.process.process.returncode
        return "its process ended" if code is None else f"its process ended with exit code {code}"
