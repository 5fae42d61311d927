"""Find the Pythons of this machine: on the PATH, and among the versions of pyenv."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

OLDEST = (3, 11)
_ASK = (
    "import json, os, sys, sqlite3; "
    "print(json.dumps([os.path.realpath(getattr(sys, '_base_executable', sys.executable)), "
    "list(sys.version_info[:3]), sqlite3.sqlite_version]))"
)
_PATIENCE_S = 30


class Python(NamedTuple):
    """One Python, and the SQLite that it is linked to."""

    executable: str
    version: tuple[int, int, int]
    sqlite: str

    @property
    def shown(self) -> str:
        """Its version, as people write it."""
        return ".".join(map(str, self.version))

    @property
    def series(self) -> str:
        """Its minor version, as classifiers name it."""
        return f"{self.version[0]}.{self.version[1]}"


def find_pythons(environ: dict[str, str]) -> tuple[list[Python], list[str]]:
    """Return the Pythons to test, the oldest first, and a note on each that is left out.

    Of two with the same minor version and the same SQLite the first found is taken: this one,
    then those of the PATH.
    """
    seen: dict[str, Python] = {}
    notes = []
    for candidate in _candidates(environ):
        try:
            found = _asked(candidate)
        except ValueError as error:
            notes.append(f"{candidate} is left out: {error}")
            continue
        if found is not None and found.version >= OLDEST:
            seen.setdefault(found.executable, found)
    chosen: dict[tuple[str, str], Python] = {}
    for python in seen.values():
        taken = chosen.setdefault((python.series, python.sqlite), python)
        if taken is not python:
            notes.append(
                f"{python.executable} ({python.shown}) is left out: {taken.shown} stands for it, "
                f"with the same SQLite {python.sqlite}"
            )
    return sorted(chosen.values(), key=lambda python: python.version), notes


def _candidates(environ: dict[str, str]) -> Iterator[Path]:
    yield Path(sys.executable)
    for folder in environ.get("PATH", "").split(os.pathsep):
        if folder and Path(folder).is_dir():
            files = sorted(Path(folder).iterdir())
            yield from (file for file in files if re.fullmatch(r"python3(\.\d+)?", file.name))
    pyenv = Path(environ.get("PYENV_ROOT") or Path(environ.get("HOME", "/"), ".pyenv"))
    yield from sorted(pyenv.glob("versions/*/bin/python3"))


def _asked(candidate: Path) -> Python | None:
    """Ask a Python what it is; None for a name that runs nothing, such as a shim of pyenv's.

    Raises ValueError for a Python that is new enough and has no SQLite.
    """
    try:
        done = subprocess.run(
            [candidate, "-I", "-c", _ASK],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        if "sqlite3" in done.stderr and "ModuleNotFoundError" in done.stderr:
            raise ValueError("it was built without the module sqlite3")
        return None
    executable, (major, minor, micro), sqlite = json.loads(done.stdout)
    return Python(executable, (major, minor, micro), sqlite)
