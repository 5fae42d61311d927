"""Kill a run at every boundary of every step, on SQLite, and see that it ends as if unharmed."""

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import office
from office import SKILL
from warm import Child, opened

from toolmd import hookimpl
from toolmd._store import STORE_FILE

TOOLS = ("get_patient_info", "check_availability", "book_appointment", "send_confirmation_sms")
PLACES = (
    *(f"{when} {tool}" for tool in TOOLS for when in ("before", "after")),
    "asked",
    "answered",
    "at the end",
)
"""Before a call, the step before is recorded; after it, the effect is there and no record."""


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

    def ask(self, question: Any) -> bool:
        """Answer yes, at the boundaries around it."""
        self.reach("asked")
        # The answer is recorded when the run looks at the next call.
        self.place = "before book_appointment" if self.place == "answered" else self.place
        return True


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
        result = workspace.run_sync(SKILL, office.inputs(0), ask=killer.ask, run_id="run-0")
        killer.reach("at the end")
    sys.exit(0 if result.success else 1)


def prepare(state: Path) -> None:
    """Have the engine make its tables."""
    with opened(state, "sqlite") as workspace:
        workspace.runs.start_sync()


def kill_everywhere(
    times: int, at_once: int, places: tuple[str, ...] = PLACES
) -> Iterator[CallCounter]:
    """Kill this often at each boundary; return the counts after each round."""
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="toolmd-crash-"))
    office.open_office(folder / "new", 1)
    # With tables, but without runs: what is measured is not how they are made.
    Child(lambda: prepare(folder / "new"), folder / "log").wait()
    kills = lost = booked = texted = 0
    jobs = [(place, number) for number in range(times) for place in places]
    try:
        for start in range(0, len(jobs), at_once):
            batch = [(folder / f"{n}-{p.replace(' ', '-')}", p) for p, n in jobs[start:][:at_once]]
            for state, _ in batch:
                shutil.copytree(folder / "new", state)
            killed = [Child(lambda s=s, p=p: play(s, p), s / "log") for s, p in batch]
            kills += sum(child.wait() == -signal.SIGKILL for child in killed)
            ended = [Child(lambda s=s: play(s, ""), s / "log") for s, _ in batch]
            codes = [child.wait() for child in ended]
            for (state, place), code in zip(batch, codes, strict=True):
                found = office.books(state)
                done = code == 0 and found.booked["run-0"] and found.texted["run-0"]
                lost += not done
                booked += max(0, found.booked["run-0"] - 1)
                texted += max(0, found.texted["run-0"] - 1)
                if done:
                    shutil.rmtree(state)
                else:
                    sys.stderr.write(f"{place}: see {state}\n")
            yield CallCounter(kills, lost, booked, texted, time.monotonic() - began)
    finally:
        if not lost:
            shutil.rmtree(folder)


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
