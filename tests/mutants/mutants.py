"""Break the guards on purpose, and see that a test notices: `make mutants`.

Each change of a guard's code is judged by its tests in a copy of the project; no file here is
touched. Exit code 1 where tests notice fewer than nine of ten, or where one that they don't
notice has no reason in `survivors.toml`. `--write` puts the table into the figures.
"""

import argparse
import compileall
import multiprocessing
import os
import py_compile
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from changes import Change, changes_of
from guards import GUARDS, Guard

ROOT = Path(__file__).parents[2]
PACKAGE = Path("framework", "toolmark")
FIGURES = ROOT / "docs" / "explanation" / "figures.md"
BEGIN, END = "<!-- mutants: begin -->\n", "<!-- mutants: end -->\n"
LEAST = 0.9
"""The share that tests must notice."""
Round = tuple[tuple[str, ...], float]
"""Tests, and the seconds that they may take."""
PATIENCE_S = 10.0
"""What a mutant's tests may take beyond three times what they take without it."""

# What every test imports, once for all; nothing that starts threads, and nothing of Toolmark.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["pytest", "pydantic", "hypothesis", "httpx", "pluggy"])


class Judged(NamedTuple):
    """What became of a mutant."""

    file: str
    change: Change
    end: str
    """`killed`, `timed out` or `survived`."""


def main() -> int:
    """Judge the mutants of the guards that were named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *GUARDS], help="which guards")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once")
    parser.add_argument("--only", default="", metavar="TEXT", help="files whose path holds it")
    parser.add_argument("--quick", action="store_true", help="only the tests likely to notice")
    parser.add_argument("--write", action="store_true", help="write the table into the figures")
    options = parser.parse_args()
    began, rows, failed = time.monotonic(), [], []
    with tempfile.TemporaryDirectory(prefix="mutants-") as made:
        folders = list(_copies(Path(made), options.jobs))
        for name in options.names or GUARDS:
            ends: dict[str, Counter[str]] = {}
            guard = GUARDS[name]._replace(broader=()) if options.quick else GUARDS[name]
            for one in _judged(guard, options.only, folders):
                ends.setdefault(one.file, Counter())[one.end] += 1
                if one.end == "survived":
                    told = f"{one.file}:{one.change.line}: {one.change.said}"
                    known = one.change.said in _reasons().get(one.file, {})
                    print(f"survived{', as known' * known}: {told}", flush=True)
                    failed += [] if known else [told]
            for file, counts in ends.items():
                print(_row(f"`{file}`", counts), flush=True)
            rows.append(_row(name, total := sum(ends.values(), Counter())))
            print(rows[-1], flush=True)
            if total["survived"] > (1 - LEAST) * total.total():
                failed.append(f"{name}: fewer than {LEAST:.0%} were noticed")
    print(f"{time.monotonic() - began:.0f} s")
    print("\n".join(f"did not hold: {one}" for one in failed))
    if options.write and not (failed or options.names or options.only):
        head, tail = _text(FIGURES).split(BEGIN)[0], _text(FIGURES).split(END)[1]
        FIGURES.write_text("\n".join((head + BEGIN, *HEAD, *rows, "", END)) + tail, "utf-8")
    return int(bool(failed))


HEAD = (
    "| guard | mutants | killed | timed out | survived | noticed |",
    "|---|---|---|---|---|---|",
)


def _row(name: str, ends: Counter[str]) -> str:
    noticed = 1 - ends["survived"] / max(ends.total(), 1)
    counts = (ends.total(), ends["killed"], ends["timed out"], ends["survived"])
    return f"| {name} | {' | '.join(map(str, counts))} | {noticed:.1%} |"


def _reasons() -> dict[str, dict[str, str]]:
    return tomllib.loads(_text(Path(__file__).with_name("survivors.toml")))


def _copies(made: Path, jobs: int) -> Iterator[Path]:
    """Copy the project as it stands, once for each that judges."""
    first = made / "0"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    for name in listed:
        if (ROOT / name).is_file():
            (first / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, first / name)
    # By their hash: a mutant may be as long as what it replaces, and of the same second.
    by_hash = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(first / PACKAGE, quiet=2, invalidation_mode=by_hash)
    yield first
    for job in range(1, jobs):
        yield Path(shutil.copytree(first, made / str(job)))


def _judged(guard: Guard, only: str, folders: list[Path]) -> Iterator[Judged]:
    """Judge each mutant of a guard's files by the guard's tests."""
    base, free = folders[0] / PACKAGE, SimpleQueue[Path]()
    for folder in folders:
        free.put(folder)

    def judge(rounds: list[Round], mutant: tuple[Path, Change]) -> Judged:
        path, change = mutant
        folder, end = free.get(), "survived"
        changed = folder / PACKAGE / path
        whole = changed.read_bytes()
        try:
            changed.write_text(change.text, "utf-8")
            for tests, patience in rounds:
                if end == "survived":
                    end = _end(folder, tests, patience)
            return Judged(str(path), change, end)
        finally:
            changed.write_bytes(whole)
            free.put(folder)

    with ThreadPoolExecutor(len(folders)) as pool:
        for glob, tests in guard.files.items():
            if files := sorted(path for path in base.glob(glob) if only in str(path)):
                rounds = [_round(base.parents[1], one) for one in (tests, guard.broader) if one]
                mutants = ((p.relative_to(base), c) for p in files for c in changes_of(_text(p)))
                yield from pool.map(partial(judge, rounds), mutants)


@cache
def _round(folder: Path, tests: tuple[str, ...]) -> Round:
    """See that the tests pass without any mutant, and give them with the time they may take."""
    began = time.monotonic()
    if _end(folder, tests, None, aloud=True) != "survived":
        sys.exit(f"{' '.join(tests)}: these fail without any mutant: mend that first")
    return tests, PATIENCE_S + 3 * (time.monotonic() - began)


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def _end(
    folder: Path, tests: tuple[str, ...], patience: float | None, *, aloud: bool = False
) -> str:
    """Run tests in a process of their own until one fails, and tell what that says."""
    process = _PROCESSES.Process(target=_run, args=(folder, tests, patience, aloud))
    process.start()
    process.join(patience)
    late = process.is_alive()
    with suppress(ProcessLookupError):  # What its tests started may run on, even after it.
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return "timed out" if late else "killed" if process.exitcode else "survived"


def _run(folder: Path, tests: tuple[str, ...], patience: float | None, aloud: bool) -> None:
    os.setsid()
    # Nobody may be there any more who ends it.
    signal.alarm(round(2 * (patience or 600)))
    os.nice(19)
    os.chdir(folder)
    os.environ |= {"PYTHONPATH": str(folder / "framework"), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.path[:0] = [str(folder), str(folder / "framework")]
    if not aloud:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
    import pytest
    from hypothesis import HealthCheck, Phase, settings

    # A mutant need not be shown at its smallest, and the machine may be busy.
    phases = (Phase.explicit, Phase.reuse, Phase.generate)
    patient = settings(deadline=None, phases=phases, suppress_health_check=list(HealthCheck))
    settings.register_profile("mutants", patient)
    options = "-x -q --assert=plain -p no:cacheprovider -p no:schemathesis -p no:sybil"
    asked = [*options.split(), "--hypothesis-profile=mutants", *tests]
    # At once: threads that a mutant left behind must not hold the process.
    os._exit(pytest.main(asked))


if __name__ == "__main__":
    sys.exit(main())
