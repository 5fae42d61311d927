"""A server process with few file descriptors, and clients that use up its connections."""

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from raw import connected

TOKEN = "a-token-that-attackers-do-not-have"
DESCRIPTORS = 128
TICKS = os.sysconf("SC_CLK_TCK")


class AttackedServer:
    """`toolmd dev` or `toolmd serve` over HTTP with 128 file descriptors."""

    def __init__(self, verb: str, project: Path, **settings: int) -> None:
        """`settings` are those of the table `serve`."""
        words = {"dev": ("dev",), "serve": ("serve", "--transport", "http")}[verb]
        variables = {f"TOOLMD_SERVE_{k.upper()}": str(v) for k, v in settings.items()}
        command = (sys.executable, "-m", "toolmd", *words, "--project", str(project), "--port", "0")
        self.log = bytearray()
        self._clients: list[socket.socket] = []
        self.process = subprocess.Popen(
            ["sh", "-c", f'ulimit -n {DESCRIPTORS} && exec "$@"', "sh", *command],
            env={**os.environ, "TOOLMD_LOAD_PLUGINS": "", "TOOLMD_TOKEN": TOKEN, **variables},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._listening = threading.Thread(target=self._listen)

    def __enter__(self) -> Self:
        said = b""
        while not (found := re.search(rb"http://127\.0\.0\.1:(\d+)", said)):
            assert self.process.poll() is None, said
            said = self.process.stdout.readline()  # type: ignore[union-attr]
        self.port = int(found[1])
        self._listening.start()
        assert self.ask(60) == 200
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients:
            client.close()
        self.process.kill()
        self._listening.join()
        self.process.wait()
        self.process.stdout.close()  # type: ignore[union-attr]

    def _listen(self) -> None:
        for line in self.process.stdout or ():
            self.log.extend(line)

    def attack(self, number: int, sent: bytes) -> None:
        """Open connections that stay, and send the same on each."""
        for _ in range(number):
            client = socket.create_connection(("127.0.0.1", self.port), timeout=30)
            self._clients.append(client)
            client.sendall(sent)

    def ask(self, timeout_s: float) -> int:
        """Send an honest request on a new connection; return the status."""
        with connected(self.port) as sock:
            sock.settimeout(timeout_s)
            sock.sendall(
                f"GET /api/tools HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
                f"Authorization: Bearer {TOKEN}\r\n\r\n".encode()
            )
            return int(sock.recv(65536).split()[1])

    def closed(self) -> Iterable[Any]:
        """Wait until the server has closed each connection."""
        for client in self._clients:
            client.settimeout(30)
            try:
                while client.recv(65536):
                    pass
            except ConnectionError:
                pass
            yield client

    @property
    def processor_s(self) -> float:
        """The used processor time, in seconds."""
        told = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(told[11]) + int(told[12])) / TICKS
