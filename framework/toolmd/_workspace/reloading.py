"""Replace a workspace's snapshot by what the files say now, and tell those who listen."""

import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from toolmd._bind.edits.settings import hold_settings
from toolmd._bind.source.files import links_along, whole_file
from toolmd._model.code import Code
from toolmd._model.diagnostic import Diagnostic, Severity
from toolmd._model.edit import HeldEdit
from toolmd._model.registry import Registry
from toolmd._workspace.names import known_name
from toolmd._workspace.opened import OpenProject
from toolmd.config import OWN_FILE, PROJECT_FILE
from toolmd.errors import ConfigError, NotFoundError


class Watched(NamedTuple):
    """What a reload reads; what is not there may come."""

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

    @property
    def watched(self) -> Watched:
        """What a reload reads."""
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
            new = self._reloaded()
            if project.live.registry is not old:
                project.changes.tell(old, new)
            return new

    def accept(self, name: str) -> HeldEdit:
        """Accept a policy change; see `Changes.accept`."""
        with self._turn:
            live = self._project.live
            waiting = live.snapshot.waiting
            folded = known_name(name, live.registry, "tool or skill")
            if folded not in waiting:
                raise NotFoundError(f"no edit of {folded} waits to be acknowledged")
            edit, row = waiting[folded]
            self._project.baseline.accept(row)
            self.reload()
            return edit

    def _reloaded(self) -> Registry:
        project = self._project
        with project.lock:
            project.check_open()
            kept = project.live
            try:
                settings, dropped = hold_settings(kept.settings, project.reload_settings())
            except ConfigError as error:
                help_ = "the settings of before stay in force"
                project.trouble = (self._about(Code.UNREADABLE_SETTINGS, str(error), help_),)
                registry = kept.registry
                return replace(registry, diagnostics=(*project.trouble, *registry.diagnostics))
            fresh = project.read(settings, kept)
            project.trouble = self._dropped(dropped)
            spare = fresh
            if not fresh.same_as(kept):
                spare, project.live = kept, fresh
            spare.snapshot.resources.retire()
            return project.live.registry

    def _dropped(self, keys: tuple[str, ...]) -> tuple[Diagnostic, ...]:
        if not keys:
            return ()
        message = f"the settings loosen {', '.join(keys)}: the stricter ones stay in force"
        told = self._about(Code.LOOSENED_SETTINGS, message, "start anew to take them")
        return (told._replace(severity=Severity.WARNING),)

    def _about(self, code: Code, message: str, help_: str) -> Diagnostic:
        file = self._project.live.settings.file
        return whole_file(file.name if file else "settings", code, message, help_)
