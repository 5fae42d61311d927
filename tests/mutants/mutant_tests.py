"""Test mutants in copies of the project, each in a process of its own."""

import compileall
import multiprocessing
import os
import py_compile
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from changes import Change, changes_of
from guards import PACKAGE, ROOT, Guard

Round = tuple[tuple[str, ...], float]
"""Tests, and the seconds that they may take."""
TIMEOUT_S = 10.0
"""What a mutant's tests may take beyond three times what they take without it."""

# What every test imports, once for all; nothing that starts threads, and nothing of Toolmd.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["mutant_tests", "pytest", "pydantic", "hypothesis", "httpx"])


class MutantResult(NamedTuple):
    """What became of a mutant."""

    file: str
    """Below the package."""
    change: Change
    end: str
    """`killed`, `timed out` or `survived`."""


def copies(made: Path, jobs: int) -> Iterator[Path]:
    """Copy the project as it stands, once for each job."""
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


def tested(
    guard: Guard, only: str, folders: list[Path], is_known: Callable[[MutantResult], object]
) -> Iterator[MutantResult]:
    """Test each mutant of a guard's files; known survivors by the likely tests alone."""
    base, free = folders[0] / PACKAGE, SimpleQueue[Path]()
    for folder in folders:
        free.put(folder)

    def test_mutant(rounds: list[Round], mutant: tuple[Path, Change]) -> MutantResult:
        path, change = mutant
        folder = free.get()
        changed = folder / PACKAGE / path
        whole = changed.read_bytes()
        try:
            changed.write_text(change.text, "utf-8")
            one = MutantResult(str(path), change, "survived")
            for tests, timeout in rounds[:1] if is_known(one) else rounds:
                if one.end == "survived":
                    one = one._replace(end=_end(folder, tests, timeout))
            return one
        finally:
            changed.write_bytes(whole)
            free.put(folder)

    with ThreadPoolExecutor(len(folders)) as pool:
        for glob, tests in guard.files.items():
            if files := sorted(path for path in base.glob(glob) if only in str(path)):
                rounds = [_round(base.parents[1], one) for one in (tests, guard.broader) if one]
                mutants = (
                    (p.relative_to(base), c)
                    for p in files
                    for c in changes_of(p.read_text("utf-8"))
                )
                yield from pool.map(partial(test_mutant, rounds), mutants)


@cache
def _round(folder: Path, tests: tuple[str, ...]) -> Round:
    """See that the tests pass without any mutant, and give them with the time they may take."""
    began = time.monotonic()
    if _end(folder, tests, None, aloud=True) != "survived":
        sys.exit(f"{' '.join(tests)}: these fail without any mutant: mend that first")
    return tests, TIMEOUT_S + 3 * (time.monotonic() - began)


def _end(
    folder: Path, tests: tuple[str, ...], timeout: float | None, *, aloud: bool = False
) -> str:
    """Run tests in a process of their own until one fails, and tell what that says."""
    process = _PROCESSES.Process(target=_run, args=(folder, tests, timeout, aloud))
    process.start()
    process.join(timeout)
    late = process.is_alive()
    with suppress(ProcessLookupError):  # What its tests started may run on, even after it.
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    return "timed out" if late else "killed" if process.exitcode else "survived"


def _run(folder: Path, tests: tuple[str, ...], timeout: float | None, aloud: bool) -> None:
    os.setsid()
    # Nobody may be there any more who ends it.
    signal.alarm(round(2 * (timeout or 600)))
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
    options = "-x -q --assert=plain -p no:cacheprovider -p no:sybil"
    asked = [*options.split(), "--hypothesis-profile=mutants", *tests]
    # At once: threads that a mutant left behind must not hold the process.
    os._exit(pytest.main(asked))
