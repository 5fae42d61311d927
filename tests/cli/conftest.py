"""A small shop to type commands in, and a console that types them."""

import os
import re
from pathlib import Path

import pytest
from tests.command import Ended, run_command

SHOP = Path(__file__).parent / "shop"


class Console:
    """Types commands into a project of its own, in this process."""

    def __init__(self, folder: Path, plugins: str = "") -> None:
        self.folder = folder
        self.plugins = plugins

    def __call__(self, *words: str, stdin: str = "") -> Ended:
        return run_command(self.folder, *words, stdin=stdin, TOOLMD_LOAD_PLUGINS=self.plugins)

    def write(self, path: str, text: str) -> Path:
        """Put a file into the project."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        return target


@pytest.fixture
def console(tmp_path: Path) -> Console:
    """Return a console in an empty folder."""
    return Console(tmp_path)


@pytest.fixture
def project(console: Console) -> Console:
    """Return a console in a project that `init` has made."""
    assert console("init").code == 0
    return console


@pytest.fixture
def shop(console: Console) -> Console:
    """Return a console in a project that sells flowers."""
    for file in SHOP.rglob("*"):
        if file.is_file() and file.suffix != ".pyc":
            console.write(str(file.relative_to(SHOP)), file.read_text("utf-8"))
    return console


@pytest.fixture
def as_golden(request: pytest.FixtureRequest):
    """Return a function that compares a text with a golden file; GOLDEN=write rewrites it."""

    def compare(text: str, name: str) -> None:
        golden = Path(__file__).parent / "golden" / name
        steady = re.sub(r'"duration_ms": [0-9.]+', '"duration_ms": 0.0', text)
        steady = re.sub(r"\b[0-9a-f]{64}\b", "HASH", steady)
        if os.environ.get("GOLDEN") == "write":
            golden.write_text(steady, "utf-8")
        assert steady == golden.read_text("utf-8")

    return compare
