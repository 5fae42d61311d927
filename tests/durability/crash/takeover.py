"""Kill or freeze a worker during a step, and measure until another resumes the run."""

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import office
from office import SKILL
from warm import Child, opened

from toolmd import ToolmdError, Workspace, hookimpl

LONGEST_S = 60.0


class Taken(NamedTuple):
    """How one run was taken over."""

    how: str
    seconds: float
    """From the signal to the end of the run, elsewhere; infinite where it did not come."""
    booked: int
    texted: int


class Stumbler:
    """Pauses before a tool while a file exists, and writes its process to another."""

    def __init__(self, state: Path) -> None:
        self._here, self._wait = state / "here", state / "wait"

    @hookimpl
    def toolmd_before_call(self, call: Any, spec: Any) -> None:
        """Wait, where this process is the one that shall."""
        if spec.name == "book_appointment" and self._wait.exists():
            self._here.with_suffix(".new").write_text(str(os.getpid()))
            self._here.with_suffix(".new").rename(self._here)
            while self._wait.exists():
                time.sleep(0.01)


def order(state: Path, engine: str) -> None:
    """Order the run, and execute all runs, for ever."""
    with opened(state, engine, {"stumbler": Stumbler(state)}) as workspace:
        workspace.run_sync(SKILL, office.inputs(0), ask=lambda _: True, run_id="run-0")
        asyncio.run(asyncio.Event().wait())


def serve(state: Path, engine: str) -> None:
    """Execute all runs, for ever."""
    with opened(state, engine, {"stumbler": Stumbler(state)}) as workspace:
        workspace.runs.start_sync()
        (state / "ready").touch()
        asyncio.run(asyncio.Event().wait())


def take_over(engine: str, how: signal.Signals) -> Taken:
    """Strike the worker that has the run with a signal while another one looks on."""
    state = Path(tempfile.mkdtemp(prefix="toolmd-takeover-"))
    office.open_office(state, 1)
    (state / "wait").touch()
    children = [Child(lambda: serve(state, engine), state / "one.log")]
    try:
        _until((state / "ready").exists)
        children.append(Child(lambda: order(state, engine), state / "other.log"))
        _until((state / "here").exists)
        # Whichever it is: the run may go on in either.
        struck = int((state / "here").read_text())
        os.kill(struck, how)
        began = time.monotonic()
        (state / "wait").unlink()
        _until(lambda: bool(office.books(state).texted["run-0"]))
        seconds = time.monotonic() - began
        if how is signal.SIGSTOP:
            # It wakes in the middle of the step, and must not do what was done.
            os.kill(struck, signal.SIGCONT)
            time.sleep(2.0)
        books = office.books(state)
        return Taken(how.name, seconds, books.booked["run-0"], books.texted["run-0"])
    finally:
        for child in children:
            child.send(signal.SIGKILL)
            child.wait()
        shutil.rmtree(state)


class Retired(NamedTuple):
    """The state after a worker was asked to end during a step, and its successor's result."""

    code: int
    booked: int
    texted: int
    booked_later: int
    texted_later: int


def leave_when_asked(state: Path, engine: str) -> None:
    """Order the run, and end as `toolmd worker` does, when somebody asks."""
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    with opened(state, engine, {"stumbler": Stumbler(state)}) as workspace:
        threading.Thread(target=lambda: _order(workspace), daemon=True).start()
        ended.wait()
        (state / "asked").touch()


def retire(engine: str) -> Retired:
    """Ask a worker to end while it is over a step, and have another come then."""
    state = Path(tempfile.mkdtemp(prefix="toolmd-retire-"))
    office.open_office(state, 1)
    (state / "wait").touch()
    children = [Child(lambda: leave_when_asked(state, engine), state / "one.log")]
    try:
        _until((state / "here").exists)
        children[0].send(signal.SIGTERM)
        _until((state / "asked").exists)
        (state / "wait").unlink()
        code = children[0].wait()
        before = office.books(state)
        children.append(Child(lambda: serve(state, engine), state / "other.log"))
        _until(lambda: bool(office.books(state).texted["run-0"]))
        after = office.books(state)
        found = (before.booked, before.texted, after.booked, after.texted)
        return Retired(code, *(counted["run-0"] for counted in found))
    finally:
        for child in children:
            child.send(signal.SIGKILL)
            child.wait()
        shutil.rmtree(state)


def _order(workspace: Workspace) -> None:
    # Its workspace closes over it: the run goes on elsewhere.
    with contextlib.suppress(ToolmdError):
        workspace.run_sync(SKILL, office.inputs(0), ask=lambda _: True, run_id="run-0")


def _until(come: Any) -> None:
    until = time.monotonic() + LONGEST_S
    while not come():
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(0.005)


def strike(engine: str, how: signal.Signals, times: int) -> Iterator[Taken]:
    """Do it so often."""
    for _ in range(times):
        try:
            yield take_over(engine, how)
        except TimeoutError:
            yield Taken(how.name, float("inf"), 0, 0)
