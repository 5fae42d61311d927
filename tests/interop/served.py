"""Serve a copy of a project as its users do: by the command, over HTTP or for a pipe."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from proxy import TokenProxy

PROJECT = Path(__file__).parent / "project"
TOKEN = "a-token-for-checkers-0123456789"


class Served(NamedTuple):
    """Where a running server is found."""

    url: str
    """The server itself, which wants the token."""
    open_url: str
    """The way over the proxy, which adds it."""


@contextlib.contextmanager
def copied(project: Path = PROJECT) -> Iterator[Path]:
    """Return a copy of a project that its tools may write to."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        made = shutil.ignore_patterns(".toolmd", "__pycache__")
        shutil.copytree(project, copy, ignore=made)
        yield copy


def stdio_command(project: Path) -> list[str]:
    """Return the command that a host starts."""
    words = ["serve", "--transport", "stdio", "--project", str(project), "--user", "ana"]
    return [sys.executable, "-m", "toolmd", *words]


@contextlib.contextmanager
def over_http(project: Path) -> Iterator[Served]:
    """Serve a project over HTTP within this context, as strictly as ever."""
    with TokenProxy(TOKEN) as proxy, tempfile.TemporaryFile("w+") as log:
        command = [sys.executable, "-m", "toolmd", "serve", "--transport", "http", "--port", "0"]
        command += ["--follow", "--may", "call,decide"]
        command += ["--project", str(project), "--user", "ana"]
        for name in ("127.0.0.1", "localhost"):
            command += ["--allow-host", f"{name}:{proxy.port}"]
        environment = {**os.environ, "TOOLMD_TOKEN": TOKEN}
        with subprocess.Popen(
            command, env=environment, stderr=subprocess.PIPE, stdout=log, text=True
        ) as server:
            try:
                url = _address(server)
                proxy.hand_to(int(url.rsplit(":", 1)[1].partition("/")[0]))
                yield Served(url, f"http://127.0.0.1:{proxy.port}/mcp")
            finally:
                server.terminate()
                assert server.stderr is not None
                server.stderr.read()


def _address(server: subprocess.Popen[str]) -> str:
    assert server.stderr is not None
    said = []
    for line in server.stderr:
        said.append(line)
        if line.startswith("MCP at "):
            return line.removeprefix("MCP at ").strip()
    raise RuntimeError(f"the server did not start: {''.join(said)}")
