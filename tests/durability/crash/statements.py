"""Kill a run before each statement that changes it, and see that it ends as if unharmed."""

import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from kept import Kept, yes
from postgres_server import database
from warm import Child

from toolmd._fleet import database as fleet
from toolmd._store import database as store

CHANGES = ("INSERT", "UPDATE", "DELETE", "COMMIT")
"""How the statements that change a run begin; the others only read, or poll."""
DIED = -signal.SIGKILL


class Killed(NamedTuple):
    """The result of the kills."""

    kills: int
    lost: int
    doubled: int
    seconds: float


def play(folder: Path, place: str, number: int) -> None:
    """Run to the end, answering; die before the statement of this number, or never if it is 0."""
    kept = Kept(folder, place)
    count = 0

    def die(statement: str) -> None:
        nonlocal count
        if statement.startswith(CHANGES):
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)

    def note(name: str) -> Any:
        with (folder / "effects").open("a") as effects:
            effects.write(f"{name}\n")
        return {"value": name}

    kept.world.functions = {name: lambda name=name, **_: note(name) for name in ("look", "act")}
    for kind in (store._Connection, fleet._Transaction):
        for name in ("execute", "change", "insert"):
            setattr(kind, name, before(die, getattr(kind, name)))
    result = kept.run(kept.order(), ask=yes)
    kept.close()
    sys.exit(0 if result.success and result.data == {"value": "look"} else 1)


def before(die: Any, execute: Any) -> Any:
    """Return a method that may die before it executes its statement."""

    def dying(connection: Any, statement: str, *values: Any) -> Any:
        die(statement)
        return execute(connection, statement, *values)

    return dying


def kill_everywhere(server: str, numbers: range, at_once: int = 4) -> Iterator[Killed]:
    """Kill before each of these statements; `server` is empty for SQLite."""
    began, folder = time.monotonic(), Path(tempfile.mkdtemp(prefix="toolmd-statements-"))
    kills = lost = doubled = 0
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        places: dict[int, tuple[Path, str]] = {}
        for number in numbers:
            state = folder / str(number)
            state.mkdir()
            place = stack.enter_context(database(server)) if server else "sqlite"
            places[number] = state, place
        for start in range(0, len(numbers), at_once):
            some = numbers[start : start + at_once]
            first = [_child(*places[number], number) for number in some]
            died = [child.wait() == DIED for child in first]
            kills += sum(died)
            again = [_child(*places[number], 0) for number in some]
            codes = [child.wait() for child in again]
            for number, code in zip(some, codes, strict=True):
                effects = Counter((places[number][0] / "effects").read_text().split())
                # A call that was cut off between its effect and its record runs again.
                lost += code != 0 or set(effects) != {"look", "act"}
                doubled += sum(effects.values()) > 3
                if code:
                    sys.stderr.write((places[number][0] / "log").read_text())
            yield Killed(kills, lost, doubled, time.monotonic() - began)


def _child(state: Path, place: str, number: int) -> Child:
    return Child(lambda: play(state, place, number), state / "log")
