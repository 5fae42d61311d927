"""A live snapshot: the dispatcher, dialects and diagnostics, built on first use."""

import os
import threading
import time
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from toolmd._load.build import Snapshot
from toolmd._load.files import whole_file
from toolmd._load.plugins import reason
from toolmd._store.store import Store
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, in_reading_order
from toolmd._types.registry import Bound, BoundTool, Gateway, Registry
from toolmd._types.run import Clock
from toolmd._types.settings import AuditSettings, Settings
from toolmd._workspace.background_loop import off_loop
from toolmd._workspace.snapshot.call_hooks import (
    Dialects,
    after_of,
    ask_intent_of,
    before_of,
    dialects_of,
    doubt_of,
    guards_of,
    origins_of,
)

OVERLAP_S = 0.25
"""How long one import is waited for before the next begins beside it, in seconds."""

if TYPE_CHECKING:
    from toolmd._call import Dispatcher
    from toolmd._call.audit.log import AuditLog
    from toolmd._call.threads import Threads
    from toolmd._export.exported import Exported
    from toolmd._workspace.kept import Keeper


class Logs:
    """The logs of a workspace: one for each `[audit]` that was live; they outlive snapshots."""

    def __init__(self, store: Store) -> None:
        """Keep the store, which notes the newest records."""
        self.store = store
        self._lock = threading.Lock()
        self._logs: dict[AuditSettings, AuditLog] = {}

    def log_of(self, settings: Settings) -> "AuditLog | None":
        """Return the log of these settings; None where the audit is off."""
        # Only with the first call: what only looks at definitions does not import it.
        from toolmd._call.audit.log import log_of

        with self._lock:
            log = self._logs.get(settings.audit) or log_of(settings, self.store)
            if log is not None:
                self._logs[settings.audit] = log
            return log

    def close(self) -> None:
        """Note the newest records, and close the logs."""
        with self._lock:
            logs, self._logs = self._logs, {}
        for log in logs.values():
            log.close()


class Live:
    """One snapshot behind the workspace's pointer; calls under way keep theirs."""

    def __init__(
        self,
        settings: Settings,
        snapshot: Snapshot,
        logs: Logs,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self.snapshot = snapshot
        self.registry: Registry = snapshot.registry
        self._logs = logs
        self.dispatcher: Dispatcher | None = None
        """Made once a call needed it: what only looks at definitions does not import it."""
        self.exports: dict[tuple[str, bool, bool], Exported] = {}
        """What was exported of all definitions, by target, whether with skills, and whether with
        the tool that reads kept results."""
        self._clock = clock
        self._epoch = time.time if clock is None else lambda: clock().timestamp()
        self._lock = threading.Lock()
        self._settled = False
        self._found: tuple[Diagnostic, ...] | None = None

    @cached_property
    def keeper(self) -> "Keeper":
        """The results that models read only in part, and the tool that reads the rest."""
        from toolmd._workspace.kept import Keeper

        return Keeper(self.registry, self.settings, self._logs.store, self._epoch)

    @property
    def gateways(self) -> Sequence[Gateway]:
        """What calls the tools of other programs."""
        return self.snapshot.around.gateways

    def suspended_tools(self) -> frozenset[str]:
        """Return the tools that changed at their server or service since they were accepted."""
        tools = self.registry.tools.items() if self.gateways else ()
        named = {name: by for name, bound in tools if (by := bound.spec.implemented_by)}
        return frozenset(name for one in self.gateways for name in one.suspended(named))

    def for_models(self) -> Mapping[str, BoundTool]:
        """Return the tools for models: with the one that reads kept results while any is kept."""
        return self.keeper.tools if self.keeper.is_open() else self.registry.tools

    def open_dispatcher(self) -> "Dispatcher":
        """Return the dispatcher of this snapshot."""
        from toolmd._call import Dispatcher

        with self._lock:
            if self.dispatcher is None:
                snapshot = self.snapshot
                self.dispatcher = Dispatcher(
                    replace(self.registry, tools=self.keeper.tools),
                    self.settings,
                    resources=snapshot.resources,
                    guards=guards_of(snapshot.plugins, self.settings),
                    before=before_of(snapshot.plugins),
                    after=after_of(snapshot.plugins, self.settings),
                    clock=self._epoch,
                    store=self._logs.store,
                    log=self._logs.log_of(self.settings),
                    origins=origins_of(snapshot.plugins, self.settings, self.keeper.tools),
                    doubt=doubt_of(snapshot.plugins),
                    ask_intent=ask_intent_of(snapshot.plugins),
                )
            return self.dispatcher

    async def ready_dispatcher(self) -> "Dispatcher":
        """Return the dispatcher; the event loop goes on while plugins are imported for it."""
        if (dispatcher := self.dispatcher) is None:
            dispatcher = await (await _threads()).run(self.open_dispatcher)
        return dispatcher

    async def settle(self) -> None:
        """Ask plugins what replies, runs and lists need of them, next to the event loop."""
        if not self._settled:
            await (await _threads()).run(self._settle)

    def _settle(self) -> None:
        self.open_dispatcher()
        _ = self.dialects
        for tool in self.registry.tools.values():
            _ = tool.binding
        for skill in self.registry.skills.values():
            _ = skill.binding
        self._settled = True

    def with_tools(self, tools: Mapping[str, BoundTool]) -> "Live":
        """Return this snapshot with its own dispatcher and other definitions of these tools."""
        registry = Registry({**self.registry.tools, **tools}, self.registry.skills)
        snapshot = replace(self.snapshot, registry=registry)
        return Live(self.settings, snapshot, self._logs, self._clock)

    @cached_property
    def python_hash(self) -> str:
        """The hex sha256 of the snapshot's Python."""
        return self.snapshot.around.code.of()

    @cached_property
    def dialects(self) -> Dialects:
        """The dialects that replies may be in."""
        return dialects_of(self.snapshot.plugins)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All diagnostics of files, skills and bindings; it imports all Python.

        A late import is reported, and checked again the next time: it may have ended.
        """
        if self._found is None:
            found = self.look()
            # It may have come to its end since it was told to be late.
            late = any(one.code is Code.IMPORT_TIMEOUT for one in found)
            if late or self.snapshot.plugins.imports.overdue:
                return found
            self._found = found
        return self._found

    def python_at(self, places: Collection[str]) -> dict[str, str]:
        """Return the definitions that lie, or whose Python lies, at or within these places.

        Each name comes with the place of its Python; empty where it has none of its own.
        """
        root, found = f"{self.settings.root}{os.sep}", {}
        for bound in self._bound():
            python = f"{root}{bound.target.rpartition(':')[0]}" if bound.target else ""
            file = self.snapshot.kept.named[bound.name].file.location
            if any(at in places or at.startswith(_inside(places)) for at in (file, python) if at):
                found[bound.name] = python
        return found

    def _bound(self) -> "list[Bound[Any]]":
        return [*self.registry.tools.values(), *self.registry.skills.values()]

    def look(self, names: Container[str] | None = None) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of files and bindings; only the Python of `names` is imported."""
        found = set(self.registry.diagnostics)
        for name, error in self.snapshot.plugins.broken():
            message = f"{name} can't be loaded, so calls to its folder's tools are denied"
            found.add(whole_file(name, Code.BROKEN_PLUGIN, message, reason(error)))
        if self.snapshot.plugins.implements("toolmd_dialects"):
            found.update(self.dialects.diagnostics)
        bindings = [b.binding for b in self._bound() if names is None or b.name in names]
        for binding in bindings:
            if binding.start is not None:
                # One that hangs is not waited for: the next begins beside it.
                binding.start(OVERLAP_S)
        for binding in bindings:
            if binding.inspect is not None:
                found.update(binding.inspect())
        return in_reading_order(found)

    def same_as(self, other: "Live") -> bool:
        """Return whether two snapshots are equal, so that none needs to be replaced."""
        return self.settings == other.settings and self.snapshot.stamp == other.snapshot.stamp


def _inside(places: Collection[str]) -> tuple[str, ...]:
    return tuple(f"{place}{os.sep}" for place in places)


async def _threads() -> "Threads":
    """Return the threads for what plugins do; their import is not waited for on the event loop."""
    return await off_loop(_import_threads)


def _import_threads() -> "Threads":
    from toolmd._call.threads import AROUND

    return AROUND
