"""One connection to a server, and the tools that the server lists."""

import asyncio
import json
import logging
import math
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from weakref import WeakSet

from toolmd._gateway import CLOSED, NoSdkError, NotStartedError
from toolmd._gateway.answers import KINDS, LEFT_OUT
from toolmd._gateway.pins import canonical
from toolmd._gateway.stdio import MAX_LINE, MAX_SHOWN, ServerProcess, run_server, telling
from toolmd._types.settings import ServerSettings
from toolmd.config.services import CALLER, filled, needed_variables, secret_values
from toolmd.errors import NO_MCP_SDK

MOST_TOOLS = 5_000
"""The most tools that a server may list."""
_LIST = "tools/list"
_CHANGED = "notifications/tools/list_changed"


class Tap:
    """Watches the messages of one session."""

    def __init__(self, changed: Callable[[], None]) -> None:
        """Keep what is called at once where the server tells that its tools changed."""
        self._changed = changed
        self.page: list[Any] = []
        """The tools of the page that was answered last, as the server wrote them."""
        self.cursor: str | None = None
        """The cursor of the next page."""
        self._asked: set[Any] = set()

    def reset(self) -> None:
        """Forget the page that was answered last."""
        self.page, self.cursor = [], None

    def sent(self, item: Any) -> None:
        """Note a message to the server."""
        if getattr(item.message, "method", None) == _LIST and hasattr(item.message, "id"):
            self._asked.add(item.message.id)

    def received(self, item: Any) -> Any:
        """Return a message of the server for the client."""
        message: Any = getattr(item, "message", None)
        if getattr(message, "method", None) == _CHANGED:
            self._changed()
        number = getattr(message, "id", None)
        if not self._asked or number not in self._asked:
            _leave_out_unknown(message)
            return item
        self._asked.discard(number)
        result = getattr(message, "result", None)
        if not isinstance(result, Mapping):
            return item
        tools = result.get("tools")
        # One more than there may be shows that there are too many.
        self.page = tools[: MOST_TOOLS + 1] if isinstance(tools, list) else []
        cursor = result.get("nextCursor")
        self.cursor = cursor if isinstance(cursor, str) else None
        message.result = {
            **result,
            "tools": [_reduced(tool) for tool in self.page if _has_name(tool)],
        }
        return item


class Stream:
    """The messages of one session in one direction, as the client of the protocol takes them."""

    def __init__(
        self, pass_on: Callable[..., Awaitable[Any]], closed: Callable[[], object] = lambda: None
    ) -> None:
        """Keep what returns the next message or sends one, and what a close calls.

        The client closes a stream also where it failed. The session closes the connection.
        """
        self._pass_on = pass_on
        self._closed = closed

    async def send(self, item: Any) -> None:
        """Send a message."""
        await self._pass_on(item)

    async def aclose(self) -> None:
        """Note that the client needs the stream no more."""
        self._closed()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return await self._pass_on()

    receive = __anext__

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()


def _leave_out_unknown(message: Any) -> None:
    """Remove the content of unknown kinds from a result, which could not be read because of it."""
    result = getattr(message, "result", None)
    content = result.get("content") if isinstance(result, Mapping) else None
    if not isinstance(result, Mapping) or not isinstance(content, list):
        return
    kinds = [
        str(one.get("type", "text") if isinstance(one, Mapping) else "text")[:100]
        for one in content
    ]
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        known = [one for one, kind in zip(content, kinds, strict=True) if kind in KINDS]
        meta = result.get("_meta")
        about = {**(meta if isinstance(meta, Mapping) else {}), LEFT_OUT: unknown}
        message.result = {**result, "content": known, "_meta": about}


def _has_name(tool: Any) -> bool:
    return isinstance(tool, Mapping) and isinstance(tool.get("name"), str)


def _reduced(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool by its name and arguments, which may name headers."""
    schema = tool.get("inputSchema")
    shown = {**schema, "type": "object"} if isinstance(schema, Mapping) else {"type": "object"}
    return {"name": tool["name"], "inputSchema": shown}


REFRESH_S = 3.0
"""How long a list of tools is trusted: not every server tells that it changed."""
_MOST_PAGES = 100
_MOST_BYTES = 24 << 20
"""The most bytes of the pages before the last one."""
_LISTENS_SINCE = "2026-07-28"
"""The version of the protocol from which on a client asks for notices of changed tools."""
_PAUSE_S = 1.0
"""The least time between two lists that a server's notices ask for."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Listing:
    """The tools of a server."""

    definitions: Mapping[str, str]
    """The canonical JSON of each tool by its name; a name that stands twice is left out."""
    raw: tuple[Mapping[str, Any], ...]
    """The tools as the server wrote them."""
    noted: WeakSet[Any] = field(default_factory=WeakSet)
    """The stores in which it is noted."""

    @classmethod
    def of(cls, raw: list[Any]) -> "Listing":
        """Return the tools of all pages of a list; what has no name is left out."""
        tools = [
            tool for tool in raw if isinstance(tool, Mapping) and isinstance(tool.get("name"), str)
        ]
        times = Counter(tool["name"] for tool in tools)
        whole = {tool["name"]: canonical(tool) for tool in tools if times[tool["name"]] == 1}
        return cls(whole, tuple(tools))


class ToolList:
    """The list of one session's tools."""

    def __init__(self, seconds: float) -> None:
        """Keep how long reading the list may take."""
        self.tap = Tap(self._changed)
        """Keeps the tools as the server writes them; the session's streams pass through it."""
        self.seen: Callable[[Listing], object] | None = None
        """Is called in a thread with a list that was read after a notice of the server."""
        self._seconds = seconds
        self._client: Any = None
        self._listing: Listing | None = None
        """The list that was read last."""
        self._since = -math.inf
        """When it was read; a notice of the server makes it old."""
        self._notices = 0
        self._lock = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._reading: asyncio.Task[None] | None = None

    async def begin(self, client: Any) -> None:
        """Read the list of a client that is connected, and wait for notices from now on."""
        self._client = client
        await self.get()
        offered = client.server_capabilities.tools
        if client.protocol_version >= _LISTENS_SINCE and offered and offered.list_changed:
            self._start(self._listen())

    def end(self) -> None:
        """Wait for notices no more."""
        for task in self._tasks:
            task.cancel()

    @property
    def known(self) -> Listing | None:
        """The list that was read last, unless it is old or changed."""
        return None if time.monotonic() - self._since > REFRESH_S else self._listing

    async def get(self) -> Listing:
        """Return the server's tools; a list that is old or changed is read again.

        A list that says the same as the last one is the same object.
        """
        async with self._lock:
            listing, last = self.known, self._listing
            if listing is None:
                notices = self._notices
                async with asyncio.timeout(self._seconds):
                    listing = await self._read()
                if last is not None and last.definitions == listing.definitions:
                    listing = last
                self._listing = listing
                if notices == self._notices:
                    self._since = time.monotonic()
            return listing

    def _changed(self) -> None:
        self._notices += 1
        self._since = -math.inf
        if self._client is not None and (self._reading is None or self._reading.done()):
            self._reading = self._start(self._read_again())

    def _start(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _read_again(self) -> None:
        try:
            while self.known is None:
                listing = await self.get()
                if self.seen is not None:
                    await asyncio.to_thread(self.seen, listing)
                await asyncio.sleep(_PAUSE_S)
        except Exception as error:  # noqa: BLE001 - the next call reads the list, and reports it
            _log.info("the changed tools of a server could not be read: %s", type(error).__name__)

    async def _listen(self) -> None:
        """Wait for the notices of the protocol that sends them only on demand."""
        try:
            async with self._client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._changed()
        except Exception as error:  # noqa: BLE001 - the list is read again in any case, later
            _log.info("a server sends no notices of changed tools: %s", type(error).__name__)

    async def _read(self) -> Listing:
        """Read all pages; a server whose pages never end is an error."""
        from mcp_types import PaginatedRequestParams
        from pydantic import ValidationError

        raw: list[Any] = []
        cursors: set[str] = set()
        size = 0
        params = None
        while True:
            self.tap.reset()
            # The tap keeps what the server wrote, even where the client can't read the page.
            with suppress(ValidationError):
                await self._client.session.list_tools(params=params)
            raw += self.tap.page
            if len(raw) > MOST_TOOLS:
                raise ValueError(f"it lists more than {MOST_TOOLS:,} tools")
            cursor: str | None = self.tap.cursor
            if cursor is None:
                return Listing.of(raw)
            size += len(json.dumps(self.tap.page))
            if cursor in cursors or len(cursors) >= _MOST_PAGES or size > _MOST_BYTES:
                raise ValueError("its list of tools does not end")
            cursors.add(cursor)
            params = PaginatedRequestParams(cursor=cursor)


_END_S = 2.0


class Connection:
    """A connection, and the client of the protocol that uses it."""

    def __init__(
        self, server: ServerSettings, folder: Path, ask: Any, user: str | None = None
    ) -> None:
        """Keep a server's table, the project's folder, who is asked, and the session's user."""
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
        self._environ: Mapping[str, str] = {**os.environ, CALLER: user or ""}

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
        try:
            from mcp import Client
        except ImportError as error:
            raise NoSdkError(NO_MCP_SDK.format(error)) from error
        lacking = [name for name in needed_variables(self._server) if not os.environ.get(name)]
        if lacking:
            raise NotStartedError(f"the environment variable {', '.join(lacking)} is not set")
        self._secrets = secret_values(self._server, self._environ)
        transport = self._process_streams() if self._server.command else self._http()
        async with Client(
            transport, mode="auto", cache=None, elicitation_callback=self._ask
        ) as client:
            yield client

    @asynccontextmanager
    async def _process_streams(self) -> AsyncIterator[Any]:
        env = {key: filled(text, self._environ) for key, text in self._server.env.items()}
        async with run_server(self._server.command, env, self._folder) as server:
            self.process = server
            yield self._taps(server.receive, server.send)

    @asynccontextmanager
    async def _http(self) -> AsyncIterator[Any]:
        from mcp.client.streamable_http import streamable_http_client

        from toolmd._gateway.bounded import open_bounded_client

        headers = {}
        for key, text in self._server.headers.items():
            try:
                # As bytes, because the client rejects a text that is not ASCII.
                headers[key.encode()] = filled(text, self._environ).encode()
            except UnicodeEncodeError:
                reason = f"the value of the header {key} can't be encoded as UTF-8"
                raise NotStartedError(reason) from None
        async with (
            open_bounded_client(self._server.url, headers, MAX_LINE) as client,
            streamable_http_client(
                self._server.url, http_client=client, max_sse_event_size=MAX_LINE
            ) as (read, write),
        ):
            yield self._taps(read.__anext__, write.send)

    def _taps(self, receive: Any, send: Any) -> tuple[Stream, Stream]:
        tap = self.tools.tap

        async def read() -> Any:
            return tap.received(await receive())

        async def write(item: Any) -> None:
            tap.sent(item)
            await send(item)

        return Stream(read, self._unread.set), Stream(write)

    async def _give_up(self, error: BaseException) -> None:
        await self.close()
        if isinstance(error, NoSdkError):
            raise error
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
