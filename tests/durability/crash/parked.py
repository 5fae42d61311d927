"""Measure a worker's cost for runs that wait for a person, compared to an idle worker."""

import asyncio
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench_project import write_project
from warm import Child

from toolmd import Workspace

SETTLE_S = 5
AT_ONCE = 16


class Idle(NamedTuple):
    """A worker's cost while nothing happens."""

    start_s: float
    core: float
    """The part of one core."""
    megabytes: float
    """Additional memory after the worker has opened the runs."""


class Parked(NamedTuple):
    """A worker with waiting runs, and one without any."""

    runs: int
    with_runs: Idle
    without: Idle


def measure(engine: str, runs: int, seconds: float) -> Parked:
    """Park so many runs, then look at an idle worker for so long; `store` is empty so far."""
    folder = Path(tempfile.mkdtemp(prefix="toolmd-parked-"))
    write_project(folder, ())
    without = _idle(folder, engine, seconds)
    if Child(lambda: park(folder, engine, runs), folder / "park.log").wait():
        raise RuntimeError(f"see {folder}")
    parked = Parked(runs, _idle(folder, engine, seconds), without)
    shutil.rmtree(folder)
    return parked


def opened(folder: Path, engine: str) -> Workspace:
    """Open the project."""
    return Workspace.open(folder, overrides={"store": engine, "plugins": []})


def park(folder: Path, engine: str, runs: int) -> None:
    """Order runs that wait at once."""

    async def all_of(workspace: Workspace) -> None:
        places = asyncio.Semaphore(AT_ONCE)

        async def one() -> None:
            async with places:
                result = await workspace.run("wait")
                if result.outcome != "confirm":
                    raise RuntimeError(result.message)

        await asyncio.gather(*(one() for _ in range(runs)))

    with opened(folder, engine) as workspace:
        asyncio.run(all_of(workspace))


def _idle(folder: Path, engine: str, seconds: float) -> Idle:
    def work() -> None:
        began = time.monotonic()
        with opened(folder, engine) as workspace:
            before = _megabytes()
            workspace.runs.start_sync()
            started = time.monotonic() - began
            time.sleep(SETTLE_S)
            spent, since = time.process_time(), time.monotonic()
            time.sleep(seconds)
            core = (time.process_time() - spent) / (time.monotonic() - since)
            found = Idle(started, core, _megabytes() - before)
        (folder / "found.json").write_text(json.dumps(found))

    if Child(work, folder / "idle.log").wait():
        raise RuntimeError(f"see {folder}")
    return Idle(*json.loads((folder / "found.json").read_text()))


def _megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
