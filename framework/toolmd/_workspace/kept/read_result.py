"""The built-in tool `read_result`: a model reads what is kept of a result, page by page.

Its definition is written in Python: every call of a project asks for it, and to parse it from
markdown would import the parser.
"""

from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from toolmd._call.cut import ELLIPSIS, shorten
from toolmd._call.result import write
from toolmd._types.call_spec import Limits, ToolCallSpec
from toolmd._types.context import Context
from toolmd._types.kept import no_result
from toolmd._types.registry import Binding, Bound, BoundTool, Implementation
from toolmd._types.schema import TEXT, JsonType, Parameter, Schema
from toolmd._types.source import Source
from toolmd._validation.paths import PathError, select
from toolmd.errors import ToolError

if TYPE_CHECKING:
    from toolmd._types.kept import KeptResult
    from toolmd._types.tool import ToolSpec

READ_RESULT = "read_result"
"""The name of the tool; a project's own tool of this name goes before it."""
_OVERHEAD = 1024
"""The bytes of a page's result beside its value."""
_WHOLE: tuple[JsonType, ...] = ("integer",)
_CALL_SPEC = ToolCallSpec(
    name=READ_RESULT,
    source=Source("read-result.tool.md", 1),
    read_only=True,
    parameters=(
        Parameter(
            "handle", Schema(TEXT, "The handle in `truncated`.", max_length=64), required=True
        ),
        Parameter(
            "path",
            Schema(
                TEXT,
                "The part to read, such as `papers[0].abstract`, or `papers[*].title` for all.",
                has_default=True,
                default="",
                max_length=512,
            ),
        ),
        Parameter(
            "offset",
            Schema(
                _WHOLE,
                "How many items of an array, members of an object or characters to skip.",
                has_default=True,
                default=0,
                minimum=0,
            ),
        ),
        Parameter(
            "limit",
            Schema(_WHOLE, "The most items, members or characters of the page.", minimum=1),
        ),
    ),
    returns=Schema(
        ("object",),
        "The page.",
        properties=(
            Parameter("value", Schema((), "The part, or as much of it as fits."), required=True),
            Parameter("offset", Schema(_WHOLE), required=True),
            Parameter(
                "total",
                Schema(_WHOLE, "The number of items, members or characters in all."),
                required=True,
            ),
            Parameter(
                "next_offset", Schema(_WHOLE, "The offset of the next page; absent on the last.")
            ),
            Parameter(
                "shortened",
                Schema(
                    ("boolean",),
                    "Whether the value itself is shortened; read its parts by their paths.",
                ),
            ),
        ),
    ),
    limits=Limits(max_bytes=256 * 1024),
)

FindKept = Callable[[str, str | None], "KeptResult | None"]
"""Returns what is kept for a user under a handle; it may block."""


def read_result_tool(find: FindKept, most: int) -> BoundTool:
    """Return the tool over the kept results of a project.

    Args:
        find: Finds a kept result.
        most: The bytes that a model reads of a result at most.
    """

    def read_result(
        handle: str, path: str, offset: int, limit: int | None = None, *, context: Context
    ) -> dict[str, Any]:
        kept = find(handle, context.user)
        if kept is None:
            raise ToolError(f"{no_result(handle)} Call the tool again.", code="unknown_handle")
        try:
            value = select(from_json(kept.data), path)
        except PathError as error:
            raise ToolError(str(error), code="unknown_path") from None
        return page_of(value, offset, limit, most - _OVERHEAD)

    bound = Implementation(f"toolmd:{READ_RESULT}", "", read_result, "sync", context="context")
    binding = Binding("entry_point", bound.target, lambda: bound, ready=lambda: True)
    return Bound(READ_RESULT, _spec, binding, call_spec=lambda: _CALL_SPEC)


def page_of(value: Any, offset: int, limit: int | None, room: int) -> dict[str, Any]:
    """Return a page of a value: its items, members or characters from `offset` on.

    Args:
        value: Any JSON value.
        offset: How many of them to skip.
        limit: The most of them; None for as many as fit.
        room: The bytes that the page's value has at most.
    """
    if not isinstance(value, list | dict | str):
        return {"value": value, "offset": 0, "total": 1}
    end = len(value) if limit is None else min(len(value), offset + limit)
    part: Any = (
        {name: value[name] for name in list(value)[offset:end]}
        if isinstance(value, dict)
        else value[offset:end]
    )
    count, part, is_shortened = _fitted(part, room)
    page = {"value": part, "offset": offset, "total": len(value)}
    if count and offset + count < len(value):
        page["next_offset"] = offset + count
    if is_shortened:
        page["shortened"] = True
    return page


def _fitted(part: Any, room: int) -> tuple[int, Any, bool]:
    """Return how many items fit, the items, and whether one of them is shortened."""
    if len(write(part)) <= room:
        return len(part), part, False
    short = shorten(part, room)
    shown = part[:0] if short is None else short[0]
    if isinstance(part, str):
        shown = shown.removesuffix(ELLIPSIS)
        return len(shown), shown, False
    if isinstance(part, list):
        return max(len(shown), 1), shown, shown[:1] != part[:1]
    return max(len(shown), 1), shown, any(shown[name] != part[name] for name in shown)


def _spec() -> "ToolSpec":
    from toolmd._types.tool import ToolSpec

    return ToolSpec(
        **{field.name: getattr(_CALL_SPEC, field.name) for field in fields(_CALL_SPEC)},
        title="Read Result",
        description="Reads more of an earlier result that was too large to be shown whole.",
        when_to_use=(
            "When the `truncated` of a result has a `handle`. A page that has `next_offset` is "
            "followed by\nanother one: call it again with that `offset`."
        ),
        version="1.0.0",
        category="results",
    )
