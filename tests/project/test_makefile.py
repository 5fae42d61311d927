"""On a bare machine the Makefile names what is missing, and how to install it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Return a fresh clone on a machine with only a shell and make."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "make"):
        (programs / name).symlink_to(shutil.which(name) or pytest.skip(f"no {name} here"))
    return tmp_path


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [folder / "bin" / "make", *words],
        cwd=folder,
        env={"PATH": str(folder / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )


def program(folder: Path, name: str, script: str) -> None:
    path = folder / "bin" / name
    path.write_text(f"#!{os.path.realpath('/bin/sh')}\n{script}\n")
    path.chmod(0o755)


def test_without_python_it_names_the_package(bare: Path) -> None:
    done = make(bare, "demo")

    assert done.returncode != 0
    assert "Python 3.11" in done.stderr
    assert "apt-get install python3 python3-venv" in done.stderr


def test_a_stub_that_runs_nothing_is_not_python(bare: Path) -> None:
    program(bare, "python3", "echo 'command not found'; exit 127")

    assert "Python 3.11" in make(bare, "test").stderr


def test_without_the_venv_module_it_names_the_package(bare: Path) -> None:
    program(bare, "python3.12", 'case "$2" in *ensurepip*) exit 1;; esac; exit 0')

    done = make(bare, "test")

    assert done.returncode != 0
    assert "python3.12 cannot make a virtual environment" in done.stderr
    assert "apt-get install python3-venv" in done.stderr
