"""Measure a step of a skill by a step of a plain journal in SQLite, side by side in one process."""

import asyncio
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from bench_project import write_project
from warm import Child

from toolmd import Workspace

SHORT, LONG = 10, 60
"""The steps of the two runs, by whose difference a step is measured."""
FEW, AT_ONCE = 5, 20
"""The steps of the runs that are started at once, and how many these are."""


class Overhead(NamedTuple):
    """The medians of the rounds; milliseconds of processor time."""

    journal: float
    """A step of the plain journal, with the same call."""
    toolmd: float
    """A step of a skill."""
    ratio: float
    run: float
    """A run of a few steps."""
    run_ratio: float
    at_once: float
    """Runs a second, of those that are started at once."""
    at_once_ratio: float


class PlainJournal:
    """The same calls, each recorded by one durable INSERT in a thread, and nothing around it."""

    def __init__(self, workspace: Workspace, file: Path) -> None:
        self._workspace = workspace
        self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("CREATE TABLE step (run, key, value, at, PRIMARY KEY (run, key))")
        self._count = 0

    async def run(self, steps: int) -> None:
        """Run to the end."""
        self._count += 1
        run = f"run-{self._count}"
        for number in range(steps):
            result = await self._workspace.call("note", {"text": "step"})
            row = (run, number, json.dumps(result.data), time.time())
            await asyncio.to_thread(self._db.execute, "INSERT INTO step VALUES (?, ?, ?, ?)", row)


async def rounds(workspace: Workspace, journal: PlainJournal, times: int) -> Overhead:
    """Measure in turns, so that what else the machine does falls on both."""
    works: dict[str, Callable[[int], Awaitable[Any]]] = {
        "journal": journal.run,
        "toolmd": lambda steps: workspace.run(f"work_{steps}"),
    }
    found: list[Overhead] = []
    for _ in range(times + 1):
        took = {}
        for length in (FEW, SHORT, LONG):
            for who, work in works.items():
                began = time.process_time()
                await work(length)
                took[who, length] = (time.process_time() - began) * 1000
        many = {}
        for who, work in works.items():
            began = time.perf_counter()
            await asyncio.gather(*(work(FEW) for _ in range(AT_ONCE)))
            many[who] = AT_ONCE / (time.perf_counter() - began)
        step = {who: (took[who, LONG] - took[who, SHORT]) / (LONG - SHORT) for who in works}
        found.append(
            Overhead(
                step["journal"], step["toolmd"], step["toolmd"] / step["journal"],
                took["toolmd", FEW], took["toolmd", FEW] / took["journal", FEW],
                many["toolmd"], many["toolmd"] / many["journal"],
            )
        )  # fmt: skip
    # The first one warms up.
    return Overhead(*(statistics.median(column) for column in zip(*found[1:], strict=True)))


def measure(times: int, *, audit: bool) -> Overhead:
    """Measure in a process of its own."""
    folder = Path(tempfile.mkdtemp(prefix="toolmd-overhead-"))
    write_project(folder, (FEW, SHORT, LONG))

    def work() -> None:
        settings = {"store": "sqlite", "plugins": [], "audit": audit}
        with Workspace.open(folder, overrides=settings) as workspace:
            journal = PlainJournal(workspace, folder / "journal.sqlite3")
            found = asyncio.run(rounds(workspace, journal, times))
        (folder / "found.json").write_text(json.dumps(found))

    if Child(work, folder / "log").wait():
        raise RuntimeError(f"see {folder}")
    return Overhead(*json.loads((folder / "found.json").read_text()))
