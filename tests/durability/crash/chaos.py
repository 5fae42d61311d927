"""Kill three workers at random while they book, on a file or Postgres, and count the runs."""

import asyncio
import contextlib
import json
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import office
import psycopg
from office import SKILL
from takeovers import TakeOvers, Waits
from warm import Child, Workspace, opened

from toolmd import NotFoundError
from toolmd._store import STORE_FILE

WORKERS = 3
AT_ONCE = 8
"""Runs that each worker has under way."""
TIMEOUT_S = 60
"""So long nothing may end before the harness gives up."""


_EVIDENCE = (
    "SELECT id, result FROM toolmd.run WHERE result LIKE '%\"success\": false%'",
    "SELECT * FROM toolmd.run WHERE result IS NULL",
    "SELECT s.* FROM toolmd.step s JOIN toolmd.run r ON s.run = r.id WHERE r.result IS NULL",
    """SELECT q.* FROM toolmd.question q JOIN toolmd.run r
    ON q.run = r.id WHERE r.result IS NULL""",
    "SELECT * FROM toolmd.worker",
)
"""The details of a run with a wrong end."""


Ask = Callable[[str], list[Any]]
"""Sends a statement to the store, and returns its rows."""


class CallCounter(NamedTuple):
    """The results of the runs."""

    kills: int
    ended: int
    failed: int
    lost: int
    booked_twice: int
    texted_twice: int
    taken: Waits
    """How long the runs of killed workers waited for another one."""
    seconds: float


def work(state: Path, engine: str, numbers: range) -> None:
    """Order the runs of these numbers, except running ones, and execute all runs."""

    async def order(workspace: Workspace) -> None:
        places = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with places:
                await workspace.run(SKILL, office.inputs(number), run_id=office.run_id(number))

        known = {view.id for view in workspace.runs.list_sync()}
        left = [number for number in numbers if office.run_id(number) not in known]
        await asyncio.gather(*(one(number) for number in left))
        await asyncio.Event().wait()

    with opened(state, engine) as workspace:
        workspace.runs.start_sync()
        asyncio.run(order(workspace))


def agree(state: Path, engine: str) -> None:
    """Answer yes to every question, in a process that is never killed."""

    async def say(workspace: Workspace) -> None:
        asked: set[str] = set()
        under_way: set[asyncio.Task[Any]] = set()
        places = asyncio.Semaphore(AT_ONCE)

        async def one(held: str) -> None:
            # Another may have been quicker: the question was asked twice.
            async with places:
                with contextlib.suppress(NotFoundError):
                    await workspace.confirmations.approve(held)

        while True:
            for pending in await workspace.confirmations.pending():
                if pending.id not in asked:
                    asked.add(pending.id)
                    task = asyncio.create_task(one(pending.id))
                    under_way.add(task)
                    task.add_done_callback(under_way.discard)
            await asyncio.sleep(0.05)

    with opened(state, engine) as workspace:
        asyncio.run(say(workspace))


def rampage(engine: str, runs: int, kills: int, seed: int) -> Iterator[CallCounter]:
    """Kill this often while the runs execute; return the counts every few seconds.

    The person comes after the first kill, so that no run has ended by then on any machine.
    """
    chance = random.Random(seed)
    state = Path(tempfile.mkdtemp(prefix="toolmd-chaos-"))
    office.open_office(state, runs)
    share = runs // WORKERS

    def worker(number: int) -> Child:
        mine = range(number * share, (number + 1) * share)
        return Child(lambda: work(state, engine, mine), state / f"worker-{number}.log")

    workers = [worker(number) for number in range(WORKERS)]
    people: list[Child] = []
    began = told = moved = time.monotonic()
    killed, before = 0, 0
    ask = partial(_rows, engine, state)
    taken = TakeOvers(ask)
    try:
        while (
            done := _count(ask, "WHERE result NOTNULL")
        ) < runs and time.monotonic() - moved < TIMEOUT_S:
            now = time.monotonic()
            moved = now if done != before else moved
            before = done
            if killed < kills and (done >= killed * runs // kills if killed else _count(ask, "")):
                one = chance.randrange(WORKERS)
                taken.before(workers[one].pid, calm=True)
                workers[one].kill()
                killed += 1
                workers[one] = worker(one)
                if not people:
                    people.append(Child(lambda: agree(state, engine), state / "person.log"))
            taken.look(calm=True)
            if now - told > 10:
                told = now
                yield _counter(ask, state, runs, killed, taken, now - began)
            time.sleep(0.01)
        yield (last := _counter(ask, state, runs, killed, taken, time.monotonic() - began))
    finally:
        for child in (*workers, *people):
            child.send(signal.SIGKILL)
            child.wait()
    if last.lost or last.failed or last.booked_twice or last.texted_twice:
        _explain(ask, state)
    else:
        shutil.rmtree(state)


def _count(ask: Ask, where: str) -> int:
    return sum(count for (count,) in ask(f"SELECT count(*) FROM toolmd.run {where}"))


def _counter(
    ask: Ask, state: Path, runs: int, kills: int, taken: TakeOvers, seconds: float
) -> CallCounter:
    ended = dict(ask("SELECT id, result FROM toolmd.run WHERE result NOTNULL"))
    books = office.books(state)
    done = [run for run, result in ended.items() if json.loads(result)["success"]]
    # A run that says it is done, and left no booking or no text, is as good as lost.
    hollow = [run for run in done if not books.booked[run] or not books.texted[run]]
    return CallCounter(
        kills=kills,
        ended=len(ended),
        failed=len(ended) - len(done),
        lost=runs - len(ended) + len(hollow),
        booked_twice=sum(times - 1 for times in books.booked.values()),
        texted_twice=sum(times - 1 for times in books.texted.values()),
        taken=taken.waits(calm=True),
        seconds=seconds,
    )


def _explain(ask: Ask, state: Path) -> None:
    """Write the details of runs with a wrong end next to their clinic."""
    with (state / "why.txt").open("w") as why:
        for statement in _EVIDENCE:
            why.writelines(f"{row}\n" for row in ask(statement))
            why.write("\n")
    sys.stderr.write(f"see {state}\n")


def _rows(engine: str, state: Path, statement: str) -> list[Any]:
    # Nobody has opened the store yet, or the table is being made.
    missing = (psycopg.errors.UndefinedTable, sqlite3.OperationalError)
    if engine != "sqlite":
        with psycopg.connect(engine, autocommit=True) as connection, contextlib.suppress(*missing):
            return connection.execute(statement).fetchall()
        return []
    file = state / STORE_FILE
    with (
        contextlib.suppress(*missing),
        contextlib.closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection,
    ):
        return connection.execute(statement.replace("toolmd.", "")).fetchall()
    return []
