"""Resources that plugins register by type: values, and factories with their clean-up."""

import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Resources:
    """The resources of one snapshot, by type; implementations request them as parameters."""

    def __init__(self) -> None:
        self._values: dict[type, Any] = {}
        self._factories: dict[type, Callable[[], Any]] = {}
        self._on_close: list[Callable[[], Any]] = []

    def register_value(
        self, kind: type[T], value: T, *, on_registry_close: Callable[[], Any] | None = None
    ) -> None:
        """Provide the same value to each call.

        Args:
            kind: The type that implementations request. The last registration of a type counts.
            value: The value.
            on_registry_close: Called when the snapshot ends, in reverse order of registration. It
                may be async.
        """
        self._factories.pop(kind, None)
        self._values[kind] = value
        self._close_later(on_registry_close)

    def register_factory(
        self,
        kind: type[Any],
        factory: Callable[[], Any],
        *,
        on_registry_close: Callable[[], Any] | None = None,
    ) -> None:
        """Make a value for each call that requests the type.

        Args:
            kind: The type that implementations request. The last registration of a type counts.
            factory: Returns the value. It may be async. It may also be a generator, sync or async,
                that yields the value once: the code after `yield` runs when the call ends.
            on_registry_close: Called when the snapshot ends, in reverse order of registration. It
                may be async.
        """
        self._values.pop(kind, None)
        self._factories[kind] = factory
        self._close_later(on_registry_close)

    def register_shared(
        self, kind: type[T], open_it: Callable[[], T], close: Callable[[T], Any]
    ) -> Callable[[], T]:
        """Open one value for all calls, at the first call that requests the type.

        Args:
            kind: The type that implementations request. The last registration of a type counts.
            open_it: Returns the value.
            close: Receives the value when the snapshot ends, if it was opened.

        Returns:
            A function that returns the value, for the factories of other types.
        """
        opened: list[T] = []
        lock = Lock()

        def shared() -> T:
            with lock:
                if not opened:
                    opened.append(open_it())
                return opened[0]

        def end() -> None:
            with lock:
                while opened:
                    close(opened.pop())

        self.register_factory(kind, shared, on_registry_close=end)
        return shared

    def __contains__(self, kind: object) -> bool:
        return kind in self._values or kind in self._factories

    async def provide(self, kind: type[T], stack: AsyncExitStack) -> T:
        """Return the resource of a type.

        Args:
            kind: The type.
            stack: Receives the clean-up of the value.

        Raises:
            LookupError: No plugin registered the type.
        """
        if kind in self._values:
            value: T = self._values[kind]
            return value
        if kind not in self._factories:
            raise LookupError(f"no plugin provides {kind.__qualname__} (hook toolmd_resources)")
        factory = self._factories[kind]
        function = inspect.unwrap(factory)  # of one that is a context manager already
        if inspect.isgeneratorfunction(function):
            entered: T = stack.enter_context(_opener(factory, function, contextmanager)())
        elif inspect.isasyncgenfunction(function):
            opener = _opener(factory, function, asynccontextmanager)
            entered = await stack.enter_async_context(opener())
        else:
            value = factory()
            entered = await value if inspect.isawaitable(value) else value
        return entered

    def close(self) -> None:
        """Call what was registered for the end, except async functions; log each failure."""
        for on_close in self._closing():
            if inspect.iscoroutinefunction(on_close):
                _log.warning("%r is async: only `aclose` of the workspace awaits it", on_close)
                continue
            with _logged(on_close):
                on_close()

    async def aclose(self) -> None:
        """Call and await what was registered for the end; log each failure."""
        for on_close in self._closing():
            with _logged(on_close):
                closed = on_close()
                if inspect.isawaitable(closed):
                    await closed

    def _close_later(self, on_close: Callable[[], Any] | None) -> None:
        if on_close is not None:
            self._on_close.append(on_close)

    def _closing(self) -> Iterator[Callable[[], Any]]:
        while self._on_close:
            yield self._on_close.pop()


def _opener(factory: Any, function: Any, decorate: Callable[[Any], Any]) -> Any:
    return decorate(factory) if function is factory else factory


@contextmanager
def _logged(on_close: Callable[[], Any]) -> Iterator[None]:
    try:
        yield
    except Exception:  # noqa: BLE001  # the others are closed too
        _log.exception("closing a resource failed: %r", on_close)
