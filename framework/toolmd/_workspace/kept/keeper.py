"""Keep the results that a model reads only in part."""

import secrets
from collections.abc import Callable
from functools import cached_property

from toolmd._store.store import Store
from toolmd._types.kept import KEEP_S, KeptResult, OpenHandle
from toolmd._types.registry import BoundTool, Registry
from toolmd._types.result import Result
from toolmd._types.settings import Settings
from toolmd._workspace.background_loop import off_loop
from toolmd._workspace.kept.read_result import READ_RESULT, read_result_tool
from toolmd.errors import logged

MOST = 256 << 10
"""The most bytes that a tool's Max Bytes may let a model read."""
MOST_HANDLES = 256
"""The most handles that are listed for a user."""
_WORDS = 2048
"""The bytes that the rest of a small result needs at most."""


def most_bytes(default: int, own: int | None) -> int:
    """Return how many bytes of a tool's result a model reads at most.

    Args:
        default: The setting `results.max_bytes`.
        own: The tool's Max Bytes, which may raise it up to 256 KiB.
    """
    return max(default, min(own or 0, MOST))


def is_small(result: Result, most: int) -> bool:
    """Return whether a result is surely within its bound, without writing it."""
    data, error = result[4], result[5]
    plain = type(data) is bytes or data is None
    if (
        not plain
        or error is not None
        or result.waiting
        or result.truncated
        or result.source
        or result.parts
    ):
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
        every = dict(self._registry.tools)
        every.setdefault(READ_RESULT, read_result_tool(self.find, self._most))
        return every

    @property
    def _has_own(self) -> bool:
        """Whether the project has a tool of the same name, which goes before."""
        return READ_RESULT in self._registry.tools

    async def shown(self, result: Result, user: str | None) -> Result:
        """Return what a model reads of a result; the whole is kept where that is only a part."""
        most, names = self._bounds(result)
        if names is None and is_small(result, most):
            return result
        return await off_loop(self._kept, result, user, most, names)

    def cut(self, result: Result) -> Result:
        """Return what a model reads of a result, without keeping the rest."""
        most, names = self._bounds(result)
        if result.handle is not None or (names is None and is_small(result, most)):
            return result
        from toolmd._workspace.kept.bounded import bounded

        return bounded(result, most, names).result

    def find(self, handle: str, user: str | None) -> KeptResult | None:
        """Return what is kept for a user under a handle; it blocks."""
        return self._store.results.find(handle, user, self._clock())

    def handles(self, user: str | None) -> list[OpenHandle]:
        """Return a user's newest open handles; it blocks."""
        if self._has_own or not (self._store.may_hold_records or self.is_open()):
            return []
        return self._store.results.handles(user, self._clock(), MOST_HANDLES)

    def is_open(self) -> bool:
        """Return whether a result is known to be kept; see `Store.holds_results`."""
        return self._store.holds_results(self._clock())

    def _kept(
        self, result: Result, user: str | None, most: int, names: tuple[str, ...] | None
    ) -> Result:
        # A program that only calls tools does not wait for what writes results for models.
        from toolmd._workspace.kept.bounded import bounded

        handle = f"r-{secrets.token_hex(8)}"
        view = bounded(result, most, names, handle)
        if view.whole is None or view.result.handle is None:
            return view.result
        now = self._clock()
        kept = KeptResult(handle, user, result.tool, view.whole, now + KEEP_S)
        try:
            self._store.keep_result(kept, now)
        except Exception as error:  # noqa: BLE001 - the call has run: its result must be told
            logged(error, "the result of %s could not be kept", result.tool)
            return bounded(result, most, names).result
        return view.result

    def _bounds(self, result: Result) -> tuple[int, tuple[str, ...] | None]:
        bound = self.tools.get(result.tool)
        if bound is None or (result.tool == READ_RESULT and not self._has_own):
            return self._most, None
        call_spec = bound.call_spec
        return most_bytes(self._most, call_spec.limits.max_bytes), call_spec.returns.to_model
