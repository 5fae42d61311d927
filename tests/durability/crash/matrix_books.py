"""What became of the work on the two machines of `matrix`, by the books and by Postgres."""

import itertools
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import office
from matrix_work import ROUND, noted
from takeovers import TakeOvers, Waits

from toolmd._types.confirmation import Confirmation

MOST = 3
"""The Max Calls of a tool."""


class Fleet(Protocol):
    """The machines, for those who count."""

    folder: Path
    shop: Path
    killed: dict[int, float]
    taken: TakeOvers

    def ask(self, statement: str, database: str = ...) -> list[Any]:
        """Return the server's answer."""
        ...

    def processor(self) -> dict[str, float]:
        """Return the processor time in seconds, by role."""
        ...


class FailedRun(NamedTuple):
    """A run that ended without success, and why."""

    run: str
    step: str
    """The last entry of its record."""
    code: str
    message: str

    def __str__(self) -> str:
        """Return the reason in words."""
        return f"{self.step}: {self.code}: {self.message}"


class Counted(NamedTuple):
    """What became of the work."""

    kills: int
    faults: int
    """How many faults of the network and restarts of the server there were."""
    ended: int
    left: int
    """Runs that have not ended."""
    failed: tuple[FailedRun, ...]
    lost: int
    """Runs that report success, and have no booking or no text."""
    doubled: int
    stuck: int
    decided: int
    paid_twice: int
    unpaid: int
    """Approved calls without an effect."""
    repeated: int
    """Calls that ran again under their key, after a person was asked again."""
    cut: int
    """Decisions that a kill cut."""
    rounds: int
    over: int
    """Rounds in which Max Calls 3 let more than three calls run."""
    short: int
    """Rounds with fewer, although no call of them met a fault or a kill."""
    alone: int
    overlaps: int
    """Calls that began during another one, under Max Concurrent 1."""
    taken: Waits
    """How long runs of killed workers waited for another one, while no machine was cut off."""
    taken_late: Waits
    """The same during faults."""
    processor: dict[str, float]
    """The processor time in seconds, by role."""
    seconds: float

    def __str__(self) -> str:
        """Return the progress in words."""
        return (
            f"{self.seconds:.0f} s: {self.ended} of {self.ended + self.left} runs ended, "
            f"{self.decided} calls approved, {self.kills} kills, {self.faults} faults; failed "
            f"{len(self.failed)}, lost {self.lost}, twice {self.doubled + self.paid_twice}, "
            f"stuck {self.stuck}, without an effect {self.unpaid}, "
            f"over a limit {self.over + self.overlaps}; "
            f"{sum(self.processor.values()):.0f} s of processor time"
        )


def is_well(found: Counted) -> bool:
    """Return whether nothing was lost or doubled, and no limit was passed."""
    bad = (found.left, found.failed, found.lost, found.doubled, found.stuck, found.paid_twice,
           found.unpaid, found.over, found.short, found.overlaps)  # fmt: skip
    return not any(bad)


def counted(fleet: Fleet, runs: int, faults: int, seconds: float) -> Counted:
    results = fleet.ask("SELECT id, state = 'stuck', result::json->>'success' FROM toolmd.run")
    ended = [row for row in results if row[2] is not None]
    done = [run for run, _, success in ended if success == "true"]
    booked, texted = Counter[str](), Counter[str]()
    if runs:
        booked, texted = office.books(fleet.folder / "clinic")
    hollow = [run for run in done if not booked[run] or not texted[run]]
    rounds, over, short = _rounds(fleet.shop)
    alone, overlaps = _alone(fleet.shop, fleet.killed)
    return Counted(
        kills=len(fleet.killed),
        faults=faults,
        ended=len(ended),
        failed=_failed(fleet),
        left=runs - len(ended),
        lost=len(hollow),
        doubled=sum(times - 1 for books in (booked, texted) for times in books.values()),
        stuck=sum(bool(stuck) for _, stuck, _ in results),
        **_payments(fleet),
        rounds=rounds,
        over=over,
        short=short,
        alone=alone,
        overlaps=overlaps,
        taken=fleet.taken.waits(calm=True),
        taken_late=fleet.taken.waits(calm=False),
        processor={role: round(used, 1) for role, used in fleet.processor().items()},
        seconds=seconds,
    )


def _failed(fleet: Fleet) -> tuple[FailedRun, ...]:
    rows = fleet.ask(
        "SELECT r.id, (SELECT key FROM toolmd.step s WHERE s.run = r.id "
        "ORDER BY number DESC LIMIT 1), "
        "r.result::json->>'code', r.result::json->>'message' FROM toolmd.run r "
        "WHERE r.result::json->>'success' = 'false'"
    )
    return tuple(FailedRun(run, step or "-", code, message) for run, step, code, message in rows)


def _payments(fleet: Fleet) -> dict[str, int]:
    # A record is a JSON list of the fields; the arguments are the second one of a call.
    mark = f"data::json->{Confirmation._fields.index('call')}->1->>'mark'"
    rows = fleet.ask(
        f"SELECT id, {mark} FROM toolmd.confirmation WHERE state = 'approved'",
        "shop",
    )
    made = [(line[1], line[4]) for line in noted(fleet.shop, "pay") if line[0] == "began"]
    # The bank knows a key that was paid: each mark must have one.
    paid = Counter(mark for mark, _ in set(made))
    cut = Counter[str]()
    for when, held, *_ in noted(fleet.shop, "decided"):
        cut[held] += 1 if when == "begins" else -1
    return {
        "decided": len(rows),
        "paid_twice": sum(times - 1 for times in paid.values()),
        "unpaid": sum(not paid[mark] for _, mark in rows),
        "repeated": len(made) - len(set(made)),
        "cut": cut.total(),
    }


def _rounds(shop: Path) -> tuple[int, int, int]:
    """Return the rounds of Max Calls 3, those with more, and undisturbed ones with fewer."""
    ran = Counter(line[1] for line in noted(shop, "thrice") if line[0] == "began")
    begun, told, bad = Counter[str](), Counter[str](), set[str]()
    for name, what, *code in noted(shop, "rounds"):
        if what == "begins":
            begun[name] += ROUND
            continue
        told[name] += 1
        if what != "ok" and code != ["quota_exceeded"]:
            bad.add(name)
    well = [name for name in begun if begun[name] == told[name] and name not in bad]
    over = sum(times > MOST for times in ran.values())
    return len(begun), over, sum(ran[name] < MOST for name in well)


def _alone(shop: Path, killed: dict[int, float]) -> tuple[int, int]:
    """Return the calls under Max Concurrent 1, and how many of them began during another one."""
    calls: list[list[float]] = []
    open_here: dict[str, list[float]] = {}
    for what, _, pid, moment, *_ in noted(shop, "alone"):
        if what == "began":
            # One whose process was killed ends there.
            call = open_here[pid] = [float(moment), killed.get(int(pid), float("inf"))]
            calls.append(call)
        elif pid in open_here:
            open_here.pop(pid)[1] = float(moment)
    calls.sort()
    return len(calls), sum(later[0] < first[1] for first, later in itertools.pairwise(calls))
