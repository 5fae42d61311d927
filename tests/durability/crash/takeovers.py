"""Measure how long the runs of a killed worker wait until another process executes them."""

import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

_RUNNING = "SELECT id, owner FROM toolmd.run WHERE state = 'running' AND owner LIKE '%-{pid}-%'"
_NOW = "SELECT id, owner, state FROM toolmd.run WHERE id IN ({names})"


class Orphan(NamedTuple):
    """A run that a killed worker had under way."""

    since: float
    calm: bool
    """Whether there was no fault from the kill until it was taken over."""


class Waits(NamedTuple):
    """How long orphans waited, in seconds."""

    number: int
    median: float
    p90: float
    longest: float

    def __str__(self) -> str:
        """Return the figures in words."""
        if not self.number:
            return "none"
        return (f"median {self.median:.1f} s, p90 {self.p90:.1f} s, at most {self.longest:.1f} s, "
                f"of {self.number}")  # fmt: skip


class TakeOvers:
    """The orphans of all kills; `ask` sends a statement to the store."""

    def __init__(self, ask: Callable[[str], list[Any]]) -> None:
        self._ask = ask
        self._orphans: dict[tuple[str, str], Orphan] = {}
        self._waited: dict[bool, list[float]] = {True: [], False: []}

    def before(self, pid: int, *, calm: bool) -> None:
        """Note the runs of a process that is killed next."""
        for name, owner in self._ask(_RUNNING.format(pid=pid)):
            self._orphans[name, owner] = Orphan(time.monotonic(), calm)

    def look(self, *, calm: bool) -> None:
        """Note which orphans other processes execute by now."""
        if not calm:
            self._orphans = {key: one._replace(calm=False) for key, one in self._orphans.items()}
        if not self._orphans:
            return
        names = ", ".join(f"'{name}'" for name, _ in self._orphans)
        now = {name: (owner, state) for name, owner, state in self._ask(_NOW.format(names=names))}
        for (name, dead), orphan in list(self._orphans.items()):
            owner, state = now.get(name, (dead, "running"))
            if state == "ready" or (state == "running" and owner == dead):
                continue
            del self._orphans[name, dead]
            # One that waits or has ended by now did so just before the kill, or elsewhere since.
            if state == "running":
                self._waited[orphan.calm].append(time.monotonic() - orphan.since)

    def waits(self, *, calm: bool) -> Waits:
        """Return how long orphans waited without a fault, or with one."""
        seconds = sorted(self._waited[calm])
        if not seconds:
            return Waits(0, 0.0, 0.0, 0.0)
        p90 = seconds[min(len(seconds) - 1, round(0.9 * len(seconds)))]
        return Waits(len(seconds), statistics.median(seconds), p90, seconds[-1])
