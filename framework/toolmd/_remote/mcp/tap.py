"""Keep the tools of `tools/list` as the server wrote them, and drop those that can't be read.

The client of the protocol drops fields that it does not know, and all tools where one is malformed.
"""

from collections.abc import Mapping
from typing import Any, Self

_LIST = "tools/list"


class Tap:
    """Watches the messages of one session."""

    def __init__(self) -> None:
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
        number = getattr(message, "id", None)
        if not self._asked or number not in self._asked:
            return item
        self._asked.discard(number)
        result = getattr(message, "result", None)
        if not isinstance(result, Mapping):
            return item
        tools = result.get("tools")
        self.page = tools if isinstance(tools, list) else []
        cursor = result.get("nextCursor")
        self.cursor = cursor if isinstance(cursor, str) else None
        message.result = {**result, "tools": [tool for tool in self.page if _is_whole(tool)]}
        return item


class ReadTap:
    """The stream of messages from the server, through a tap."""

    def __init__(self, stream: Any, tap: Tap) -> None:
        """Keep the stream and the tap."""
        self._stream = stream
        self._tap = tap

    async def receive(self) -> Any:
        """Return the next message."""
        return self._tap.received(await self._stream.receive())

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._tap.received(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> Any:
        return await self._stream.__aexit__(*raised)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class WriteTap:
    """The stream of messages to the server, through a tap."""

    def __init__(self, stream: Any, tap: Tap) -> None:
        """Keep the stream and the tap."""
        self._stream = stream
        self._tap = tap

    async def send(self, item: Any) -> None:
        """Send a message."""
        self._tap.sent(item)
        await self._stream.send(item)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> Any:
        return await self._stream.__aexit__(*raised)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _is_whole(tool: Any) -> bool:
    from mcp_types import Tool
    from pydantic import ValidationError

    try:
        Tool.model_validate(tool, by_name=False)
    except (ValidationError, RecursionError):
        return False
    return True
