"""Measure a step of a skill by a step of DBOS alone, side by side in one process."""

import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from bench_project import write_project
from dbos import DBOS, SetWorkflowID
from warm import Child

from toolmd import Workspace

SHORT, LONG = 10, 60
"""The steps of the two runs, by whose difference a step is measured."""
FEW, AT_ONCE = 5, 20
"""The steps of the runs that are started at once, and how many these are."""


class Overhead(NamedTuple):
    """The medians of the rounds."""

    dbos: float
    """Milliseconds a step."""
    toolmd: float
    ratio: float
    """How many times a step of DBOS alone, in the same round."""
    fixed: float
    """Milliseconds that a run takes besides its steps."""
    fixed_ratio: float
    """How many times a workflow of DBOS alone."""
    at_once: float
    """Runs a second, of those that are started at once."""
    at_once_ratio: float
    """How many times as many as workflows of DBOS alone."""


@DBOS.workflow(name="plain")
async def plain(steps: int) -> int:
    """Do as the skill does, with nothing around."""

    async def note() -> dict[str, Any]:
        return {"value": {"text": "step"}, "at": "2026-03-02T08:00:00+00:00"}

    for number in range(steps):
        await DBOS.run_step_async({"name": f"{number}:note"}, note)
    return steps


async def alone(steps: int) -> None:
    """Run the plain workflow to its end."""
    with SetWorkflowID(f"plain-{uuid4()}"):
        handle = await DBOS.start_workflow_async(plain, steps)
    await handle.get_result(polling_interval_sec=0.005)


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    """Return the duration in seconds."""
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def rounds(workspace: Workspace, times: int) -> Overhead:
    """Measure in turns, so that what else the machine does falls on both."""
    process = workspace.runs.service.engines.durable().start()
    found: list[Overhead] = []
    works: dict[str, Callable[[int], Awaitable[Any]]] = {
        "dbos": lambda steps: process.do(lambda: alone(steps)),
        "toolmd": lambda steps: workspace.run(f"work_{steps}"),
    }
    for _ in range(times + 1):
        took = {}
        for length in (SHORT, LONG):
            for who, work in works.items():
                took[who, length] = await timed(lambda n=length, one=work: one(n))
        many = {who: await timed(lambda one=work: _some(one)) for who, work in works.items()}
        step = {who: (took[who, LONG] - took[who, SHORT]) / (LONG - SHORT) for who in works}
        fixed = {who: took[who, SHORT] - SHORT * step[who] for who in works}
        found.append(
            Overhead(
                step["dbos"] * 1000, step["toolmd"] * 1000, step["toolmd"] / step["dbos"],
                fixed["toolmd"] * 1000, fixed["toolmd"] / fixed["dbos"],
                AT_ONCE / many["toolmd"], many["dbos"] / many["toolmd"],
            )
        )  # fmt: skip
    # The first one warms up.
    return Overhead(*(statistics.median(column) for column in zip(*found[1:], strict=True)))


async def _some(work: Callable[[int], Awaitable[Any]]) -> None:
    await asyncio.gather(*(work(FEW) for _ in range(AT_ONCE)))


def measure(engine: str, times: int, *, audit: bool) -> Overhead:
    """Measure in a process of its own."""
    folder = Path(tempfile.mkdtemp(prefix="toolmd-overhead-"))
    write_project(folder, (FEW, SHORT, LONG))

    def work() -> None:
        settings = {"store": engine, "plugins": [], "audit": audit}
        with Workspace.open(folder, overrides=settings) as workspace:
            found = asyncio.run(rounds(workspace, times))
        (folder / "found.json").write_text(json.dumps(found))

    if Child(work, folder / "log").wait():
        raise RuntimeError(f"see {folder}")
    return Overhead(*json.loads((folder / "found.json").read_text()))
