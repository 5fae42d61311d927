"""A project while it is open: what all parts of a workspace work with, and how it is closed."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Self

from toolmd._bind.build import build, collector_paused
from toolmd._bind.definitions.cache import Cache
from toolmd._bind.definitions.reading import DefinitionReader
from toolmd._bind.edits.baseline import Baseline
from toolmd._model.diagnostic import Diagnostic
from toolmd._model.registry import Registry
from toolmd._model.run import Clock
from toolmd._model.settings import Settings
from toolmd._workspace.background_loop import BackgroundLoop
from toolmd._workspace.listeners import Listeners, NoticeKind
from toolmd._workspace.snapshot.live import Live
from toolmd._workspace.snapshot.reader import READER
from toolmd.errors import ToolmdError


class OpenProject:
    """The live snapshot behind one pointer, its door and its runs; `Workspace` is its face."""

    def __init__(
        self,
        settings: Settings,
        *,
        plugins: Mapping[str, object] | None = None,
        reader: DefinitionReader = READER,
        clock: Clock | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        """Read the project; `plugins` are objects with hooks, by name, beside the installed.

        `clock` gives the time with its zone, for runs; the machine's where there is none.
        `on_close` is called when the workspace is closed.
        """
        self._on_close = on_close
        self._clock = clock
        self._plugins = plugins
        self._reader = reader
        self._baseline = Baseline(settings.state)
        self._lock = threading.Lock()
        self._tallies: dict[str, Any] = {}
        self._loop = BackgroundLoop()
        self._notices: Listeners[NoticeKind, dict[str, Any], str | None]
        self._notices = Listeners("runs and decisions")
        self._changes: Listeners[Registry, Registry] = Listeners("changes")
        # Who listens may reload or acknowledge in turn.
        self._turn = threading.RLock()
        self._reload_settings: Callable[[], Settings] = lambda: settings
        self._trouble: tuple[Diagnostic, ...] = ()
        """What is wrong with the settings since they were read last."""
        self._runs: Any = None
        """The Runs, once one was needed: what only calls tools does not import them."""
        self._closed = False
        self._live = self._read(settings)

    def close(self) -> None:
        """End what is under way in the sync twins, and close the resources."""
        if self._end():
            self._live.snapshot.resources.retire()
            self._ended()

    async def aclose(self) -> None:
        """Do as `close`, awaiting what closes asynchronously."""
        if self._end():
            await self._live.snapshot.resources.aretire()
            self._ended()

    def _end(self) -> bool:
        with self._lock:
            first = not self._closed
            self._closed = True
        if self._runs is not None:
            self._runs.close()
        self._loop.close()
        self._live.close_door()
        return first

    def _ended(self) -> None:
        if self._on_close is not None:
            self._on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    def _check_open(self) -> None:
        if self._closed:
            raise ToolmdError("the workspace is closed: open it anew, by `Workspace.open`")

    def _door(self) -> Any:
        self._check_open()
        return self._live.open_door()

    def _read(self, settings: Settings, old: Live | None = None) -> Live:
        with collector_paused():
            snapshot = build(
                settings,
                self._reader,
                cache=Cache.load(settings.state, self._reader.fingerprint),
                given=self._plugins,
                baseline=self._baseline,
                old=old.snapshot if old is not None else None,
            )
        return Live(settings, snapshot, self._clock, self._tallies)
