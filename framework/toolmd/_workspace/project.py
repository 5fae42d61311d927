"""An open project: its live snapshot, how that is replaced, and what outlives a snapshot."""

import gc
import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec

from toolmd._load.baseline import Baseline
from toolmd._load.build import Snapshot, build
from toolmd._load.cache import Cache
from toolmd._load.files import whole_file
from toolmd._store.store import Store
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.identity import Identity
from toolmd._types.pending_change import PendingChange
from toolmd._types.registry import Registry
from toolmd._types.settings import Settings
from toolmd._workspace.background_loop import BackgroundLoop
from toolmd._workspace.live import Live, Logs
from toolmd._workspace.names import known_name
from toolmd._workspace.reader import FileReader, reader_of
from toolmd.errors import ConfigError, NotFoundError, ToolmdError, logged

if TYPE_CHECKING:
    from toolmd._call import Dispatcher
    from toolmd._types.run import Clock

P = ParamSpec("P")
WorkspaceEventKind = Literal["pending", "run", "run-step"]
"""A pending call was decided; a run changed its state; a run took a step."""
WorkspaceEventListener = Callable[[WorkspaceEventKind, dict[str, Any], str | None], None]
"""Receives the kind of event, its JSON, and its user (None without one)."""
ChangeListener = Callable[[Registry, Registry], None]
"""Receives the old and the new snapshot."""
CheckListener = Callable[[tuple[Diagnostic, ...]], None]
"""Reads all diagnostics of the snapshot that was checked."""
_log = logging.getLogger(__name__)
_files_log = logging.getLogger("toolmd.files")
_IN_FORCE = frozenset({Code.STALE_DEFINITION, Code.SUSPENDED_TOOL, Code.WEAKENED_POLICY})
"""What says that something else is in force than the files as they are."""
_pauses = count()


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
        """Report an event to the listeners."""
        for listener in tuple(self._listeners):
            try:
                listener(*told, **named)
            except Exception as error:  # noqa: BLE001 - it only listens
                logged(error, "a listener to %s failed", self._what)


def _log_problems(found: Collection[Diagnostic], before: Collection[Diagnostic] = ()) -> None:
    """Log each new error of a file, and each file that is not in force as it is.

    A program that embeds a workspace reads no command's output.
    """
    for one in found:
        if one not in before and (one.severity is Severity.ERROR or one.code in _IN_FORCE):
            _files_log.warning("%s", one)


def _reader(settings: Settings) -> FileReader:
    return reader_of(Identity.of(settings))


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


class Project:
    """The live snapshot behind one pointer, its replacement, and what outlives a snapshot."""

    def __init__(
        self, settings: Settings, *, plugins: Mapping[str, object] | None, clock: "Clock | None"
    ) -> None:
        """Read the project; see `Workspace`."""
        self.clock = clock
        self._plugins = plugins
        self.baseline = Baseline(settings.state)
        self.lock = threading.Lock()
        # A listener may reload or accept in turn.
        self._turn = threading.RLock()
        self.store = Store(settings.store, settings.state)
        """What the processes of the project share; a changed setting needs a new workspace."""
        self._logs = Logs(self.store)
        self.loop = BackgroundLoop()
        self.workspace_events: Listeners[WorkspaceEventKind, dict[str, Any], str | None]
        self.workspace_events = Listeners("runs and decisions")
        self.changes: Listeners[Registry, Registry] = Listeners("changes")
        self.checks: Listeners[tuple[Diagnostic, ...]] = Listeners("checks")
        self._to_check = False
        self._checking = False
        self.load_settings: Callable[[], Settings] = lambda: settings
        self._problem: tuple[Diagnostic, ...] = ()
        """What is wrong with the settings since they were read last."""
        self.close_runs: Callable[[], None] = lambda: None
        """Ends the runs that are under way here."""
        self._closed = False
        try:
            with pause_collector():
                self._cache = Cache.load(settings.state, _reader(settings).fingerprint)
                self.live = Live(settings, self._read(settings), self._logs, clock)
            _log_problems(self.live.registry.diagnostics)
        except BaseException:
            self.store.close()  # The caller gets no workspace to close.
            raise

    def diagnostics_of(self, names: Any = None) -> tuple[Diagnostic, ...]:
        """Return all diagnostics; only the Python of `names` is imported, or of all."""
        live = self.live
        return (*self._problem, *(live.diagnostics if names is None else live.look(names)))

    def end(self) -> bool:
        """End what is under way; True for the first time."""
        with self.lock:
            first = not self._closed
            self._closed = True
        self.close_runs()
        self.loop.close()
        self._logs.close()
        if first:
            for gateway in self.live.gateways:
                gateway.close()
        self.store.close()
        return first

    def check_open(self) -> None:
        """Raise ToolmdError where the workspace is closed."""
        if self._closed:
            raise ToolmdError("the workspace is closed: open it again with `Workspace.open`")

    async def dispatcher(self) -> "Dispatcher":
        """Return the dispatcher of the live snapshot; raises ToolmdError where all is closed."""
        self.check_open()
        return await self.live.ready_dispatcher()

    def _read(self, settings: Settings, old: Snapshot | None = None) -> Snapshot:
        """Read the project's files into a new snapshot; what did not change comes from `old`."""
        reader = _reader(settings)
        if self._cache.fingerprint != reader.fingerprint:
            self._cache = Cache.load(settings.state, reader.fingerprint)
        with pause_collector():
            return build(
                settings,
                reader,
                cache=self._cache,
                given=self._plugins,
                baseline=self.baseline,
                store=self.store,
                old=old,
            )

    def reload(self) -> Registry:
        """Read the project again; see `Workspace.reload`."""
        with self._turn:
            old = self.live.registry
            new = self._replace()
            if self.live.registry is not old:
                self.changes.tell(old, self.live.registry)
                if self.checks:
                    self.check_soon()
        return new

    def accept(self, name: str) -> PendingChange:
        """Accept a policy change; see `Changes.accept`."""
        with self._turn:
            waiting = self.live.snapshot.kept.waiting
            folded = known_name(name, self.live.registry, "tool or skill")
            if folded not in waiting:
                raise NotFoundError(f"{folded} has no change that waits for acceptance")
            edit, key, row, kept = waiting[folded]
            number = self.store.changes.accept(key, kept.spec, kept.taken)
            self.baseline.accept(row._replace(taken=number))
            self.reload()
            return edit

    def _replace(self) -> Registry:
        """Make a new snapshot the live one if it differs; return the registry of a reload."""
        # A start compares no settings.
        from toolmd._load.weakening import hold_settings

        with self.lock:
            self.check_open()
            old = self.live
            try:
                settings, dropped = hold_settings(old.settings, self.load_settings())
            except ConfigError as error:
                help_ = "the settings of before stay in force"
                found = self._about(Code.UNREADABLE_SETTINGS, str(error), help_, Severity.ERROR)
                self._problem = (found,)
                return replace(old.registry, diagnostics=(found, *old.registry.diagnostics))
            self._problem = ()
            if dropped:
                message = f"the settings weaken {', '.join(dropped)}: the stricter ones stay in"
                found = self._about(Code.WEAKENED_SETTINGS, f"{message} force",
                                    "restart to apply them", Severity.WARNING)  # fmt: skip
                self._problem = (found,)
            spare = snapshot = self._read(settings, old.snapshot)
            if (settings, snapshot.stamp) != (old.settings, old.snapshot.stamp):
                spare, self.live = old.snapshot, Live(settings, snapshot, self._logs, self.clock)
                _log_problems(snapshot.registry.diagnostics, old.registry.diagnostics)
            if spare.resources is not self.live.snapshot.resources:
                spare.resources.retire()
            return self.live.registry

    def _about(self, code: Code, message: str, help_: str, severity: Severity) -> Diagnostic:
        file = self.live.settings.file
        return whole_file(file.name if file else "settings", code, message, help_, severity)

    def check_soon(self) -> None:
        """Collect all diagnostics in a thread, and call the listeners; a check may follow one."""
        with self.lock:
            self._to_check = True
            if not self._checking:
                self._checking = True
                # A daemon: a process that ends waits for no import.
                threading.Thread(target=self._check, name="toolmd-check", daemon=True).start()

    def _check(self) -> None:
        while True:
            with self.lock:
                if not self._to_check:
                    self._checking = False
                    return
                self._to_check = False
            try:
                self.checks.tell(self.diagnostics_of())
            except Exception:  # noqa: BLE001 - nobody waits for it
                _log.exception("the check of the project failed; the next change is checked again")
