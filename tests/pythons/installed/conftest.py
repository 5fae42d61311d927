"""Toolmd as it was installed from its wheel, and projects that a test fills with its commands."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import toolmd

CLINIC = Path(os.environ.get("PYTHONS_CLINIC", ""))
"""A copy of the clinic's project, without the framework."""


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self
        return json.loads(self.out)


class Project:
    """A folder in which commands are typed; each is a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def environment(self, **variables: str) -> dict[str, str]:
        """Return what a command runs in: nothing of Toolmd, unless a test sets it."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith("TOOLMD_")}
        return {**kept, "NO_COLOR": "1", "TOOLMD_LOAD_PLUGINS": "", **variables}

    def toolmd(self, *words: str, **variables: str) -> Done:
        """Type a command of Toolmd."""
        return self.script("toolmd", *words, **variables)

    def script(self, name: str, *words: str, **variables: str) -> Done:
        """Type a command that a package has brought into this environment."""
        return self._run(str(Path(sysconfig.get_path("scripts"), name)), *words, **variables)

    def python(self, *words: str, **variables: str) -> Done:
        """Run this environment's Python."""
        return self._run(sys.executable, *words, **variables)

    def _run(self, *words: str, **variables: str) -> Done:
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self.environment(**variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def write(self, path: str, text: str) -> None:
        """Put a file into the project."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


@pytest.fixture(autouse=True, scope="session")
def _from_the_wheel() -> None:
    """Fail where Toolmd comes from anywhere but this environment: a source tree, another Python."""
    assert toolmd.__file__ is not None
    assert Path(toolmd.__file__).is_relative_to(sysconfig.get_path("purelib"))
    assert Path(toolmd.__file__).is_relative_to(sys.prefix)
    assert sys.prefix != sys.base_prefix
    assert not any((Path(entry) / "framework").exists() for entry in sys.path)


@pytest.fixture
def empty(tmp_path: Path) -> Project:
    """Give an empty folder."""
    return Project(tmp_path)


@pytest.fixture
def project(empty: Project) -> Project:
    """Give a project as `init` makes it."""
    done = empty.toolmd("init")
    assert done.code == 0, done
    return empty
