"""Test Toolmd as it is installed, on each Python of this machine: `make test-pythons`.

Each Python has an environment of its own with the wheels and what constraints.txt locks. There
the tests of `installed/` run with the SQLite of that Python. Those about what is stored also run
with a newer SQLite.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from finding import Python, find_pythons
from installing import ROOT, Environment, InstallError, build_wheels

TESTS = Path(__file__).parent / "installed"
CLINIC = ("pyproject.toml", "demo", "skills_md", "tools_md")
STORING = ("environment", "durable_run", "clinic", "plugin_wheels")
"""The files of tests that are about what is stored, for the round with a newer SQLite."""
ALONE = "test_scaffold"
"""Changes the environment, which no other test may see."""
PYTEST_INI = r"""[pytest]
filterwarnings =
    error
    ignore:\(rm_rf\) error removing:pytest.PytestWarning
"""
"""Every warning is an error, but for two runs of pytest that delete the same old folders."""
BOUND_S = 180
"""How long one Python may take, in seconds; more is noted."""
_PATIENCE_S = 900


class Row(NamedTuple):
    """What came of one Python with one SQLite."""

    python: str
    sqlite: str
    said: str
    seconds: float
    failed: bool


def main() -> int:
    """Test all; returns the exit code."""
    pythons, notes = find_pythons(dict(os.environ))
    named = classified()
    print(f"Pythons: {', '.join(python.shown for python in pythons)}")
    if len(pythons) == 1:
        print("note: there is no other Python from 3.11 on here than this one")
    missing = [series for series in named if series not in {one.series for one in pythons}]
    notes += [f"{series} stands in the classifiers and is not here" for series in missing]
    print("".join(f"note: {note}\n" for note in notes), end="")
    rows: list[Row] = []
    # A folder without the word that a path of the source tree would have.
    with tempfile.TemporaryDirectory(prefix="pythons-") as name:
        folder = Path(name)
        print("Building the wheels", flush=True)
        try:
            wheels = build_wheels(folder / "wheels")
        except InstallError as error:
            sys.exit(f"the wheels can't be built: {error}")
        shutil.copytree(TESTS, folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "tests" / "pytest.ini").write_text(PYTEST_INI, "utf-8")
        copy_clinic(folder / "clinic")
        for python in pythons:
            began = time.monotonic()
            rows += tested(python, folder, wheels)
            if (took := time.monotonic() - began) > BOUND_S:
                print(f"note: {python.shown} took {took:.0f} s, more than {BOUND_S} s")
    print_table(rows, named)
    return int(any(row.failed and row.python.rpartition(".")[0] in named for row in rows))


def classified() -> list[str]:
    """Return the Pythons that the classifiers name, such as 3.12."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    prefix = "Programming Language :: Python :: "
    return [one.removeprefix(prefix) for one in project["classifiers"] if one.startswith(prefix)]


def copy_clinic(folder: Path) -> None:
    """Copy the clinic's project, without the framework beside it."""
    folder.mkdir()
    for name in CLINIC:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copy(ROOT / name, folder)


def tested(python: Python, folder: Path, wheels: list[Path]) -> Iterator[Row]:
    """Test one Python with its own SQLite and with a newer one."""
    print(f"\nPython {python.shown} ({python.executable})", flush=True)
    environment = Environment(folder / f"python-{python.shown}", python)
    sqlite, began = python.sqlite, time.monotonic()
    try:
        environment.install(wheels)
        ended("install", began)
        files = sorted((folder / "tests").glob("test_*.py"))
        yield round_of(environment, python, sqlite, files, began)
        sqlite, began = "newer", time.monotonic()
        sqlite = environment.take_newer_sqlite()
        ended("install a newer SQLite", began)
        storing = [file for file in files if file.stem.removeprefix("test_") in STORING]
        yield round_of(environment, python, sqlite, storing, began)
    except InstallError as error:
        ended("install", began, str(error))
        yield Row(python.shown, sqlite, "can't be installed", time.monotonic() - began, failed=True)


def round_of(
    environment: Environment, python: Python, sqlite: str, files: list[Path], began: float
) -> Row:
    """Run the tests, a file for each core at a time; what fails is printed as soon as it ends."""
    run = partial(run_file, environment, python, sqlite)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ran = [*pool.map(run, [file for file in files if file.stem != ALONE])]
    ran += [run(file) for file in files if file.stem == ALONE]
    failed = ", ".join(file.name for file in ran if not file.well)
    said = f"failed: {failed}" if failed else f"{sum(file.passed for file in ran)} tests passed"
    return Row(python.shown, sqlite, said, time.monotonic() - began, failed=bool(failed))


class Ran(NamedTuple):
    """What came of one file of tests."""

    name: str
    passed: int
    well: bool


def run_file(environment: Environment, python: Python, sqlite: str, file: Path) -> Ran:
    """Run one file of tests, and print how it ended."""
    began = time.monotonic()
    kept = {key: text for key, text in os.environ.items() if not key.startswith(("TOOLMD_", "PYT"))}
    variables = {
        "PYTHONS_CLINIC": str(file.parents[1] / "clinic"),
        "PYTHONS_PYTHON": python.shown,
        "PYTHONS_SQLITE": sqlite,
    }
    words = ["-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", "-c", "pytest.ini"]
    try:
        done = subprocess.run(
            [environment.python, *words, file.name],
            cwd=file.parent,
            env={**kept, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        code, said = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        code, said = 1, f"no end within {_PATIENCE_S} s"
    counted = re.search(r"(\d+) passed", said)
    ran = Ran(file.stem.removeprefix("test_"), int(counted[1]) if counted else 0, code == 0)
    ended(f"SQLite {sqlite}: {ran.name.replace('_', ' ')}", began, "" if ran.well else said)
    return ran


def ended(what: str, began: float, trouble: str = "") -> None:
    """Print what ended and how long it took, with its own words where it went wrong."""
    took = time.monotonic() - began
    # Each line with a mark: what runs this must not take another's closing line for ours.
    told = "".join(f"\n    | {line}" for line in trouble.strip().splitlines())
    print(f"  {what:<42}{'FAILED' if trouble else 'ok':<7}{took:5.1f} s{told}", flush=True)


def print_table(rows: list[Row], named: list[str]) -> None:
    """Print what came of each."""
    print(f"\n{'PYTHON':<10}{'SQLITE':<10}{'SECONDS':>7}  CAME OF IT")
    for row in rows:
        optional = "" if row.python.rpartition(".")[0] in named else " (no classifier names it)"
        print(f"{row.python:<10}{row.sqlite:<10}{row.seconds:>7.0f}  {row.said}{optional}")
    bad = sum(row.failed for row in rows)
    print(
        f"\n{len(rows)} rounds, {bad} of them failed" if bad else f"\nAll {len(rows)} rounds well"
    )


if __name__ == "__main__":
    sys.exit(main())
