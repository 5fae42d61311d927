"""Run a command of `toolmd` in this process, or any program in one of its own."""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests import warm_python

from toolmd._cli.main import main


class Ended(NamedTuple):
    """A command's output and exit status."""

    out: str
    err: str
    code: int


def run_command(
    folder: Path, *words: str, stdin: str | bytes = "", merged: bool = False, **environ: str
) -> Ended:
    """Run `toolmd` with these words in a folder, with no plugins unless `environ` names some.

    With `merged`, `out` has what was written to both streams, in its order.
    """
    out = _Stream()
    err = out if merged else _Stream()
    before = sys.stdin
    sent = stdin.encode() if isinstance(stdin, str) else stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(sent), encoding="utf-8")
    try:
        with (
            _environment({"TOOLMD_LOAD_PLUGINS": "", **environ}),
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = main(words)
    finally:
        sys.stdin = before
    return Ended(out.text(), err.text(), code)


def apart(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    return warm_python.run(
        words,
        cwd=folder,
        env=os.environ | {"TOOLMD_LOAD_PLUGINS": "", "NO_COLOR": "1"} | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


class _Stream(io.TextIOWrapper):
    """A stream that is no terminal."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()  # type: ignore[attr-defined]


@contextlib.contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables for a while; without a key of a model that the developer may have."""
    before = dict(os.environ)
    for name in before:
        if name.endswith("_API_KEY"):
            del os.environ[name]
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
