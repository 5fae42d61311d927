"""Kill a run, on SQLite, and see that it ends as if unharmed."""

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import office
from office import SKILL
from warm import Child, opened

from toolmd import hookimpl
from toolmd._store import STORE_FILE

_FRAME = 4096 + 24
"""The bytes of a page in SQLite's file of unwritten pages, with its head."""


class Killer:
    """Kills its process, as a power cut would, when it comes to a place."""

    def __init__(self, place: str) -> None:
        self.place = place

    def reach(self, place: str) -> None:
        """Come to a place."""
        if place == self.place:
            os.kill(os.getpid(), signal.SIGKILL)

    @hookimpl
    def toolmd_before_call(self, call: Any, spec: Any) -> None:
        """Come to the place before a call."""
        self.reach(f"before {spec.name}")

    @hookimpl
    def toolmd_after_call(self, call: Any, spec: Any, result: Any) -> None:
        """Come to the place after a call that took effect."""
        if result.outcome == "ok":
            self.reach(f"after {spec.name}")


class CallCounter(NamedTuple):
    """The result of the kills."""

    kills: int
    lost: int
    booked_twice: int
    texted_twice: int
    seconds: float


def play(state: Path, place: str) -> None:
    """Book in this process, which may die; an existing run is resumed."""
    killer = Killer(place)
    with opened(state, "sqlite", {"killer": killer}) as workspace:
        result = workspace.run_sync(SKILL, office.inputs(0), ask=lambda _: True, run_id="run-0")
    sys.exit(0 if result.success else 1)


def prepare(state: Path) -> None:
    """Have the engine make its tables."""
    with opened(state, "sqlite") as workspace:
        workspace.runs.start_sync()


def tear(times: int, seed: int) -> CallCounter:
    """Kill after a booking, and leave a page that was half written, as a power cut may."""
    began, chance = time.monotonic(), random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="toolmd-torn-"))
    office.open_office(folder / "new", 1)
    Child(lambda: prepare(folder / "new"), folder / "log").wait()
    killed = Child(lambda: play(folder / "new", "after book_appointment"), folder / "log").wait()
    lost = booked = texted = 0
    try:
        for number in range(times):
            state = folder / str(number)
            shutil.copytree(folder / "new", state)
            pages = state / f"{STORE_FILE}-wal"
            torn = pages.read_bytes()[-_FRAME:][: chance.randrange(_FRAME)]
            with pages.open("ab") as end:
                end.write(torn + chance.randbytes(chance.randrange(1, 2 * _FRAME)))
            code = Child(lambda s=state: play(s, ""), state / "log").wait()
            found = office.books(state)
            lost += code != 0 or not found.booked["run-0"] or not found.texted["run-0"]
            booked += max(0, found.booked["run-0"] - 1)
            texted += max(0, found.texted["run-0"] - 1)
        kills = times * (killed == -signal.SIGKILL)
        return CallCounter(kills, lost, booked, texted, time.monotonic() - began)
    finally:
        if not lost:
            shutil.rmtree(folder)


class Poison(NamedTuple):
    """How processes ended that took up a run which kills them, and what it did in the end."""

    codes: list[int]
    booked: int
    booked_later: int


def poison(processes: int) -> Poison:
    """Let a run kill so many processes at one place, then resume it where nothing kills."""
    state = Path(tempfile.mkdtemp(prefix="toolmd-poison-"))
    try:
        office.open_office(state, 1)
        place = "before book_appointment"
        codes = [Child(lambda: play(state, place), state / "log").wait() for _ in range(processes)]
        before = office.books(state).booked["run-0"]
        codes.append(Child(lambda: resume(state), state / "log").wait())
        return Poison(codes, before, office.books(state).booked["run-0"])
    finally:
        shutil.rmtree(state)


def resume(state: Path) -> None:
    """Resume the run like `toolmd runs resume`."""
    with opened(state, "sqlite") as workspace:
        result = workspace.runs.resume_sync("run-0", ask=lambda _: True)
    sys.exit(0 if result.success else 1)
