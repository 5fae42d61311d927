"""A small shop to type commands in, and a console that types them."""

import contextlib
import io
import os
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from toolmd._cli.main import main

LOADS = "TOOLMD_LOAD_PLUGINS"
"""Names the installed plugins that load: none here, whatever the tests' own Python has."""
SHOP = Path(__file__).parent / "shop"


class Typed(NamedTuple):
    """What a command printed, and how it ended."""

    out: str
    err: str
    code: int


class Console:
    """Types commands into a project of its own, in this process."""

    def __init__(self, folder: Path, plugins: str = "") -> None:
        self.folder = folder
        self.plugins = plugins

    def __call__(self, *words: str, stdin: str = "") -> Typed:
        out, err = Stream(), Stream()
        given, loads = sys.stdin, os.environ.get(LOADS)
        os.environ[LOADS] = self.plugins
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        try:
            with (
                contextlib.chdir(self.folder),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
            ):
                code = main(words)
        finally:
            sys.stdin = given
            os.environ.pop(LOADS)
            if loads is not None:
                os.environ[LOADS] = loads
        return Typed(out.text(), err.text(), code)

    def write(self, path: str, text: str) -> Path:
        """Put a file into the project."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        return target


class Stream(io.TextIOWrapper):
    """A stream that is no terminal."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


@pytest.fixture
def console(tmp_path: Path) -> Console:
    """Return a console in an empty folder."""
    return Console(tmp_path)


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
