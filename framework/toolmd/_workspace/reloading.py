"""Replace a workspace's snapshot after a change of its files, and call the listeners."""

import logging
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from toolmd._load.build import Snapshot
from toolmd._load.files import links_along, whole_file
from toolmd._load.weakening import hold_settings
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.pending_change import PendingChange
from toolmd._types.registry import Registry
from toolmd._types.settings import Settings
from toolmd._workspace.names import known_name
from toolmd._workspace.opened import Listeners, OpenProject
from toolmd.config import OWN_FILE, PROJECT_FILE
from toolmd.errors import ConfigError, NotFoundError

_log = logging.getLogger(__name__)
CheckListener = Callable[[tuple[Diagnostic, ...]], None]
"""Reads all diagnostics of the snapshot that was checked."""


class Watched(NamedTuple):
    """The folders and files that a reload reads; some may not exist yet."""

    folders: tuple[Path, ...]
    """Of definitions, with all that is below them."""
    files: frozenset[Path]
    """The settings, what was live last, and the links on the way to what is read."""


class Reloader:
    """Follows the files of a project."""

    def __init__(self, project: OpenProject) -> None:
        self._project = project
        # A listener may reload or accept in turn.
        self._turn = threading.RLock()
        self.checker = SnapshotChecker(lambda: project.diagnostics)
        """Checks what a change brought, once the listeners were told of it."""

    @property
    def watched(self) -> Watched:
        """The folders and files that a reload reads."""
        live = self._project.live
        settings = live.settings
        named = [settings.root / Path(n).expanduser() for n in (*settings.tools, *settings.skills)]
        files = [settings.root / OWN_FILE, settings.root / PROJECT_FILE]
        files.append(self._project.baseline.file)
        if settings.file is not None:
            files.append(settings.file)
        # A folder that moves, or a link that leads elsewhere, changes what lies at the name.
        above = [
            up for folder in named for up in folder.parents if up.is_relative_to(settings.root)
        ]
        snapshot = live.snapshot
        files += [up for up in above if up != settings.root]
        for place in (*named, *files, *snapshot.links):
            files += links_along(place)
        files += [Path(os.path.realpath(link)) for link in snapshot.links]
        folders = dict.fromkeys(Path(os.path.realpath(folder)) for folder in named)
        return Watched(
            tuple(dict.fromkeys((*folders, *snapshot.folders))),
            frozenset(files),
        )

    def reload(self) -> Registry:
        """Read the project again; see `Workspace.reload`."""
        project = self._project
        with self._turn:
            old = project.live.registry
            new = self._replace()
            if project.live.registry is not old:
                project.changes.tell(old, project.live.registry)
                if self.checker.listeners:
                    self.checker.check_soon()
        return new

    def accept(self, name: str) -> PendingChange:
        """Accept a policy change; see `Changes.accept`."""
        with self._turn:
            live = self._project.live
            waiting = live.snapshot.kept.waiting
            folded = known_name(name, live.registry, "tool or skill")
            if folded not in waiting:
                raise NotFoundError(f"{folded} has no change that waits for acceptance")
            edit, key, row, kept = waiting[folded]
            number = self._project.store.changes.accept(key, kept.spec, kept.taken)
            self._project.baseline.accept(row._replace(taken=number))
            self.reload()
            return edit

    def _replace(self) -> Registry:
        project = self._project
        with project.lock:
            project.check_open()
            kept = project.live
            try:
                settings, dropped = hold_settings(kept.settings, project.reload_settings())
            except ConfigError as error:
                help_ = "the settings of before stay in force"
                project.problem = (self._about(Code.UNREADABLE_SETTINGS, str(error), help_),)
                registry = kept.registry
                return replace(registry, diagnostics=(*project.problem, *registry.diagnostics))
            project.problem = self._dropped(dropped)
            snapshot = project.read(settings, kept.snapshot)
            self._publish(snapshot, settings)
            return project.live.registry

    def _publish(self, snapshot: Snapshot, settings: Settings) -> None:
        """Make a snapshot the live one if it differs from the live one."""
        kept = self._project.live
        fresh = self._project.made_live(settings, snapshot)
        spare = fresh
        if not fresh.same_as(kept):
            spare, self._project.live = kept, fresh
        if spare.snapshot.resources is not self._project.live.snapshot.resources:
            spare.snapshot.resources.retire()

    def _dropped(self, keys: tuple[str, ...]) -> tuple[Diagnostic, ...]:
        if not keys:
            return ()
        message = f"the settings weaken {', '.join(keys)}: the stricter ones stay in force"
        help_ = "restart to apply them"
        return (self._about(Code.WEAKENED_SETTINGS, message, help_, Severity.WARNING),)

    def _about(
        self, code: Code, message: str, help_: str, severity: Severity = Severity.ERROR
    ) -> Diagnostic:
        file = self._project.live.settings.file
        return whole_file(file.name if file else "settings", code, message, help_, severity)


class SnapshotChecker:
    """Collects the diagnostics after a change, and calls the listeners from its own thread."""

    def __init__(self, diagnostics: Callable[[], tuple[Diagnostic, ...]]) -> None:
        """`diagnostics` imports what there is to import, and returns everything that is found."""
        self._diagnostics = diagnostics
        self._lock = threading.Lock()
        self._wanted = False
        self._runs = False
        self.listeners: Listeners[tuple[Diagnostic, ...]] = Listeners("checks")

    def check_soon(self) -> None:
        """Begin a check; where one is under way, another follows it."""
        with self._lock:
            self._wanted = True
            if not self._runs:
                self._runs = True
                # A daemon: a process that ends waits for no import.
                threading.Thread(target=self._run, name="toolmd-check", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._wanted:
                    self._runs = False
                    return
                self._wanted = False
            try:
                self.listeners.tell(self._diagnostics())
            except Exception:  # noqa: BLE001 - nobody waits for it
                _log.exception("the check of the project failed; the next change is checked again")
