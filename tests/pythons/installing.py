"""Install the wheels into an environment of their own, with what constraints.txt locks."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from finding import Python

ROOT = Path(__file__).parents[2]
EXTRAS = "chat,clinic,lsp,mcp,server"
"""The extras that the tests need; runs are stored in SQLite."""
BESIDE = ("pytest", "hatchling")
"""What runs the tests, and what builds the plugin that one of them writes."""
NEWER_SQLITE = "pysqlite3==0.6.1"
_PATIENCE_S = 600
_IN_ITS_PLACE = (
    "import sys, pysqlite3; sys.modules['sqlite3'] = pysqlite3; "
    "sys.modules['sqlite3.dbapi2'] = pysqlite3.dbapi2\n"
)


class InstallError(Exception):
    """Something could not be built or installed; says what, and the tool's own words."""


class Environment:
    """A virtual environment with Toolmd and its plugins from their wheels."""

    def __init__(self, folder: Path, python: Python) -> None:
        """`python` is the one that it is made of; nothing is made yet."""
        self.python = folder / "bin" / "python"
        self._folder = folder
        self._of = python

    def install(self, wheels: Sequence[Path]) -> None:
        """Make it; raises InstallError.

        The wheels' own metadata say what belongs to them, constraints.txt which release, and its
        hashes what these files hold.
        """
        uv("venv", "--quiet", "--seed", "--python", self._of.executable, str(self._folder))
        asked = [f"{wheel}[{EXTRAS}]" if wheel.name.startswith("toolmd-") else str(wheel)
                 for wheel in wheels]  # fmt: skip
        locked = _locked()
        listing = self._folder / "asked.txt"
        listing.write_text("\n".join([*asked, *BESIDE]), "utf-8")
        only = self._folder / "versions.txt"
        blocks = [block for releases in locked.values() for block in releases]
        only.write_text("\n".join(block.partition(" \\")[0] for block in blocks), "utf-8")
        chosen = uv(
            "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--no-emit-index-url",
            "--no-emit-find-links", "--python", str(self.python), "-c", str(only), str(listing),
        )  # fmt: skip
        names = [line.partition("==")[0] for line in chosen.splitlines() if "==" in line]
        if unlocked := [name for name in names if name not in locked]:
            raise InstallError(f"constraints.txt does not lock {', '.join(unlocked)}")
        needed = self._folder / "needed.txt"
        needed.write_text("\n".join(block for name in names for block in locked[name]), "utf-8")
        into = ("pip", "install", "--quiet", "--no-deps", "--python", str(self.python))
        uv(*into, "--require-hashes", "-r", str(needed))
        uv(*into, *map(str, wheels))
        uv("pip", "check", "--quiet", "--python", str(self.python))

    def take_newer_sqlite(self) -> str:
        """Put the SQLite of a wheel in the place of Python's own; returns its version."""
        into = ("pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:")
        uv(*into, "--python", str(self.python), NEWER_SQLITE)
        (site,) = self._folder.glob("lib/python*/site-packages")
        (site / "newer_sqlite.pth").write_text(_IN_ITS_PLACE, "utf-8")
        return run(str(self.python), "-c", "import sqlite3; print(sqlite3.sqlite_version)").strip()


def build_wheels(folder: Path) -> list[Path]:
    """Build Toolmd and its plugins; raises InstallError."""
    plugins = [str(file.parent) for file in ROOT.glob("plugins/*/pyproject.toml")]
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check")
    run(*pip, "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT), *plugins)
    return sorted(folder.glob("*.whl"))


def uv(*words: str) -> str:
    """Run uv; returns what it printed."""
    return run(sys.executable, "-m", "uv", *words)


def run(*words: str) -> str:
    """Run a command and return what it printed; raises InstallError with its own words."""
    environment = {name: text for name, text in os.environ.items() if name != "VIRTUAL_ENV"}
    # As pip does: a network that checks its traffic has its certificate in the system's store.
    environment.setdefault("UV_SYSTEM_CERTS", "true")
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=_PATIENCE_S, env=environment, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(f"{' '.join(words[:5])}: {error}") from error
    if done.returncode:
        raise InstallError(f"{' '.join(words[:5])} …\n{(done.stderr or done.stdout).strip()}")
    return done.stdout


def _locked() -> dict[str, list[str]]:
    """Return each package of constraints.txt with its releases: version, marker and hashes."""
    text = (ROOT / "constraints.txt").read_text("utf-8")
    blocks = re.findall(r"^[A-Za-z0-9].*(?:\n    .*)*", text, re.MULTILINE)
    locked: dict[str, list[str]] = {}
    for block in blocks:
        # Some have two releases, each for other Pythons.
        locked.setdefault(block.partition("==")[0].partition("[")[0], []).append(block)
    return locked
