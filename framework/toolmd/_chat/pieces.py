"""Put the pieces of a streamed reply together."""

from collections.abc import Callable
from typing import Any


class Pieces:
    """The pieces of one streamed reply, as far as they have come."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Prepare an empty reply; `tell` receives each piece of text at once."""
        self.finish = ""
        """Why the reply ended; empty as long as it has not."""
        self.usage: Any = None
        """The provider's figures, which come with the last pieces."""
        self._tell = tell
        self._texts: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}

    @property
    def any(self) -> bool:
        """Whether anything came."""
        return bool(self.finish or self._texts or self._calls)

    def add(self, chunk: Any) -> None:
        """Add a chunk of the SDK's stream.

        Raises AttributeError, TypeError or ValueError where it does not follow the API.
        """
        if (usage := getattr(chunk, "usage", None)) is not None:
            self.usage = usage.to_dict(warnings=False)
        choices = getattr(chunk, "choices", None)
        if not choices:
            return
        self.finish = choices[0].finish_reason or self.finish
        delta = choices[0].delta
        if delta is None:
            return
        if delta.content:
            self._texts.append(delta.content)
            self._tell(delta.content)
        for piece in delta.tool_calls or ():
            self._add_call(piece)

    def message(self) -> dict[str, Any]:
        """Return the assistant's message."""
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._texts)}
        if self._calls:
            message["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        return message

    def _add_call(self, piece: Any) -> None:
        """Add a piece of a call to the earlier ones."""
        empty = {"id": None, "type": "function", "function": {"name": "", "arguments": ""}}
        index = piece.index if piece.index is not None else len(self._calls)
        call: dict[str, Any] = self._calls.setdefault(index, empty)
        call["id"] = piece.id or call["id"]
        if piece.function is not None:
            call["function"]["name"] += piece.function.name or ""
            call["function"]["arguments"] += piece.function.arguments or ""
