"""Two machines with one Postgres: cut off, slow, with wrong clocks, and killed workers.

Machines are network namespaces of `network`. The books of the clinic and of the tools are files
which both see: they stand for services that a cut to Postgres leaves alone.
"""

import contextlib
import itertools
import os
import random
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matrix_work
import network
import office
import psycopg
from matrix_books import Counted, counted, is_well
from matrix_work import noted
from network import SERVER, Machine, Wire, kill, processor_s
from postgres_server import QUICK, restart, start, stop
from takeovers import TakeOvers

CLOCKS = {11: -300.0, 12: 180.0}
"""The machines, and how many seconds their clocks are apart from the server's."""
A, B = CLOCKS
BAD_S, SETTLE_S, CALM_S = 8.0, 8.0, 4.0
"""How long a fault lasts, how long its effects do, and the pause after them."""
LONG_S = 40.0
"""A call that outlasts a lost lease."""
TIMEOUT_S = 180.0
"""So long nothing may end before the harness gives up."""
KILLS_ALONE = 0.4
"""The share of the runs that end before the first fault."""
SPARED_S = 1.0
"""The pause between two kills: without any, no process would ever get to work."""
ROLES = (("run", "decide"), (("answer",), ("order", "limit")))
"""The processes of the runs and those of the shop: mostly the first are killed."""
TOLD_S = 20.0
"""How often the counts are told."""


class Fault(NamedTuple):
    """A state of the network."""

    name: str
    loss: dict[tuple[int, int], float]
    delay_s: float = 0.0
    restarts: bool = False
    """Whether the server restarts at once, without a shutdown."""


def _between(machine: int, share: float = 1.0) -> dict[tuple[int, int], float]:
    return {(machine, SERVER): share, (SERVER, machine): share}


FAULTS = (
    Fault("one machine cut off", _between(A)),
    Fault("packets to the server lost", {(A, SERVER): 1.0}),
    Fault("the other machine cut off", _between(B)),
    Fault("packets from the server lost", {(SERVER, A): 1.0}),
    Fault("the server restarts", {}, restarts=True),
    Fault("100 ms each way", {}, delay_s=0.1),
    Fault("a fifth of all packets lost", _between(A, 0.2) | _between(B, 0.2)),
    Fault("both cut off", _between(A) | _between(B)),
)
HOLDS = (FAULTS[0], FAULTS[1], FAULTS[3])
"""The faults that part a machine from the server."""


class Fleet:
    """A Postgres, the wire and two machines with their processes."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.shop = folder, folder / "shop"
        self.data, url = start((*QUICK, "listen_addresses=*"))
        with (self.data / "data" / "pg_hba.conf").open("a") as access:
            access.write(f"host all all {network.BASE}0/24 trust\n")
        self.url = url
        self.ask("SELECT pg_reload_conf()")
        # The clinic and the shop are two projects: neither may decide or execute the other's.
        self.ask("CREATE DATABASE shop")
        self.far = url.replace("127.0.0.1", f"{network.BASE}{SERVER}")
        self.far_shop = self.far.rpartition("/")[0] + "/shop"
        self.machines = {n: Machine(n, s, folder / f"{n}.log") for n, s in CLOCKS.items()}
        self.end = network.tunnel(SERVER)
        ends = {SERVER: self.end} | {n: m.end for n, m in self.machines.items()}
        self.wire = Wire(ends, seed)
        self.roles: dict[str, tuple[int, str, tuple[Any, ...]]] = {}
        self.pids: dict[str, int] = {}
        self.killed: dict[int, float] = {}
        """When which processes were killed, by the clock of the kernel."""
        self.struck: list[str] = []
        """Their roles."""
        self.calm = True
        """Whether there is no fault, nor what it left: a cut machine's connection sends its next
        packet later after each lost one."""
        self.taken = TakeOvers(self.ask)
        self.used: dict[str, float] = defaultdict(float)
        """The processor time of processes that ended, in seconds by role."""
        matrix_work.make_shop(self.shop)

    def role(self, name: str, machine: int, work: str, *args: Any) -> None:
        """Have a process with this role, from now on."""
        self.roles[name] = machine, work, args
        self.revive()

    def start(self, machine: int, work: str, *args: Any) -> int:
        """Start a process on a machine; return its id."""
        return self.machines[machine].start(work, *args)

    def revive(self) -> None:
        """Start the processes that ended."""
        for name, (machine, work, args) in self.roles.items():
            if not _lives(self.pids.get(name)):
                self.pids[name] = self.start(machine, work, *args)

    def kill(self, name: str) -> None:
        """Kill the process of a role."""
        self.taken.before(pid := self.pids[name], calm=self.calm)
        self.used[name.split("-", maxsplit=1)[0]] += processor_s(pid)
        self.killed[pid] = time.monotonic()
        self.struck.append(name)
        kill(pid)

    def processor(self) -> dict[str, float]:
        """Return the processor time of all processes so far, in seconds by role."""
        used = defaultdict(float, self.used)
        for name, pid in self.pids.items():
            used[name.split("-")[0]] += processor_s(pid)
        return used

    def state(self, machine: int) -> Path:
        """Return the state folder of a machine: its own, but for the books of the clinic."""
        state = self.folder / f"state-{machine}"
        if not state.exists():
            state.mkdir()
            (state / office.FILE).symlink_to(self.folder / "clinic" / office.FILE)
        return state

    def ask(self, statement: str, database: str = "postgres") -> list[Any]:
        """Ask the server, from its own machine."""
        for tries in itertools.count():
            try:
                with psycopg.connect(self.url, dbname=database, autocommit=True) as connection:
                    answer = connection.execute(statement)  # type: ignore[arg-type]
                    return answer.fetchall() if answer.description else []
            except psycopg.errors.UndefinedTable:
                # The tables are being made.
                return []
            except psycopg.OperationalError:
                # It restarts.
                if tries > 100:
                    raise
                time.sleep(0.1)
        raise AssertionError

    def close(self) -> None:
        """End everything."""
        for machine in self.machines.values():
            machine.close()
        self.wire.close()
        os.close(self.end)
        stop(self.data)


class Storm(NamedTuple):
    """How much work there is, and how much trouble."""

    runs: int = 600
    payments: int = 200
    kills: int = 120
    limit_s: float = 900.0
    """When it ends, even with work left."""
    seed: int = 7


def storm(plan: Storm) -> Iterator[Counted]:
    """Do all work at once under all faults, with kills; return the counts every few seconds."""
    chance, folder = random.Random(plan.seed), Path(tempfile.mkdtemp(prefix="toolmd-matrix-"))
    office.open_office(folder / "clinic", plan.runs)
    began = told = moved = time.monotonic()
    done, count = (-1, -1), 0
    with contextlib.closing(Fleet(folder, plan.seed)) as fleet:
        _employ(fleet, plan.runs, plan.payments)
        faults = _faults(fleet)
        while (now := time.monotonic()) - moved < TIMEOUT_S and now - began < plan.limit_s:
            # At first there are kills alone, whose take-overs no fault delays.
            if done[0] >= plan.runs * KILLS_ALONE:
                count = next(faults)
            fleet.revive()
            fleet.taken.look(calm=fleet.calm)
            if (reached := _done(fleet)) != done:
                done, moved = reached, now
            if done[0] >= plan.runs and done[1] >= plan.payments:
                break
            _kill_some(fleet, plan, (done[0] / plan.runs, done[1] / plan.payments), chance)
            if now - told > TOLD_S:
                told = now
                yield counted(fleet, plan.runs, count, now - began)
            time.sleep(0.2)
        last = counted(fleet, plan.runs, count, time.monotonic() - began)
    yield last
    if is_well(last):
        shutil.rmtree(folder)


def _kill_some(
    fleet: Fleet, plan: Storm, parts: tuple[float, float], chance: random.Random
) -> None:
    """Kill a process of the runs or of the shop, as far as each has come."""
    if time.monotonic() < max(fleet.killed.values(), default=0.0) + SPARED_S:
        return
    for part, favoured, others in zip(parts, *ROLES, strict=True):
        roles = [role for role in fleet.roles if role.startswith((favoured, *others))]
        killed = sum(role in roles for role in fleet.struck)
        if 0 <= part < 1 and killed < min(plan.kills / 2, part * plan.kills / 2 + 1):
            most = [role for role in roles if role.startswith(favoured)]
            fleet.kill(chance.choice(most if chance.random() < 0.8 else roles))
            return


def hold(fault: Fault, seed: int) -> Counted:
    """Cut off a machine during a call under Max Concurrent 1, whose place another one wants."""
    folder = Path(tempfile.mkdtemp(prefix="toolmd-matrix-"))
    began = time.monotonic()
    with contextlib.closing(Fleet(folder, seed)) as fleet:
        args = str(fleet.shop), str(folder / "a"), fleet.far_shop, LONG_S
        fleet.start(A, "call_alone", *args)
        _until(lambda: bool(noted(fleet.shop, "alone")))
        fleet.wire.set(fault.loss)
        fleet.start(B, "call_alone", *args[:1], str(folder / "b"), fleet.far_shop, 1.0)
        _until(lambda: len(noted(fleet.shop, "long")) >= 2)
        found = counted(fleet, 0, 1, time.monotonic() - began)
    shutil.rmtree(folder)
    return found


def _employ(fleet: Fleet, runs: int, payments: int) -> None:
    for place, machine in enumerate(fleet.machines):
        clinic = str(fleet.state(machine))
        shop = str(fleet.shop), str(fleet.folder / f"shop-{machine}"), fleet.far_shop
        for number in range(2):
            quarter = 2 * place + number
            mine = (quarter * runs // 4, (quarter + 1) * runs // 4)
            fleet.role(f"run-{machine}-{number}", machine, "work", clinic, fleet.far, *mine)
        fleet.role(f"answer-{machine}", machine, "answer", clinic, fleet.far)
        mine = (place * payments // 2, (place + 1) * payments // 2)
        fleet.role(f"order-{machine}", machine, "order_payments", *shop, *mine)
        fleet.role(f"decide-{machine}", machine, "decide", *shop)
        fleet.role(f"limit-{machine}", machine, "call_limited", *shop)


def _faults(fleet: Fleet) -> Iterator[int]:
    """Change the network when it is time; return how many faults there were."""
    for count, fault in enumerate(itertools.cycle(FAULTS), 1):
        for one, seconds, calm in (
            (fault, BAD_S, False), (None, SETTLE_S, False), (None, CALM_S, True)
        ):  # fmt: skip
            until = time.monotonic() + seconds
            fleet.wire.set(one.loss if one else {}, one.delay_s if one else 0.0)
            fleet.calm = calm
            if one is not None and one.restarts:
                restart(fleet.data)
            while time.monotonic() < until:
                yield count
    raise AssertionError("a cycle does not end")


def _done(fleet: Fleet) -> tuple[int, int]:
    """Return how many runs ended and how many calls were decided."""
    ended = fleet.ask("SELECT count(*) FROM toolmd.run WHERE result NOTNULL")
    decided = fleet.ask("SELECT count(*) FROM toolmd.confirmation WHERE state = 'approved'", "shop")
    return (ended[0][0] if ended else -1), (decided[0][0] if decided else 0)


def _until(come: Callable[[], bool]) -> None:
    until = time.monotonic() + TIMEOUT_S
    while not come():
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(0.05)


def _lives(pid: int | None) -> bool:
    try:
        os.kill(pid or 0, 0)
    except ProcessLookupError:
        return False
    return pid is not None
