"""The tools that a server lists, read again once it tells that they changed."""

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from toolmd._remote.mcp.definition import canonical
from toolmd._remote.mcp.tap import MOST_TOOLS, Tap

REFRESH_S = 300.0
"""How long a list of tools is trusted: not every server tells that it changed."""
_MOST_PAGES = 100
_MOST_BYTES = 24 << 20
"""The most bytes of the pages before the last one."""
_LISTENS_SINCE = "2026-07-28"
"""The version of the protocol from which on a client asks for notices of changed tools."""
_PAUSE_S = 1.0
"""The least time between two lists that a server's notices ask for."""

_log = logging.getLogger(__name__)


class Listing(NamedTuple):
    """The tools of a server."""

    definitions: Mapping[str, str]
    """The canonical JSON of each tool by its name; a name that stands twice is left out."""
    raw: tuple[Mapping[str, Any], ...]
    """The tools as the server wrote them."""
    since: float

    @classmethod
    def of(cls, raw: list[Any]) -> "Listing":
        """Return the tools of all pages of a list; what has no name is left out."""
        tools = [
            tool for tool in raw if isinstance(tool, Mapping) and isinstance(tool.get("name"), str)
        ]
        times = Counter(tool["name"] for tool in tools)
        whole = {tool["name"]: canonical(tool) for tool in tools if times[tool["name"]] == 1}
        return cls(whole, tuple(tools), time.monotonic())


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
        listing = self._listing
        return None if listing is None or time.monotonic() - listing.since > REFRESH_S else listing

    async def get(self) -> Listing:
        """Return the server's tools; a list that is old or changed is read again."""
        async with self._lock:
            listing = self.known
            if listing is None:
                self._listing, notices = None, self._notices
                async with asyncio.timeout(self._seconds):
                    listing = await self._read()
                if notices == self._notices:
                    self._listing = listing
            return listing

    def _changed(self) -> None:
        self._notices += 1
        self._listing = None
        if self._client is not None and (self._reading is None or self._reading.done()):
            self._reading = self._start(self._read_again())

    def _start(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _read_again(self) -> None:
        try:
            while self._listing is None:
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
