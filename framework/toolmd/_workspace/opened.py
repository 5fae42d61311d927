"""An open project: the state that all parts of a workspace share, and how it is closed."""

import gc
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec

from toolmd._load.baseline import Baseline
from toolmd._load.build import Snapshot, build
from toolmd._load.cache import Cache
from toolmd._store.store import Store
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.identity import Identity
from toolmd._types.registry import Registry
from toolmd._types.result import Result
from toolmd._types.run import Clock
from toolmd._types.settings import Settings
from toolmd._workspace.background_loop import BackgroundLoop
from toolmd._workspace.snapshot.live import Live, Logs
from toolmd._workspace.snapshot.reader import FileReader, reader_of
from toolmd.errors import ToolmdError, logged

if TYPE_CHECKING:
    from toolmd._call import Dispatcher

P = ParamSpec("P")
WorkspaceEventKind = Literal["pending", "run", "run-step"]
"""A pending call was decided; a run changed its state; a run took a step."""
WorkspaceEventListener = Callable[[WorkspaceEventKind, dict[str, Any], str | None], None]
"""Receives the kind of event, its JSON, and its user (None without one)."""
ChangeListener = Callable[[Registry, Registry], None]
"""Receives the old and the new snapshot."""


class Listeners(Generic[P]):
    """The listeners to one kind of event; exceptions are logged."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._listeners: list[Callable[P, None]] = []

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def add(self, listener: Callable[P, None]) -> Callable[[], None]:
        """Call `listener` in the thread of each event; return a function that stops it."""
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def tell(self, *told: P.args, **named: P.kwargs) -> None:
        """Report them."""
        for listener in tuple(self._listeners):
            try:
                listener(*told, **named)
            except Exception as error:  # noqa: BLE001 - it only listens
                logged(error, "a listener to %s failed", self._what)


_pauses = count()


@contextmanager
def pause_collector() -> Iterator[None]:
    """Pause garbage collection while many small things are made that stay.

    It would look at all of them time and again, and free nothing: without the pause, opening a
    thousand tools takes twice as long. The first time in a process, they count as old afterwards,
    so that the next collections of new things do not look at them, either.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if next(_pauses) == 0 and not gc.get_freeze_count():
                # Both together move everything to the oldest generation.
                gc.freeze()
                gc.unfreeze()
            gc.enable()


class OpenProject:
    """The live snapshot behind one pointer, and what outlives a snapshot."""

    def __init__(
        self,
        settings: Settings,
        *,
        plugins: Mapping[str, object] | None,
        clock: Clock | None,
        on_close: Callable[[], None] | None,
    ) -> None:
        """Read the project; see `Workspace`."""
        self._on_close = on_close
        self.clock = clock
        self.plugins = plugins
        """Objects with hooks, by name, next to the installed plugins."""
        self.baseline = Baseline(settings.state)
        self.lock = threading.Lock()
        self.store = Store(settings.store, settings.state)
        """What the processes of the project share; a changed setting needs a new workspace."""
        self._logs = Logs(self.store)
        self.loop = BackgroundLoop()
        self.workspace_events: Listeners[WorkspaceEventKind, dict[str, Any], str | None]
        self.workspace_events = Listeners("runs and decisions")
        self.changes: Listeners[Registry, Registry] = Listeners("changes")
        self.reload_settings: Callable[[], Settings] = lambda: settings
        self.problem: tuple[Diagnostic, ...] = ()
        """What is wrong with the settings since they were read last."""
        self.close_runs: Callable[[], None] | None = None
        """What ends the runs that are under way here, once there may be some."""
        self._closed = False
        try:
            with pause_collector():
                self._cache = Cache.load(settings.state, self._reader(settings).fingerprint)
                self.live = self.made_live(settings, self.read(settings))
        except BaseException:
            self.store.close()  # The caller gets no workspace to close.
            raise

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All there is to say; imports every implementation."""
        return (*self.problem, *self.live.diagnostics)

    def end(self) -> bool:
        """End what is under way; True for the first time."""
        with self.lock:
            first = not self._closed
            self._closed = True
        if self.close_runs is not None:
            self.close_runs()
        self.loop.close()
        self._logs.close()
        if first:
            for gateway in self.live.gateways:
                gateway.close()
        self.store.close()
        return first

    def ended(self) -> None:
        """Report that all is closed."""
        if self._on_close is not None:
            self._on_close()

    def check_open(self) -> None:
        """Raise ToolmdError where the workspace is closed."""
        if self._closed:
            raise ToolmdError("the workspace is closed: open it again with `Workspace.open`")

    async def dispatcher(self) -> "Dispatcher":
        """Return the dispatcher of the live snapshot; raises ToolmdError where all is closed."""
        self.check_open()
        return await self.live.ready_dispatcher()

    def call_first(self, *given: Any) -> Coroutine[Any, Any, Result]:
        """Call as `Dispatcher.call` does, on a snapshot whose dispatcher has yet to be opened."""
        self.check_open()
        return _call_on(self.live, given)

    def read(
        self,
        settings: Settings,
        old: Snapshot | None = None,
    ) -> Snapshot:
        """Read the project's files into a new snapshot; what did not change comes from `old`."""
        reader = self._reader(settings)
        if self._cache.fingerprint != reader.fingerprint:
            self._cache = Cache.load(settings.state, reader.fingerprint)
        with pause_collector():
            return build(
                settings,
                reader,
                cache=self._cache,
                given=self.plugins,
                baseline=self.baseline,
                store=self.store,
                old=old,
            )

    @staticmethod
    def _reader(settings: Settings) -> FileReader:
        return reader_of(Identity.of(settings))

    def made_live(self, settings: Settings, snapshot: Snapshot) -> Live:
        """Return the snapshot with the parts that take its calls."""
        return Live(settings, snapshot, self._logs, self.clock)


async def _call_on(live: Live, given: tuple[Any, ...]) -> Result:
    return await (await live.ready_dispatcher()).call(*given)
