"""Provide what implementations ask for by type: a registry per snapshot, a container per call."""

import contextlib
import logging
import threading
from collections.abc import Iterator
from typing import Any, TypeVar

from toolmd._load.plugins import Plugins, reason
from toolmd._types.resources import Resources
from toolmd._types.settings import Settings
from toolmd.errors import ImplementationError

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class SnapshotResources:
    """The resources of one snapshot; nothing is made before one is wanted.

    Registered values live as long as the snapshot is in use, products of factories as long as
    one call. A snapshot that was replaced is closed when the last call on it has ended.
    """

    def __init__(self, plugins: Plugins, settings: Settings) -> None:
        self._plugins = plugins
        self._settings = settings
        self._registry: Resources | None = None
        self._lock = threading.Lock()
        # Apart from the other one, which the event loop takes: plugins may fill for long.
        self._filling = threading.RLock()
        self._users = 0
        self._retired = False

    def provides(self, wanted: type) -> bool:
        """Return whether a plugin registered this type. Raises ImplementationError."""
        try:
            return wanted in self.registry
        finally:
            self._close_unused()

    @property
    def registry(self) -> Resources:
        """The registry, filled by the plugins on first use."""
        with self._filling:
            if (registry := self._registry) is None:
                registry = self._registry = self._fill()
            return registry

    @property
    def is_filled(self) -> bool:
        """Check whether the registry is there, so that asking for it runs no plugin."""
        return self._registry is not None

    def _fill(self) -> Resources:
        registry = Resources()
        asked = self._plugins.ask("toolmd_resources", registry=registry, settings=self._settings)
        for answer in asked:
            if answer.error is not None:
                registry.close()
                raise ImplementationError(
                    f"plugin {answer.plugin} can't provide its resources: {reason(answer.error)}"
                ) from answer.error
        return registry

    async def scope(self) -> "CallResources":
        """Begin one call's use; end it with the scope's `close`."""
        with self._lock:
            self._users += 1
        return CallResources(self)

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Keep them for longer than a call, such as a skill's run."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            self.release()

    def release(self) -> None:
        """End one use."""
        with self._lock:
            self._users -= 1
        self._close_unused()

    def retire(self) -> None:
        """Close, as soon as nobody uses them any more."""
        self._retired = True
        self._close_unused()

    async def aretire(self) -> None:
        """Do as `retire`, awaiting what closes asynchronously."""
        self._retired = True
        if (registry := self._take_unused()) is not None:
            await registry.aclose()

    def _close_unused(self) -> None:
        if (registry := self._take_unused()) is not None:
            registry.close()

    def _take_unused(self) -> Resources | None:
        with self._lock:
            if not self._retired or self._users:
                return None
            registry, self._registry = self._registry, None
            return registry


class CallResources:
    """One call's resources: each is made once."""

    __slots__ = ("_made", "_resources", "_stack")

    def __init__(self, resources: SnapshotResources) -> None:
        self._resources = resources
        self._made: dict[type, Any] = {}
        self._stack = contextlib.AsyncExitStack()

    async def get(self, wanted: type[_T]) -> _T:
        """Return the resource of this type; its factory may be async."""
        if wanted not in self._made:
            if not self._resources.is_filled:
                # Only here: opening a project does not wait for the import.
                import asyncio

                await asyncio.to_thread(lambda: self._resources.registry)
            registry = self._resources.registry
            self._made[wanted] = await registry.provide(wanted, self._stack)
        found: _T = self._made[wanted]
        return found

    async def close(self) -> None:
        """Close what factories made for this call, the last one first; log a failure."""
        try:
            await self._stack.aclose()
        except Exception:  # noqa: BLE001  # the call has its result
            _log.exception("closing a resource of a call failed")
        finally:
            self._resources.release()
