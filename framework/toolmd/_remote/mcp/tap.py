"""Keep the tools of `tools/list` as the server wrote them, and show the client what it needs.

The client of the protocol drops fields that it does not know, and all tools where one is malformed.
It would check results with patterns that may take for ever.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self

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


class ReadTap:
    """The stream of messages from a server, through a tap."""

    def __init__(
        self, receive: Callable[[], Awaitable[Any]], tap: Tap, unread: Callable[[], object]
    ) -> None:
        """Keep the tap, and what returns the next message or raises StopAsyncIteration.

        `unread` is called once the client reads no more, also where it failed.
        """
        self._receive = receive
        self._tap = tap
        self._unread = unread

    async def receive(self) -> Any:
        """Return the next message."""
        return await self.__anext__()

    async def aclose(self) -> None:
        """Note that the client reads no more: the session closes the connection."""
        self._unread()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._tap.received(await self._receive())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()


class WriteTap:
    """The stream of messages to a server, through a tap."""

    def __init__(self, send: Callable[[Any], Awaitable[None]], tap: Tap) -> None:
        """Keep the tap, and what sends a message."""
        self._send = send
        self._tap = tap

    async def send(self, item: Any) -> None:
        """Send a message."""
        self._tap.sent(item)
        await self._send(item)

    async def aclose(self) -> None:
        """Do nothing: the session closes the connection."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()


def _has_name(tool: Any) -> bool:
    return isinstance(tool, Mapping) and isinstance(tool.get("name"), str)


def _reduced(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool by its name and arguments, which may name headers."""
    schema = tool.get("inputSchema")
    shown = {**schema, "type": "object"} if isinstance(schema, Mapping) else {"type": "object"}
    return {"name": tool["name"], "inputSchema": shown}
