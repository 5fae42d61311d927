"""Replace a workspace's snapshot by what the files say now, and tell those who listen."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from toolmd._bind.edits.settings import hold_settings
from toolmd._bind.source.files import links_along, whole_file
from toolmd._model.code import Code
from toolmd._model.diagnostic import Diagnostic, Severity
from toolmd._model.edit import HeldEdit
from toolmd._model.registry import Registry
from toolmd._workspace.listeners import ChangeListener
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


class Reloading(OpenProject):
    """The part of a workspace that follows its files."""

    @property
    def held_edits(self) -> tuple[HeldEdit, ...]:
        """The edits that loosen a policy and wait for `ack`; the stricter one is live."""
        return self._live.registry.held_edits

    @property
    def watched(self) -> Watched:
        """What a reload reads."""
        settings = self._live.settings
        named = [settings.root / Path(n).expanduser() for n in (*settings.tools, *settings.skills)]
        files = [settings.root / OWN_FILE, settings.root / PROJECT_FILE, self._baseline.file]
        if settings.file is not None:
            files.append(settings.file)
        # A folder that moves, or a link that leads elsewhere, changes what lies at the name.
        above = [
            up for folder in named for up in folder.parents if up.is_relative_to(settings.root)
        ]
        snapshot = self._live.snapshot
        files += [up for up in above if up != settings.root]
        for place in (*named, *files, *snapshot.links):
            files += links_along(place)
        files += [Path(os.path.realpath(link)) for link in snapshot.links]
        folders = dict.fromkeys(Path(os.path.realpath(folder)) for folder in named)
        return Watched(
            tuple(dict.fromkeys((*folders, *snapshot.folders))),
            frozenset(files),
        )

    def on_change(self, listener: ChangeListener) -> Callable[[], None]:
        """Have `listener` called with the old and the new registry after each change.

        It is called once for each new snapshot, in their order, by the thread that made it. What
        it raises is logged. Gives what ends it.
        """
        return self._changes.add(listener)

    def reload(self) -> Registry:
        """Read the project again and give the new snapshot, or the old one where nothing changed.

        Where the settings can't be read any more, the old snapshot stays, with a diagnostic.
        """
        with self._turn:
            old = self._live.registry
            new = self._reloaded()
            if self._live.registry is not old:
                self._changes.tell(old, new)
            return new

    def ack(self, name: str) -> HeldEdit:
        """Acknowledge what an edit loosened: it is live from now on; gives the edit.

        What is agreed to is the edit that `held_edits` tells, not what the file may say by now.
        Raises NotFoundError where no edit of this name is held.
        """
        with self._turn:
            waiting = self._live.snapshot.waiting
            folded = known_name(name, self._live.registry, "tool or skill")
            if folded not in waiting:
                raise NotFoundError(f"no edit of {folded} waits to be acknowledged")
            edit, row = waiting[folded]
            self._baseline.accept(row)
            self.reload()
            return edit

    def _reloaded(self) -> Registry:
        with self._lock:
            self._check_open()
            kept = self._live
            try:
                settings, dropped = hold_settings(kept.settings, self._reload_settings())
            except ConfigError as error:
                help_ = "the settings of before stay in force"
                self._trouble = (self._about(Code.UNREADABLE_SETTINGS, str(error), help_),)
                registry = kept.registry
                return replace(registry, diagnostics=(*self._trouble, *registry.diagnostics))
            fresh = self._read(settings, kept)
            self._trouble = self._dropped(dropped)
            spare = fresh
            if not fresh.same_as(kept):
                spare, self._live = kept, fresh
            spare.snapshot.resources.retire()
            return self._live.registry

    def _dropped(self, keys: tuple[str, ...]) -> tuple[Diagnostic, ...]:
        if not keys:
            return ()
        message = f"the settings loosen {', '.join(keys)}: the stricter ones stay in force"
        told = self._about(Code.LOOSENED_SETTINGS, message, "start anew to take them")
        return (told._replace(severity=Severity.WARNING),)

    def _about(self, code: Code, message: str, help_: str) -> Diagnostic:
        file = self._live.settings.file
        return whole_file(file.name if file else "settings", code, message, help_)
