"""All of the harness: kills, take-overs, rates, two machines; an hour.

`make crash`, or with the names of some parts: `python tests/durability/crash/crash.py chaos rates`.
`matrix` alone takes at most 15 minutes on two quiet processors; `--runs 60` makes its storm
smaller.
"""

import argparse
import contextlib
import json
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

import boundaries
import chaos
import matrix
import network
import statements
import takeover
from postgres_server import database, own_server

TIMES = 50
STATEMENTS = 30
STRIKES = 10
TORN = 100
RATE, RATE_S = 3, 60.0
STARTER = Path(__file__).parents[1] / "starter.py"
Row = tuple[str, str, str]
"""A measurement, its result, and its bound."""


def kill_everywhere(server: str) -> Iterator[Row]:
    """Kill at each boundary, on SQLite."""
    del server
    last = None
    for last in boundaries.kill_everywhere(TIMES, at_once=4):
        if last.kills % 44 == 0:
            say(f"  {last}")
    assert last is not None
    what = f"SQLite: kill -9 at {len(boundaries.PLACES)} places × {TIMES}"
    yield what, f"{last.kills} kills in {last.seconds:.0f} s", ""
    yield "  lost, booked twice, texted twice", _thrice(last), "0, 0, 0"


def tear(server: str) -> Iterator[Row]:
    """Cut the file of unwritten pages after a kill, on SQLite."""
    del server
    last = boundaries.tear(TORN, seed=11)
    say(f"  {last}")
    yield f"SQLite: a torn file after a kill, {TORN} times", f"{last.kills} torn", ""
    yield "  lost, booked twice, texted twice", _thrice(last), "0, 0, 0"


def kill_between(server: str) -> Iterator[Row]:
    """Kill before each statement that changes a run, on both stores."""
    for place, where in (("SQLite", ""), ("Postgres", server)):
        *_, last = statements.kill_everywhere(where, range(1, STATEMENTS))
        say(f"  {place} {last}")
        yield f"{place}: kill -9 before each statement", f"{last.kills} kills", ""
        yield "  lost, done twice without need", f"{last.lost}, {last.doubled}", "0, 0"


def rampage(server: str, runs: int) -> Iterator[Row]:
    """Kill workers at random, on both stores."""
    for place in ("SQLite", "Postgres"):
        with database(server) as url:
            engine = "sqlite" if place == "SQLite" else url
            for last in chaos.rampage(engine, runs, runs // 6, seed=7):
                say(f"  {place} {last}")
        what = f"{place}: {chaos.WORKERS} workers, {runs} runs, {last.kills} kills"
        yield what, f"{last.ended} ended, {last.failed} failed, {last.seconds:.0f} s", f"{runs}, 0"
        yield "  lost, booked twice, texted twice", _thrice(last), "0, 0, 0"
        yield "  taken over after a kill", str(last.taken), "p90 5 s"


def take_over(server: str) -> Iterator[Row]:
    """Strike a worker and time its heir."""
    for place, how in (
        ("SQLite", signal.SIGKILL),
        ("Postgres", signal.SIGKILL),
        ("Postgres", signal.SIGSTOP),
    ):
        taken = []
        for _ in range(STRIKES):
            with database(server) as url:
                engine = "sqlite" if place == "SQLite" else url
                taken += takeover.strike(engine, how, 1)
            say(f"  {place} {taken[-1]}")
        seconds = [one.seconds for one in taken]
        twice = sum(one.booked > 1 or one.texted > 1 for one in taken)
        told = f"{statistics.median(seconds):.1f} s, at most {max(seconds):.1f} s; twice: {twice}"
        yield f"{place}: take-over after {how.name}, {STRIKES} times", told, "10 s; 0"


def start_often(server: str) -> Iterator[Row]:
    """Start a limited tool from three processes."""
    for place in ("SQLite", "Postgres"):
        with database(server) as url, contextlib.ExitStack() as stack:
            state = stack.enter_context(TemporaryDirectory(prefix="toolmd-rates-"))
            engine = "sqlite" if place == "SQLite" else url
            words = [sys.executable, str(STARTER), state, engine, str(RATE), str(RATE_S)]
            starters = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(3)]
            said = b"".join(starter.communicate()[0] for starter in starters)
        starts = sorted(float(line) for line in said.split())
        most = max(sum(1 for s in starts if start <= s < start + 1) for start in starts)
        say(f"  {place}: {len(starts)} starts in {starts[-1] - starts[0]:.1f} s, at most {most}")
        what = f"{place}: {RATE}/s from 3 processes over {RATE_S:.0f} s"
        told = f"at most {most} starts in any second, {len(starts)} in all"
        yield what, told, f"{RATE} in any second"


def two_machines(server: str, plan: matrix.Storm) -> Iterator[Row]:
    """Do all work on two machines whose network, clocks and Postgres fail."""
    del server
    if why := network.missing():
        yield "two machines", f"not measured: {why}", ""
        return
    for found in matrix.storm(plan):
        say(f"  {found}")
        last = found
    yield (
        f"Two machines: {last.kills} kills, {last.faults} faults in {last.seconds:.0f} s",
        f"{last.ended} runs ended, {last.decided} calls approved", f"{plan.runs}, {plan.payments}",
    )  # fmt: skip
    told = f"{len(last.failed)}, {last.lost}, {last.doubled}, {last.stuck}"
    yield "  runs that failed, were lost, did something twice, are stuck", told, "0, 0, 0, 0"
    for failed in last.failed:
        yield f"    {failed.run} failed", str(failed), ""
    told = f"{last.unpaid}, {last.paid_twice}"
    yield "  approved calls without an effect, with two", told, "0, 0"
    told = f"{last.cut}; {last.repeated} ran again under their key"
    yield "  decisions that a kill cut, after which a person decides again", told, ""
    told = f"{last.over} with more, {last.short} with fewer, of {last.rounds} rounds"
    yield "  Max Calls 3", told, "0, 0"
    yield "  Max Concurrent 1: calls at once", f"{last.overlaps} of {last.alone}", "0"
    yield "  taken over after a kill, without a fault", str(last.taken), "p90 5 s"
    yield (
        "  the same while a machine is cut off, slow, or Postgres restarts",
        str(last.taken_late),
        "",
    )
    used = ", ".join(f"{role} {seconds:.0f}" for role, seconds in last.processor.items())
    yield "  processor time of the processes, in seconds", used, ""
    for fault in matrix.HOLDS:
        say(f"  a call of {matrix.LONG_S:.0f} s: {fault.name}")
        what = f"  a call of {matrix.LONG_S:.0f} s under Max Concurrent 1, {fault.name}"
        try:
            yield what, f"{matrix.hold(fault, seed=plan.seed).overlaps} at once", "0"
        except TimeoutError:
            yield what, "it did not come to an end", "0"


PARTS: dict[str, Callable[[str], Iterator[Row]]] = {
    "boundaries": kill_everywhere,
    "torn": tear,
    "statements": kill_between,
    "takeover": take_over,
    "rates": start_often,
}


def say(words: str) -> None:
    """Print the progress."""
    print(time.strftime("%H:%M:%S"), words, flush=True)


def main(words: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description="Kill processes during durable runs.")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, "chaos", "matrix", []], metavar="PART",
                        help=f"{', '.join(PARTS)}, chaos or matrix; by default all")  # fmt: skip
    parser.add_argument("--runs", type=int, default=600, help="runs of chaos and matrix")
    parser.add_argument("--minutes", type=float, default=11, help="the longest storm of the matrix")
    parser.add_argument("--json", type=Path, help="a file for the table as JSON")
    asked = parser.parse_args(words)
    # A third as many confirmations as runs, and a fifth as many kills.
    plan = matrix.Storm(asked.runs, asked.runs // 3, asked.runs // 5, 60 * asked.minutes)
    parts = PARTS | {
        "chaos": lambda server: rampage(server, asked.runs),
        "matrix": lambda server: two_machines(server, plan),
    }
    rows: list[Row] = []
    with own_server() as server:
        for name in asked.parts or parts:
            say(name)
            rows += parts[name](server)
    if asked.json is not None:
        names = ("measured", "result", "bound")
        table = [dict(zip(names, row, strict=True)) for row in rows]
        asked.json.write_text(json.dumps(table, indent=2) + "\n")
    wide = [max(len(row[column]) for row in rows) for column in range(3)]
    print()
    for what, told, bound in (("measured", "", "bound"), *rows):
        print(f"{what:<{wide[0]}}  {told:<{wide[1]}}  {bound}")


def _thrice(counter: boundaries.CallCounter | chaos.CallCounter) -> str:
    return f"{counter.lost}, {counter.booked_twice}, {counter.texted_twice}"


if __name__ == "__main__":
    main()
