"""The workspace: a project's definitions, its tools called and its skills run."""

import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from toolmark._bind.build import build, collector_paused
from toolmark._bind.definitions.cache import Cache
from toolmark._bind.definitions.reading import Reader
from toolmark._bind.edits.baseline import Baseline
from toolmark._export.exported import Exported
from toolmark._model.call import Budget, Caller
from toolmark._model.diagnostic import Diagnostic
from toolmark._model.plugin import PluginInfo
from toolmark._model.registry import Bound, Registry
from toolmark._model.result import Result, SkillResult
from toolmark._model.settings import Settings
from toolmark._model.skill import SkillSpec
from toolmark._model.tool import ToolSpec
from toolmark._workspace.background_loop import BackgroundLoop
from toolmark._workspace.callbacks import Asker, Clock, Listener, Watcher
from toolmark._workspace.exports import export_from
from toolmark._workspace.notices import Notices
from toolmark._workspace.reloading import Reloading
from toolmark._workspace.replies.turns import Turns
from toolmark._workspace.snapshot.live import Live
from toolmark._workspace.snapshot.reader import READER
from toolmark.config import load_settings
from toolmark.errors import ToolmarkError


class Workspace(Turns, Reloading):
    """A project, read: its tools and skills, the one door to them, and what is wrong.

    Everything read lies in one immutable snapshot behind one pointer; `reload` replaces it, and
    calls under way stay on theirs.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        plugins: Mapping[str, object] | None = None,
        reader: Reader = READER,
        clock: Clock | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        """Read the project; `plugins` are objects with hooks, by name, beside the installed.

        `clock` gives the time with its zone, for runs; the machine's where there is none.
        `on_close` is called when the workspace is closed.
        """
        super().__init__()
        self._on_close = on_close
        self._clock = clock
        self._plugins = plugins
        self._reader = reader
        self._reload_settings: Callable[[], Settings] = lambda: settings
        self._baseline = Baseline(settings.state)
        self._lock = threading.Lock()
        self._tallies: dict[str, Any] = {}
        self._loop = BackgroundLoop()
        self._notices = Notices()
        self._runs: Any = None
        self._closed = False
        self._live = self._read(settings)

    @classmethod
    def open(
        cls,
        folder: str | Path | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
        plugins: Mapping[str, object] | None = None,
    ) -> Self:
        """Read the project in `folder`, or the nearest one upward of where you are.

        `overrides` are settings by key, such as `{"safety.floor": 0.5}`. A bad file never
        raises: it is a diagnostic. Raises ConfigError where the settings can't be read.
        """
        workspace = cls(load_settings(folder, overrides=overrides), plugins=plugins)
        workspace._reload_settings = lambda: load_settings(
            workspace.settings.root, overrides=overrides
        )
        return workspace

    @property
    def settings(self) -> Settings:
        """The project's settings."""
        return self._live.settings

    @property
    def registry(self) -> Registry:
        """The snapshot that calls go to now."""
        return self._live.registry

    @property
    def tools(self) -> Mapping[str, Bound[ToolSpec]]:
        """The tools by name: those without errors in their files."""
        return self._live.registry.tools

    @property
    def skills(self) -> Mapping[str, Bound[SkillSpec]]:
        """The skills by name: those without errors in their files and in their steps."""
        return self._live.registry.skills

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All there is to say, over files, skills and bindings, in the order of their places.

        The first look imports every implementation, since the markdown is held against it;
        `registry.diagnostics` holds what reading alone has found.
        """
        return (*self._trouble, *self._live.diagnostics)

    @property
    def plugins(self) -> tuple[PluginInfo, ...]:
        """What is known of each plugin; those of the definitions' folders are loaded for it."""
        known = self._live.snapshot.plugins
        known.wake()
        return tuple(known.listed.values())

    def call(  # noqa: PLR0913 - the face of a call, by keyword
        self,
        name: str,
        arguments: Mapping[str, Any] | str | bytes = "{}",
        *,
        confidence: float | None = None,
        message: str = "",
        user: str | None = None,
        patient: str | None = None,
        conversation: str | None = None,
        dry_run: bool = False,
        call_id: str | None = None,
        budget: Budget | None = None,
        on_event: Listener | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """Call a tool with an object or its JSON text, through the one door; await the Result.

        `confidence` is 0..1; `message` is what the user said; `user`, `patient` and
        `conversation` (for Max Calls) come from the host, never from a model. What goes wrong is
        in the Result; only cancelling raises.
        """
        # Not a coroutine itself, but the door's: each frame left out is a tenth of a small call.
        # Arguments by place cost a third of those by name.
        door = self._live.door or self._door()
        quick = door.quick.get(name)
        if quick is not None and type(arguments) is str and not (dry_run or budget):
            return quick(arguments, call_id, confidence, message, user, patient, conversation)  # type: ignore[no-any-return]
        taken: Coroutine[Any, Any, Result] = door.call(
            name, arguments, confidence, message, user, patient, conversation, call_id, dry_run,
            budget, on_event,
        )  # fmt: skip
        return taken

    def call_sync(
        self, name: str, arguments: Mapping[str, Any] | str | bytes = "{}", **options: Any
    ) -> Result:
        """Do as `call`, for those who can't await; the calling thread waits."""
        return self._loop.run(self.call(name, arguments, **options))

    async def run(  # noqa: PLR0913 - the face of a run, by keyword
        self,
        name: str,
        inputs: Mapping[str, Any] | str | bytes = "{}",
        *,
        confidence: float | None = None,
        message: str = "",
        user: str | None = None,
        patient: str | None = None,
        conversation: str | None = None,
        ask: Asker | None = None,
        on_event: Watcher | None = None,
        run_id: str | None = None,
    ) -> SkillResult:
        """Run a skill to its end, or until it waits for a person (`code` is then `waiting`).

        `ask` takes a Question and gives an Answer, yes or no, or None where nobody is at hand.
        `on_event` hears of each step. Raises NotFoundError for a skill that is not there.
        """
        result: SkillResult = await self._all_runs().run(
            name,
            inputs,
            caller=Caller(user, patient, message, conversation),
            confidence=confidence,
            ask=ask,
            on_event=on_event,
            run_id=run_id,
        )
        return result

    def run_sync(
        self, name: str, inputs: Mapping[str, Any] | str | bytes = "{}", **options: Any
    ) -> SkillResult:
        """Do as `run`, for those who can't await; the calling thread waits."""
        return self._loop.run(self.run(name, inputs, **options))

    def exported(self, target: str, names: Sequence[str] = (), *, skills: bool = True) -> Exported:
        """Give the tools, and the skills that can run, as `target` reads them, and the losses.

        A list and its dicts are the caller's; what lies deeper is shared: copy what you change.
        Raises NotFoundError for a target or a name that is not there.
        """
        return export_from(self._live, target, names, skills=skills)

    def export(self, target: str, names: Sequence[str] = (), *, skills: bool = True) -> Any:
        """Give what `target` reads: a list of functions, a document, or text."""
        return self.exported(target, names, skills=skills).items

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def _door(self) -> Any:
        if self._closed:
            raise ToolmarkError("the workspace is closed")
        return self._live.open_door()

    def _all_runs(self) -> Any:
        from toolmark._workspace.runs.runs import Runs

        with self._lock:
            if self._closed:
                raise ToolmarkError("the workspace is closed")
            if self._runs is None:
                self._runs = Runs(lambda: self._live, self._clock, self._notices, self._plugins)
            return self._runs

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
