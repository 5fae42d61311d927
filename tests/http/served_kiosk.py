"""A kiosk that `toolmd serve` serves over HTTP, in a process of its own."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Self

import httpx
from tests import warm_python

TOKEN = "a-token-that-stays-over-restarts"


class Served:
    """A running `toolmd serve --transport http`; the pipe lets the calls of `wait` end."""

    def __init__(self, project: Path, *words: str, **variables: str) -> None:
        self.process = warm_python.Popen(
            [sys.executable, "-m", "toolmd", "serve", "--project", str(project),
             "--transport", "http", "--port", "0", "--user", "ana",
             "--may", "call,decide,operate", *words],
            env={**os.environ, "TOOLMD_LOAD_PLUGINS": "", "TOOLMD_TOKEN": TOKEN, **variables},
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        found = re.search(r"http://127\.0\.0\.1:(\d+)", self.tells("MCP at"))
        assert found
        self.port = int(found[1])
        self.client = httpx.Client(
            base_url=found[0], headers={"authorization": f"Bearer {TOKEN}"}, timeout=30
        )
        self.answers: list[Any] = []

    def tells(self, words: str) -> str:
        """Return the line on stderr that contains these words."""
        told = ""
        for line in self.process.stderr or ():
            told += line
            if words in line:
                return str(line)
        raise AssertionError(f"it ended before it said {words!r}:\n{told}")

    def posts(self, path: str, body: dict[str, Any]) -> threading.Thread:
        """Send a request from a thread, which keeps the answer."""

        def ask() -> None:
            try:
                self.answers.append(self.client.post(path, json=body))
            except httpx.TransportError as error:
                self.answers.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        return thread

    def waits(self, pipe: Path) -> threading.Thread:
        """Start a call that ends after a write to the pipe."""
        os.mkfifo(pipe)
        return self.posts("/api/tools/wait/call", {"arguments": {"pipe": str(pipe)}})

    def fresh(self) -> httpx.Client:
        """Return a client with a connection of its own."""
        return httpx.Client(base_url=self.client.base_url, headers=self.client.headers)

    def end(self, sig: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(sig)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.process.kill()
        self.process.communicate()
