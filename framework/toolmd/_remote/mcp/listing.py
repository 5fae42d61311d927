"""The tools that a server lists."""

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from toolmd._remote.mcp.definition import canonical


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
        names = [tool["name"] for tool in tools]
        whole = {tool["name"]: canonical(tool) for tool in tools if names.count(tool["name"]) == 1}
        return cls(whole, tuple(tools), time.monotonic())
