"""What a model reads of a result: a bounded part, and the tool `read_result` for the rest.

The tool's definition is written in Python: every call of a project asks for it, and to parse it
from markdown would import the parser.
"""

import secrets
from collections.abc import Callable, Collection, Iterator
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import from_json

from toolmd._call.cut import ELLIPSIS, cut_result, shorten
from toolmd._call.result import write
from toolmd._store.store import Store
from toolmd._types.call_spec import Limits, ToolCallSpec
from toolmd._types.context import Context
from toolmd._types.diagnostic import Source
from toolmd._types.field import JsonType
from toolmd._types.model_view import seen
from toolmd._types.registry import (
    READ_RESULT,
    Binding,
    Bound,
    BoundTool,
    Implementation,
    Registry,
)
from toolmd._types.result import Result
from toolmd._types.schema import TEXT, Parameter, Schema
from toolmd._types.settings import Settings
from toolmd._types.stored import KEEP_S, MAX_KEPT, KeptResult, no_result
from toolmd._validation.paths import PathError, select
from toolmd._workspace.background_loop import off_loop
from toolmd.errors import ToolError, logged

if TYPE_CHECKING:
    from toolmd._types.tool import ToolSpec

MOST = 256 << 10
"""The most bytes that a tool's Max Bytes may let a model read."""
_WORDS = 2048
"""The bytes that the rest of a small result needs at most."""
_TRIES = 8
_MAX_PROBLEMS = 8
_BLOCKED = 64
"""The bytes that the inline dialect may add to a denial."""
_NO_LIMITS = Limits()
_OVERHEAD = 1024
"""The bytes of a page's result beside its value."""
_WHOLE: tuple[JsonType, ...] = ("integer",)
_PAGE = (
    Parameter("value", Schema((), "The part, or as much of it as fits."), required=True),
    Parameter("offset", Schema(_WHOLE), required=True),
    Parameter("total", Schema(_WHOLE, "The number of items, members or characters in all."),
              required=True),
    Parameter("next_offset", Schema(_WHOLE, "The offset of the next page; absent on the last.")),
    Parameter("shortened", Schema(("boolean",), "Whether the value itself is shortened; read its "
                                  "parts by their paths.")),
)  # fmt: skip
_CALL_SPEC = ToolCallSpec(
    name=READ_RESULT,
    source=Source("read-result.tool.md", 1),
    read_only=True,
    parameters=(
        Parameter("handle", Schema(TEXT, "The handle in `truncated`.", max_length=64),
                  required=True),
        Parameter("path", Schema(TEXT, "The part to read, such as `papers[0].abstract`, or "
                                 "`papers[*].title` for all.", has_default=True, default="",
                                 max_length=512)),
        Parameter("offset", Schema(_WHOLE, "How many items of an array, members of an object or "
                                   "characters to skip.", has_default=True, default=0, minimum=0)),
        Parameter("limit", Schema(_WHOLE, "The most items, members or characters of the page.",
                                  minimum=1)),
    ),
    returns=Schema(("object",), "The page.", properties=_PAGE),
    limits=Limits(max_bytes=256 * 1024),
)  # fmt: skip


def most_bytes(default: int, own: int | None) -> int:
    """Return how many bytes of a tool's result a model reads at most.

    Args:
        default: The setting `results.max_bytes`.
        own: The tool's Max Bytes, which may raise it up to 256 KiB.
    """
    return max(default, min(own or 0, MOST))


def is_small(result: Result, most: int) -> bool:
    """Return whether a result is surely within its bound, without writing it."""
    data = result[4]
    plain = type(data) is bytes or data is None
    more = result.error or result.waiting or result.truncated or result.source or result.parts
    if more or not plain:
        return False
    words = len(result.message) + sum(map(len, result.notes)) + len(result.tool)
    # A character of a text has at most six bytes in JSON.
    return (len(data) if data else 0) + 6 * words + _WORDS <= most


class Keeper:
    """Bounds the results of one snapshot's calls for models."""

    def __init__(
        self, registry: Registry, settings: Settings, store: Store, clock: Callable[[], float]
    ) -> None:
        """`clock` returns seconds since the epoch."""
        self._registry = registry
        self._most = settings.results.max_bytes
        self._store = store
        self._clock = clock

    @cached_property
    def tools(self) -> dict[str, BoundTool]:
        """The project's tools and the one that reads kept results."""
        own = {READ_RESULT: read_result_tool(self.find, self._most)}
        return {**self._registry.tools, **own}

    async def show(self, result: Result, user: str | None) -> Result:
        """Return what a model reads of a result; the whole is kept where that is only a part."""
        if self._is_whole(result):
            return result
        return await off_loop(self._store_rest, result, user)

    def cut(self, result: Result) -> Result:
        """Return what a model reads of a result, without keeping the rest."""
        if result.handle is not None or self._is_whole(result):
            return result
        return bound_result(result, *self._bounds(result)).result

    def cut_to_limits(self, result: Result) -> Result:
        """Return a result within its tool's Max Rows and Max Bytes and its plan's budget."""
        return cut_result(result, self._bounds(result)[2])

    def find(self, handle: str, user: str | None) -> KeptResult | None:
        """Return what is kept for a user under a handle; it blocks."""
        return self._store.results.find(handle, user, self._clock())

    def is_open(self) -> bool:
        """Return whether a result is known to be kept; see `Store.holds_results`."""
        return self._store.holds_results(self._clock())

    def _is_whole(self, result: Result) -> bool:
        most, names, limits = self._bounds(result)
        return names is None and is_small(result, most) and cut_result(result, limits) is result

    def _store_rest(self, result: Result, user: str | None) -> Result:
        bounds = self._bounds(result)
        handle = f"r-{secrets.token_hex(8)}"
        view = bound_result(result, *bounds, handle)
        if view.whole is None or view.result.handle is None:
            return view.result
        now = self._clock()
        kept = KeptResult(handle, user, result.tool, view.whole, now + KEEP_S)
        try:
            self._store.keep_result(kept, now)
        except Exception as error:  # noqa: BLE001 - the call has run: its result must be told
            logged(error, "the result of %s could not be kept", result.tool)
            return bound_result(result, *bounds).result
        return view.result

    def _bounds(self, result: Result) -> tuple[int, tuple[str, ...] | None, Limits]:
        """Return the bytes of a text for a model, the fields of To Model, and the tool's limits."""
        bound = self.tools.get(result.tool)
        if bound is None or result.tool == READ_RESULT:
            return self._most, None, _NO_LIMITS
        limits, returns = bound.call_spec.limits, bound.call_spec.returns
        return most_bytes(self._most, limits.max_bytes), returns.to_model, limits


class Bounded(NamedTuple):
    """What a model reads of a result."""

    result: Result
    whole: bytes | None = None
    """The whole value as JSON, if the model reads only a part of it."""


def bound_result(
    result: Result, most: int, names: Collection[str] | None = None, limits: Limits = _NO_LIMITS,
    handle: str | None = None,
) -> Bounded:  # fmt: skip
    """Return what a model reads of a result: at most `most` bytes, and only the named fields.

    Args:
        result: The whole result.
        most: The bytes of its text for a model, at least 1,024.
        names: The fields of To Model; None for all.
        limits: The tool's Max Rows and Max Bytes.
        handle: The handle under which the whole value will be kept, if it will be.
    """
    shown, whole = _bound(result, most, names, limits, handle)
    if result.parts:
        # A model gets the parts to which its data refers.
        numbers = set(_numbers(shown.data))
        parts = {number: part for number, part in result.parts.items() if number in numbers}
        shown = shown._replace(parts=parts)
    return Bounded(shown, whole)


def _bound(
    result: Result, most: int, names: Collection[str] | None, limits: Limits, handle: str | None
) -> tuple[Result, bytes | None]:
    if result.outcome == "denied":
        most -= _BLOCKED
    data = result[4]
    whole: bytes | None = data if data is None or type(data) is bytes else write(data)
    value = None if whole is None else from_json(whole)
    view = value if names is None or not result.success else seen(value, names)
    result = cut_result(result._replace(data=view), limits)
    view = result.data
    if view == value and _size(as_seen := result._replace(data=whole)) <= most:
        return as_seen, None
    bare = _bare(result, most)
    if whole is None or (view == value and _size(bare._replace(data=whole)) <= most):
        return bare._replace(data=whole), None
    kept = handle if len(whole) <= MAX_KEPT else None
    note = f"This is a part of {len(whole)} bytes; the rest is not kept."
    if kept is not None:
        note = (
            f"This is a part of {len(whole)} bytes. Read the rest with read_result and handle "
            f"{kept}."
        )
    bare = bare._replace(notes=(*bare.notes, note), handle=kept)
    fits = bare._replace(data=write(view))
    return (fits if _size(fits) <= most else _cut(bare, view, most)), whole


def _cut(bare: Result, view: Any, most: int) -> Result:
    """Return the result with as much of its data as fits."""
    truncated = {"rows": bool((bare.truncated or {}).get("rows")), "bytes": True}
    bare = bare._replace(truncated=truncated)
    room = most - _size(bare)
    for _ in range(_TRIES):
        if room <= 0 or (part := shorten(view, room)) is None:
            break
        value, notes = part
        short = bare._replace(data=write(value), notes=(*bare.notes, *notes))
        over = _size(short) - most
        if over <= 0:
            return short
        room -= over
    return bare._replace(notes=(*bare.notes, "Its data is left out."))


def _numbers(value: Any) -> Iterator[int]:
    """Yield the numbers of the content parts to which a value refers."""
    if isinstance(value, dict):
        if "media_type" in value and type(number := value.get("part")) is int:
            yield number
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _numbers(item)


def _size(result: Result) -> int:
    # A program that only calls tools does not wait for what writes results for models.
    from toolmd._dialect.results import body_text

    return len(body_text(result).encode("utf-8", "replace"))


def _bare(result: Result, most: int) -> Result:
    """Return the result without its data, its words cut to a part of the bound each."""
    part = most // 16
    error = result.error
    if error is not None:
        each = part // _MAX_PROBLEMS
        details = tuple(
            one._replace(path=_words(one.path, each), message=_words(one.message, each))
            for one in error.details[:_MAX_PROBLEMS]
        )
        error = error._replace(message=_words(error.message, part), details=details)
    notes: list[str] = []
    room = part
    for note in result.notes:
        if (size := len(write(note))) > room:
            break
        notes.append(note)
        room -= size
    source = result.source
    if source is not None and len(write(source)) > part:
        source = None
    bare = result._replace(data=None, message=_words(result.message, part), error=error,
                           notes=tuple(notes), source=source)  # fmt: skip
    if _size(bare) <= most // 2:
        return bare
    # The questions of a run may show large arguments, which the person sees elsewhere.
    waiting = tuple(
        one._replace(shown={}, prompt=_words(one.prompt, part)) for one in bare.waiting[:8]
    )
    call_id = bare.tool_call_id and _words(bare.tool_call_id, part)
    return bare._replace(waiting=waiting, tool=_words(bare.tool, part), tool_call_id=call_id)


def _words(text: str, most: int) -> str:
    """Return a text whose JSON has at most `most` bytes, or its beginning."""
    if len(text) + 2 <= most and len(write(text)) <= most:
        return text
    short = shorten(text, most)
    return "" if short is None else str(short[0])


def read_result_tool(find: Callable[[str, str | None], KeptResult | None], most: int) -> BoundTool:
    """Return the tool over the kept results of a project.

    Args:
        find: Finds what is kept for a user under a handle.
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
    return Bound(READ_RESULT, _spec, binding, call_part=lambda: _CALL_SPEC)


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
    count, part, is_shortened = _fit(part, room)
    page = {"value": part, "offset": offset, "total": len(value)}
    if count and offset + count < len(value):
        page["next_offset"] = offset + count
    if is_shortened:
        page["shortened"] = True
    return page


def _fit(part: Any, room: int) -> tuple[int, Any, bool]:
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
