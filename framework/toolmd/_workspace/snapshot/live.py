"""A snapshot at work: the parts that take its calls and hold its findings, made on first use."""

import threading
import time
from functools import cached_property
from typing import TYPE_CHECKING

from toolmd._bind.build import Snapshot
from toolmd._bind.edits.last_python import OVERLAP_S
from toolmd._bind.plugins.manager import reason
from toolmd._bind.source.files import whole_file
from toolmd._model.code import Code
from toolmd._model.diagnostic import Diagnostic
from toolmd._model.registry import Registry
from toolmd._model.run import Clock
from toolmd._model.settings import Settings
from toolmd._workspace.snapshot.door_hooks import judges_of, listeners_of, origins_of

if TYPE_CHECKING:
    from toolmd._bind.pin import Pin
    from toolmd._call import Door
    from toolmd._call.limits.tally import Tally
    from toolmd._export.exported import Exported
    from toolmd._workspace.snapshot.dialects import Dialects


class Live:
    """One snapshot behind the workspace's pointer; calls under way keep theirs."""

    def __init__(
        self,
        settings: Settings,
        snapshot: Snapshot,
        clock: Clock | None = None,
        tallies: "dict[str, Tally] | None" = None,
        beside: Snapshot | None = None,
    ) -> None:
        """`tallies` are the workspace's counts of calls by tool, which outlive the snapshot.

        `beside` is the snapshot whose judges rule on the calls too.
        """
        self.settings = settings
        self.snapshot = snapshot
        self.door: Door | None = None
        """Made once a call needed it: what only looks at definitions does not import it."""
        self.exports: dict[tuple[str, bool], Exported] = {}
        """What was exported of all definitions, by target and whether with skills."""
        self._clock = clock
        self._tallies: dict[str, Tally] = {} if tallies is None else tallies
        self._beside = beside
        self._lock = threading.Lock()
        self._found: tuple[Diagnostic, ...] | None = None

    @property
    def registry(self) -> Registry:
        """What can be called."""
        return self.snapshot.registry

    def open_door(self) -> "Door":
        """Give the one door of this snapshot."""
        from toolmd._call import Door

        with self._lock:
            if self.door is None:
                snapshot, clock = self.snapshot, self._clock
                beside = None if self._beside is None else self._beside.plugins
                before, after = listeners_of(snapshot.plugins)
                self.door = Door(
                    self.registry,
                    self.settings,
                    resources=snapshot.resources,
                    judges=judges_of(snapshot.plugins, beside),
                    before=before,
                    after=after,
                    clock=time.time if clock is None else lambda: clock().timestamp(),
                    tallies=self._tallies,
                    origins=origins_of(snapshot.plugins, self.settings, self.registry.tools),
                )
            return self.door

    def taking_up(self, snapshot: Snapshot) -> "Live":
        """Give a snapshot of before a door of its own, before which today's judges rule too."""
        return Live(self.settings, snapshot, self._clock, self._tallies, self.snapshot)

    @cached_property
    def pin(self) -> "Pin":
        """The snapshot's Python by its bytes."""
        from toolmd._bind.pin import pin_of

        return pin_of(self.snapshot, self.settings.root.resolve())

    def close_door(self) -> None:
        """Close what the door keeps open; no call comes any more."""
        with self._lock:
            door, self.door = self.door, None
        if door is not None:
            door.close()

    @cached_property
    def dialects(self) -> "Dialects":
        """The dialects that replies may be in."""
        from toolmd._workspace.snapshot.dialects import dialects_of

        return dialects_of(self.snapshot.plugins)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything there is to say, over files, skills and bindings: imports all Python.

        What is late is told, and looked at again the next time: it may come to its end.
        """
        if self._found is None:
            found = self._look()
            # It may have come to its end since it was told to be late.
            late = any(one.code is Code.IMPORT_TIMEOUT for one in found)
            if late or self.snapshot.plugins.imports.overdue:
                return found
            self._found = found
        return self._found

    def _look(self) -> tuple[Diagnostic, ...]:
        found = set(self.registry.diagnostics)
        for name, error in self.snapshot.plugins.broken():
            message = f"{name} can't be loaded, so the tools of its folder are refused"
            found.add(whole_file(name, Code.BROKEN_PLUGIN, message, reason(error)))
        if self.snapshot.plugins.implements("toolmd_dialects"):
            found.update(self.dialects.diagnostics)
        bindings = [bound.binding for bound in self.registry.tools.values()]
        bindings += [bound.binding for bound in self.registry.skills.values()]
        for binding in bindings:
            if binding.start is not None:
                # One that hangs is not waited for: the next begins beside it.
                binding.start(OVERLAP_S)
        for binding in bindings:
            if binding.inspect is not None:
                found.update(binding.inspect())
        return tuple(sorted(found, key=lambda d: (d.span, d.code, d.message)))

    def same_as(self, other: "Live") -> bool:
        """Tell whether the two read the same, so that nothing needs replacing."""
        return self.settings == other.settings and self.snapshot.stamp == other.snapshot.stamp
