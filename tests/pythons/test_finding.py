"""The Pythons of a machine are found once each, and one that is left out is named."""

import os
import sqlite3
import sys
from pathlib import Path

from finding import find_pythons

BASE = os.path.realpath(sys._base_executable)
SERIES = f"{sys.version_info[0]}.{sys.version_info[1]}"


def program(folder: Path, name: str, script: str) -> Path:
    """Put a program into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    file.chmod(0o755)
    return file


def answering(version: str, sqlite: str, executable: str) -> str:
    return f"""echo '["{executable}", [{version.replace(".", ", ")}], "{sqlite}"]'"""


def test_this_python_is_found_once_however_many_names_it_has(tmp_path: Path) -> None:
    (tmp_path / "python3").symlink_to(BASE)
    (tmp_path / f"python{SERIES}").symlink_to(BASE)

    pythons, notes = find_pythons({"PATH": str(tmp_path)})

    assert [(python.executable, python.series) for python in pythons] == [(BASE, SERIES)]
    assert pythons[0].sqlite == sqlite3.sqlite_version
    assert notes == []


def test_pythons_are_found_on_the_path_and_among_pyenvs(tmp_path: Path) -> None:
    program(tmp_path / "bin", "python3.98", answering("3.98.1", "3.60.0", "/a/python3.98"))
    pyenv = tmp_path / "pyenv"
    program(
        pyenv / "versions" / "3.97.4" / "bin", "python3", answering("3.97.4", "3.50.0", "/b/python")
    )

    pythons, _ = find_pythons({"PATH": str(tmp_path / "bin"), "PYENV_ROOT": str(pyenv)})

    assert [python.shown for python in pythons][1:] == ["3.97.4", "3.98.1"]


def test_broken_and_old_pythons_are_skipped(tmp_path: Path) -> None:
    program(tmp_path, "python3", "echo 'command not found' >&2; exit 127")
    program(tmp_path, "python3.10", answering("3.10.9", "3.40.1", "/a/python3.10"))

    pythons, notes = find_pythons({"PATH": str(tmp_path)})

    assert ([python.executable for python in pythons], notes) == ([BASE], [])


def test_of_two_of_one_series_the_second_is_tested_only_with_another_sqlite(tmp_path: Path) -> None:
    program(tmp_path, "python3.97", answering("3.97.4", "3.50.0", "/a/python"))
    program(tmp_path, "python3.98", answering("3.97.5", "3.50.0", "/b/python"))
    program(tmp_path, "python3.99", answering("3.97.6", "3.51.0", "/c/python"))

    pythons, notes = find_pythons({"PATH": str(tmp_path)})

    assert [python.shown for python in pythons][1:] == ["3.97.4", "3.97.6"]
    assert notes == [
        "/b/python (3.97.5) is left out: 3.97.4 stands for it, with the same SQLite 3.50.0"
    ]


def test_a_python_without_sqlite_is_named(tmp_path: Path) -> None:
    said = "ModuleNotFoundError: No module named '_sqlite3'"
    file = program(tmp_path, "python3.97", f'echo "{said}" >&2; exit 1')

    _, notes = find_pythons({"PATH": str(tmp_path)})

    assert notes == [f"{file} is left out: it was built without the module sqlite3"]
