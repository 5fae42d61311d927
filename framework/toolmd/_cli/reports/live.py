"""Report changes of files on the terminal of `dev`: what is new, and its findings."""

import sys
import time
from collections import deque
from typing import Any

from toolmd._cli.diagnostics import full, lines_below
from toolmd._cli.screen import counted, err, paint, printable
from toolmd._types.code import Code


class LiveReport:
    """A report of each new snapshot: its new findings, and how many there are."""

    def __init__(self, workspace: Any) -> None:
        self._workspace = workspace
        self._told: frozenset[Any] | None = None
        """The findings that were reported last; None before the first report."""
        self._changes: deque[tuple[Any, Any]] = deque()

    def changed(self, old: Any, new: Any) -> None:
        """Store a new snapshot until it is checked."""
        self._changes.append((old, new))

    def checked(self, found: tuple[Any, ...]) -> None:
        """Report the stored changes as one, with their findings; without any, new findings only.

        A save may give two snapshots before one check.
        """
        changes = [self._changes.popleft() for _ in range(len(self._changes))]
        if changes:
            self._tell(changes[0][0], changes[-1][1], found)
        elif self._told is None or self._told != frozenset(found):
            self._report("", found)

    def _tell(self, old: Any, new: Any, found: tuple[Any, ...]) -> None:
        before, after = _named(old), _named(new)
        parts = {
            "new": sorted(after.keys() - before.keys()),
            "gone": sorted(before.keys() - after.keys()),
            "changed": sorted(n for n in after.keys() & before.keys() if after[n] != before[n]),
        }
        said = "; ".join(f"{what}: {_few(names)}" for what, names in parts.items() if names)
        known = {(edit.name, edit.weakened) for edit in old.pending_changes}
        waiting = [e for e in new.pending_changes if (e.name, e.weakened) not in known]
        self._report(said or "read again", found, besides=Code.WEAKENED_POLICY)
        for edit in waiting:
            err(paint(f"{edit.name}: this edit weakens its policy, so it waits", "yellow"))
            for line in edit.diff.splitlines():
                err(f"  {paint(printable(line), 'red' if line[0] == '-' else 'green')}")
            err(f"{paint('help', 'cyan', sys.stderr)}: toolmd accept {edit.name}")

    def _report(self, said: str, found: tuple[Any, ...], besides: str = "") -> None:
        """Report the findings that are new, but for those of a code that is reported `besides`."""
        workspace = self._workspace
        told = self._told or frozenset()
        fresh = [one for one in found if one not in told and one.code != besides]
        self._told = frozenset(found)
        tools = counted(len(workspace.tools), "tool")
        skills = counted(len(workspace.skills), "skill")
        at = paint(time.strftime("%H:%M:%S"), "dim", sys.stderr)
        lead = f"{at} {printable(said)}: " if said else f"{at} "
        wrong = paint(counted(len(found), "finding"), "yellow", sys.stderr) if found else "all well"
        if fresh:
            err(full(fresh, lines_below(workspace.settings.root)))
        err(f"{lead}{tools}, {skills}, {wrong}")


def _named(registry: Any) -> dict[str, Any]:
    bound = (*registry.tools.values(), *registry.skills.values())
    return {one.name: (one.hash, one.stale, one.target) for one in bound}


def _few(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"  # noqa: PLR2004
