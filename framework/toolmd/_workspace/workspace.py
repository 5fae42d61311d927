"""The workspace: call a project's tools, run its skills, and handle model replies."""

import datetime as dt
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from toolmd._load.files import links_along
from toolmd._types.call import NO_CONTEXT, Budget, Call, Caller, Fact, key_of
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.pending_change import PendingChange
from toolmd._types.registry import BoundSkill, BoundTool, PluginInfo, Registry
from toolmd._types.result import EventListener, Result
from toolmd._types.settings import Settings
from toolmd._workspace.background_loop import off_loop, sync_of
from toolmd._workspace.confirmations import Confirmations, Crises
from toolmd._workspace.project import (
    ChangeListener,
    CheckListener,
    Project,
    WorkspaceEventListener,
)
from toolmd._workspace.results import Results
from toolmd.config import OWN_FILE, PROJECT_FILE, load_settings

if TYPE_CHECKING:
    # A program that only calls tools exports nothing, handles no reply and runs no skill.
    from toolmd._export.exported import Exported
    from toolmd._types.run import Asker, Clock, RunListener
    from toolmd._types.turn import Turn
    from toolmd._workspace.replies import Replies
    from toolmd._workspace.runs import Runs

Arguments = Mapping[str, Any] | str | bytes
"""An object, or its JSON text."""


class Watched(NamedTuple):
    """The folders and files that a reload reads; some may not exist yet."""

    folders: tuple[Path, ...]
    """Of definitions, with all that is below them."""
    files: frozenset[Path]
    """The settings, what was live last, and the links on the way to what is read."""


class Workspace:
    """An open project: its tools and skills, the methods that call them, and its diagnostics.

    A reload replaces the snapshot; calls under way stay on theirs. Each async method has a sync
    version for callers that can't await: `call_sync` of `call`, and so on. `open`, `reload` and
    `close` block; `aopen`, `areload` and `aclose` do not.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        plugins: Mapping[str, object] | None = None,
        clock: "Clock | None" = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        """Read the project.

        Args:
            settings: The project's settings.
            plugins: Objects with hooks, by name; they join the installed plugins.
            clock: Returns the time of runs, with its zone; by default the machine's time.
            on_close: Called when the workspace is closed.
        """
        self._project = Project(settings, plugins=plugins, clock=clock)
        self._on_close = on_close or (lambda: None)
        self.changes = Changes(self._project)
        """The policy changes that wait for acceptance."""
        self.confirmations = Confirmations(self._project, lambda: self.runs)
        """The calls and questions that wait for a person, and the decisions on them."""
        self.crises = Crises(self._project)
        """The conversations with a crisis flag; an operator clears their flags."""
        self.results = Results(self._project)
        """What models read of results, and the whole of those that are too large."""
        self._replies_module: Any = None
        self._runs: Runs | None = None

    @classmethod
    def open(
        cls,
        folder: str | Path | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
        plugins: Mapping[str, object] | None = None,
    ) -> Self:
        """Read a project; a bad definition never raises, it becomes a diagnostic.

        Args:
            folder: The project's folder; by default, the nearest project upward.
            overrides: Settings by key, such as `{"safety.floor": 0.5}`.
            plugins: Objects with hooks, by name.

        Raises:
            ConfigError: The settings can't be read.
            UnreachableError: The record of the last live definitions was emptied.
        """
        workspace = cls(load_settings(folder, overrides=overrides), plugins=plugins)
        root = workspace.settings.root
        workspace._project.load_settings = lambda: load_settings(root, overrides=overrides)
        return workspace

    @classmethod
    async def aopen(
        cls,
        folder: str | Path | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
        plugins: Mapping[str, object] | None = None,
    ) -> Self:
        """Same as `open`, in a thread, so that the event loop stays free."""
        return await off_loop(cls.open, folder, overrides=overrides, plugins=plugins)

    def close(self) -> None:
        """Stop the calls of the sync methods, and close the resources."""
        if self._project.end():
            self._project.live.snapshot.resources.retire()
            self._on_close()

    async def aclose(self) -> None:
        """Same as `close`, for resources that close asynchronously."""
        if await off_loop(self._project.end):
            await self._project.live.snapshot.resources.aretire()
            self._on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    @property
    def settings(self) -> Settings:
        """The project's settings."""
        return self._project.live.settings

    @property
    def registry(self) -> Registry:
        """The current snapshot, which new calls use."""
        return self._project.live.registry

    @property
    def tools(self) -> Mapping[str, BoundTool]:
        """The tools by name: those without errors in their files."""
        return self._project.live.registry.tools

    @property
    def skills(self) -> Mapping[str, BoundSkill]:
        """The skills by name: those without errors in their files and in their steps."""
        return self._project.live.registry.skills

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All diagnostics of files, skills and bindings, in the order of their places.

        The first access imports the implementations and checks them against the markdown.
        `registry.diagnostics` contains only those of reading the files.
        """
        return self._project.diagnostics_of()

    def diagnostics_of(self, names: Collection[str] | None = None) -> tuple[Diagnostic, ...]:
        """Return what `diagnostics` has, but import the Python of a few definitions only.

        Args:
            names: The tools and skills whose Python is imported and checked; None for all.
        """
        return self._project.diagnostics_of(names)

    def python_at(self, places: Collection[str]) -> Mapping[str, str]:
        """Return the tools and skills whose markdown or Python lies at or within some places.

        Args:
            places: Absolute paths of files and folders.

        Returns:
            The place of the Python by the name of its tool or skill; empty where it has none.
        """
        return self._project.live.python_at(places)

    @property
    def policy(self) -> str:
        """The hash of the definitions and thresholds in force, such as `sha256:…`."""
        return self._project.live.policy

    def suspended_tools(self) -> frozenset[str]:
        """Return the tools whose MCP server or service changed since they were accepted.

        Their calls are denied until an operator accepts the change. No server is asked, but the
        store; the calling thread waits. Raises UnreachableError if the store can't be used.
        """
        live = self._project.live
        tools = live.registry.tools.items() if live.gateways else ()
        named = {name: by for name, bound in tools if (by := bound.spec.implemented_by)}
        return frozenset(name for one in live.gateways for name in one.suspended(named))

    @property
    def plugins(self) -> tuple[PluginInfo, ...]:
        """The state of each plugin; access loads the plugins of the definitions' folders."""
        known = self._project.live.snapshot.plugins
        known.wake()
        return tuple(known.listed.values())

    async def authenticate(self, headers: Mapping[str, str]) -> Any:
        """Return the first answer of the hook `toolmd_authenticate`; None where no plugin knows.

        Raises what a plugin raised.

        Args:
            headers: The headers of a request, by their names in lower case.
        """
        return await self._project.live.authenticate(headers)

    authenticate_sync = sync_of(authenticate)

    def exported(
        self, target: str, names: Sequence[str] = (), *, skills: bool = True
    ) -> "Exported":
        """Return the tools and runnable skills in the format of `target`, and the losses.

        The list and its dicts belong to the caller; deeper values are shared: copy them first.

        Args:
            target: The format, such as `openai`.
            names: The tools and skills; by default all.
            skills: Whether skills are exported, too.

        Raises:
            NotFoundError: The target or a name is unknown.
        """
        from toolmd._workspace.exports import export_from

        return export_from(self._project.live, target, names, skills=skills)

    def export(self, target: str, names: Sequence[str] = (), *, skills: bool = True) -> Any:
        """Return the items of `exported`: a list of functions, a document, or text.

        Args:
            target: As in `exported`.
            names: As in `exported`.
            skills: As in `exported`.
        """
        return self.exported(target, names, skills=skills).items

    def reload(self) -> Registry:
        """Read the project again and return the new snapshot, or the old one if nothing changed.

        No Python is imported: the next call that needs changed Python imports it. If the settings
        can't be read, the old snapshot stays, with a diagnostic.

        Returns:
            The registry that is live now.
        """
        return self._project.reload()

    async def areload(self) -> Registry:
        """Same as `reload`, in a thread, so that the event loop stays free."""
        return await off_loop(self._project.reload)

    @property
    def watched(self) -> Watched:
        """The folders and files that a reload reads."""
        settings, snapshot = self.settings, self._project.live.snapshot
        named = [settings.root / Path(n).expanduser() for n in (*settings.tools, *settings.skills)]
        files = [settings.root / OWN_FILE, settings.root / PROJECT_FILE]
        files += [self._project.baseline.file, *([settings.file] if settings.file else [])]
        # A folder that moves, or a link that leads elsewhere, changes what lies at the name.
        files += [up for folder in named for up in folder.parents
                  if up.is_relative_to(settings.root) and up != settings.root]  # fmt: skip
        for place in (*named, *files, *snapshot.links):
            files += links_along(place)
        files += [Path(os.path.realpath(link)) for link in snapshot.links]
        folders = [Path(os.path.realpath(folder)) for folder in named]
        packages = map(Path, snapshot.plugins.sources)
        every = dict.fromkeys((*folders, *snapshot.folders, *packages))
        return Watched(tuple(every), frozenset(files))

    def on_change(self, listener: ChangeListener) -> Callable[[], None]:
        """Call `listener` with the old and the new registry after each change.

        The thread that made the snapshot calls it, once for each snapshot, in order. Exceptions
        of the listener are logged. Returns a function that stops it.
        """
        return self._project.changes.add(listener)

    def on_checked(self, listener: CheckListener) -> Callable[[], None]:
        """Call `listener` with all diagnostics after each change; return a function that stops it.

        The call comes from a thread of its own, when the changed Python has been imported.
        """
        return self._project.checks.add(listener)

    def check_soon(self) -> None:
        """Collect all diagnostics in a separate thread, and call the `on_checked` listeners."""
        self._project.check_soon()

    @property
    def runs(self) -> "Runs":
        """The runs of skills: listed, followed, resumed, cancelled, answered."""
        # Programs that only call tools never import them.
        from toolmd._workspace.runs import Runs

        project = self._project
        with project.lock:
            if self._runs is None:
                project.check_open()
                self._runs = Runs(project)
                project.close_runs = self._runs.close
            return self._runs

    async def call(  # noqa: PLR0913, PLR0917 - the face of a call
        self,
        name: str,
        arguments: Arguments = "{}",
        confidence: float | None = None,
        message: str = "",
        user: str | None = None,
        context: Mapping[str, Fact] = NO_CONTEXT,
        conversation: str | None = None,
        dry_run: bool = False,  # noqa: FBT001, FBT002 - as above
        call_id: str | None = None,
        budget: Budget | None = None,
        on_event: EventListener | None = None,
        roles: Sequence[str] = (),
        via: str | None = None,
    ) -> Result:
        """Call a tool, and return its Result.

        The host names the user, the context and the conversation; a model never does.

        Args:
            name: The tool.
            arguments: An object, or its JSON text.
            confidence: The model's confidence, from 0 to 1.
            message: The user's own message.
            user: The user's id.
            context: Facts about the caller, such as `{"patient": "P-1001"}`.
            conversation: The conversation's id; a Quota per conversation counts by it.
            dry_run: Whether to run all checks, but not the tool.
            call_id: The model's id of the call; the Result repeats it.
            budget: The limits that a plan sets. With a budget, Max Rows and Max Bytes cut, too.
            on_event: Receives the progress and the items of the call.
            roles: The user's roles, which guards read.
            via: Who acts for the user, such as a backend; None if she acts herself.

        Returns:
            The Result; a denial or a failure is its `error`.
        """
        caller = Caller(user, context, message, conversation, roles=tuple(roles), via=via)
        key = None if call_id is None else key_of(call_id, name, caller)
        call = Call(name, arguments, call_id, confidence, caller, dry_run, budget, key)
        dispatcher = self._project.live.dispatcher or await self._project.dispatcher()
        result = await dispatcher.dispatch(call, on_event)
        if budget is None:
            return result
        return self._project.live.keeper.cut_to_limits(result._replace(budget=budget))

    async def handle(  # noqa: PLR0913 - the face of a turn, by keyword
        self,
        reply: Any,
        dialect: str = "auto",
        *,
        message: str = "",
        user: str | None = None,
        roles: Sequence[str] = (),
        context: Mapping[str, Fact] = NO_CONTEXT,
        conversation: str | None = None,
        dry_run: bool = False,
        on_event: EventListener | None = None,
        via: str | None = None,
    ) -> "Turn":
        """Run the calls of a model's reply in parallel; one that can't be read denies them all.

        Args:
            reply: Text, JSON text, bytes, a dict, or a provider's object.
            dialect: The form of the reply; `auto` detects it.
            message: What the user said.
            user: The user's id.
            roles: The user's roles, which guards read.
            context: Facts about the caller.
            conversation: The conversation's id.
            dry_run: Whether to run all checks, but no tool.
            on_event: Receives the progress and the items of the calls.
            via: Who acts for the user, as in `call`.

        Returns:
            The reply's text without the calls, their Results in order, and the pending calls.

        Raises:
            NotFoundError: The dialect is unknown.
        """
        caller = Caller(user, context, message, conversation, roles=tuple(roles), via=via)
        async with self._replies() as replies:
            return await replies.handle(
                reply, dialect, caller=caller, dry_run=dry_run, on_event=on_event
            )

    async def run(  # noqa: PLR0913 - the face of a run, by keyword
        self,
        name: str,
        inputs: Arguments = "{}",
        *,
        confidence: float | None = None,
        message: str = "",
        user: str | None = None,
        roles: Sequence[str] = (),
        context: Mapping[str, Fact] = NO_CONTEXT,
        conversation: str | None = None,
        ask: "Asker | None" = None,
        on_event: "RunListener | None" = None,
        run_id: str | None = None,
        at: dt.datetime | None = None,
        via: str | None = None,
    ) -> Result:
        """Run a skill to its end, or until it waits.

        Args:
            name: The skill.
            inputs: An object, or its JSON text.
            confidence: The model's confidence, from 0 to 1.
            message: The user's own message.
            user: The user's id.
            roles: The user's roles, which guards read.
            context: Facts about the caller.
            conversation: The conversation's id.
            ask: Receives a Question; returns an Answer, yes or no, or None to leave it open.
            on_event: Receives each step.
            run_id: The id of the run; a random one by default.
            at: The time of its start, local unless it has a zone: the run is only scheduled, and
                any process that executes runs starts it then.
            via: Who acts for the user, as in `call`.

        Returns:
            The Result, with the `run_id`. The outcome is `confirm` or `review` if the run waits
            for a person, and `waiting` names its questions; `waiting` if it waits for a time.

        Raises:
            NotFoundError: The skill is unknown.
        """
        caller = Caller(user, context, message, conversation, roles=tuple(roles), via=via)
        call = Call(name, inputs, confidence=confidence, caller=caller)
        return await self.runs.begin(call, ask=ask, on_event=on_event, run_id=run_id, at=at)

    async def dispatch(self, call: Call, on_event: EventListener | None = None) -> Result:
        """Call the tool or skill that a model named, by its exported name.

        Use it in interfaces that carry single calls; `handle` reads whole replies.

        Args:
            call: The call with its caller.
            on_event: Receives the progress and the items of the call.
        """
        async with self._replies() as replies:
            return await replies.take_alone(call, on_event)

    async def deny_unknown(self, call: Call) -> Result:
        """Deny a call by a name that an interface does not list, and record it.

        Args:
            call: The call with its caller.
        """
        dispatcher = self._project.live.dispatcher or await self._project.dispatcher()
        return await dispatcher.deny_unknown(call)

    deny_unknown_sync = sync_of(deny_unknown)

    @asynccontextmanager
    async def _replies(self) -> AsyncIterator["Replies"]:
        """Open what handles replies on one snapshot, whatever is reloaded meanwhile."""
        self._project.check_open()
        if self._replies_module is None:
            # The event loop does not wait for the import.
            self._replies_module = await off_loop(import_module, "toolmd._workspace.replies")
        live = self._project.live
        with live.snapshot.resources.hold():
            await live.settle()
            dispatcher = await live.ready_dispatcher()
            yield self._replies_module.Replies(lambda: self.runs, live, dispatcher)

    def system_prompt(self, dialect: str) -> str:
        """Return the system prompt that explains a text dialect and the tools.

        It is empty for a dialect whose API carries tools itself: use `export` there.

        Raises:
            NotFoundError: The dialect is unknown.
        """
        from toolmd._dialect import system_prompt
        from toolmd._workspace.exports import state_threshold

        live = self._project.live
        tools = [state_threshold(live, bound) for bound in live.for_models().values()]
        return system_prompt(tools, dialect, live.dialects.by_name)

    def on_workspace_event(self, listener: WorkspaceEventListener) -> Callable[[], None]:
        """Call `listener` for decisions and runs, from any interface.

        The thread of the event calls it with `pending`, `run` or `run-step`, the event's JSON,
        and its user. Exceptions of the listener are logged. Returns a function that stops it.
        """
        return self._project.workspace_events.add(listener)

    call_sync = sync_of(call)
    handle_sync = sync_of(handle)
    run_sync = sync_of(run)
    dispatch_sync = sync_of(dispatch)


class Changes:
    """Edits that weaken a policy: the stricter policy stays in force until the edit is accepted."""

    def __init__(self, project: Project) -> None:
        self._project = project

    async def list(self) -> tuple[PendingChange, ...]:
        """Return the pending changes of tools and skills."""
        return self._project.live.registry.pending_changes

    async def accept(self, name: str) -> PendingChange:
        """Accept the pending change of a tool or skill: it becomes live.

        Returns:
            The change as `list` returned it, even if the file has changed since.

        Raises:
            NotFoundError: No pending change has this name.
            UnreachableError: The store can't be reached; the change stays pending.
        """
        return await off_loop(self._project.accept, name)

    def accept_sync(self, name: str) -> PendingChange:
        """Accept a pending change, as `accept` does; an observer of changes may."""
        return self._project.accept(name)

    list_sync = sync_of(list)  # noqa: A003 - the method above
