"""Split lists into pages, each with an opaque cursor to the next."""

import base64
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

T = TypeVar("T")

PAGE = 100
"""The most entries of a page."""


def page_of(
    entries: Sequence[T], key: Callable[[T], str], params: Any
) -> tuple[list[T], str | None]:
    """Return the page that a request asks for, and the cursor of the next one.

    The cursor names the last entry, so a list that changes between two pages repeats nothing.

    Args:
        entries: The whole list, sorted by `key`.
        key: Returns what names an entry.
        params: The request's parameters, if it has any.
    """
    cursor = getattr(params, "cursor", None)
    after = None if cursor is None else _read(cursor)
    rest = [entry for entry in entries if after is None or key(entry) > after]
    page = rest[:PAGE]
    more = len(rest) > PAGE
    return page, base64.urlsafe_b64encode(key(page[-1]).encode()).decode() if more else None


def _read(cursor: str) -> str:
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except ValueError as error:
        message = "This cursor is not one of this server: list again from the start."
        raise MCPError(INVALID_PARAMS, message) from error
