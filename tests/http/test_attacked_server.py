"""Idle connections block no client, fill no log and use no processor time."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from attacked_server import DESCRIPTORS, AttackedServer
from raw import answer, connected

SIEGES = {
    "idle connections": b"",
    "half a head": b"GET /api/tools HTTP/1.1\r\nHost: a\r\n",
    "half a body": b"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
    b"Content-Type: application/json\r\nContent-Length: 400\r\n\r\n{",
    "no token": b"GET /api/tools HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
}
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@ON_LINUX
@pytest.mark.parametrize(
    ("verb", "kind"), [*(("dev", kind) for kind in SIEGES), ("serve", "half a head")]
)
def test_an_honest_client_is_served_while_others_occupy_all_connections(
    project: Path, verb: str, kind: str
) -> None:
    with AttackedServer(verb, project) as server:
        began = server.processor_s
        sent = SIEGES[kind]
        server.attack(3 * DESCRIPTORS, sent % server.port if b"%d" in sent else sent)
        asked = time.monotonic()
        assert [server.ask(5) for _ in range(5)] == [200] * 5

        assert time.monotonic() - asked < 10
        assert server.processor_s - began < 3
        assert len(server.log) < 5000
        assert server.log.count(b"connections are open") <= 1


@ON_LINUX
def test_idle_connections_are_closed_after_the_deadline(project: Path) -> None:
    with AttackedServer("dev", project, head_timeout=1) as server:
        server.attack(3 * DESCRIPTORS, b"GET / HTTP/1.1\r\n")
        assert len(list(server.closed())) == 3 * DESCRIPTORS
        assert server.ask(5) == 200


APP = """
import asyncio, sys, threading
from toolmd._auth.server import serve
from toolmd._auth.sockets import bound_socket
from toolmd._types.settings import ServeSettings

held = []

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        for _ in range(2):
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
        return
    if scope["path"] == "/open":
        try:
            while True:
                held.append(open("/dev/null"))
        except OSError:
            print("nothing left", flush=True)
        if scope["query_string"]:
            await asyncio.to_thread(sys.stdin.readline)
            held.clear()
    headers = [(b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body"})

async def main():
    await asyncio.to_thread(int)  # its thread is there before nothing is left
    listening = bound_socket("127.0.0.1", 0)
    print(listening.getsockname()[1], flush=True)
    await serve(app, listening, settings=ServeSettings())

asyncio.run(main())
"""


class ServerWithoutDescriptors:
    """A server whose app opens files until there are no descriptors left."""

    def __init__(self, log: Path) -> None:
        self.log = log
        with log.open("wb") as written:
            self.process = subprocess.Popen(
                ["sh", "-c", 'ulimit -n 64 && exec "$@"', "sh", sys.executable, "-c", APP],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=written,
            )  # fmt: skip
        self.port = int(self.hears())

    def hears(self) -> bytes:
        assert self.process.stdout
        return self.process.stdout.readline()

    def lets_go(self) -> None:
        """Close what the app has opened."""
        assert self.process.stdin
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def ends(self) -> float:
        """End it; return the processor time that it took."""
        self.process.terminate()
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return used.ru_utime + used.ru_stime

    def get(self, path: str) -> bytes:
        return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode()


@pytest.fixture
def exhausted(tmp_path: Path) -> Iterator[ServerWithoutDescriptors]:
    server = ServerWithoutDescriptors(tmp_path / "log")
    yield server
    if server.process.returncode is None:
        server.process.kill()
        server.process.communicate()


def test_an_idle_connection_is_closed_when_descriptors_run_out(
    exhausted: ServerWithoutDescriptors,
) -> None:
    with connected(exhausted.port) as busy, connected(exhausted.port) as idle:
        busy.sendall(exhausted.get("/open?wait"))
        assert exhausted.hears() == b"nothing left\n"
        with connected(exhausted.port) as new:
            new.sendall(exhausted.get("/"))
            assert answer(new)[0] == 200
            assert idle.recv(1) == b""


def test_a_new_connection_waits_quietly_if_no_connection_is_idle(
    exhausted: ServerWithoutDescriptors,
) -> None:
    with connected(exhausted.port) as busy:
        busy.sendall(exhausted.get("/open?wait"))
        assert exhausted.hears() == b"nothing left\n"
        with connected(exhausted.port) as new:
            new.sendall(exhausted.get("/"))
            new.settimeout(2)
            with pytest.raises(TimeoutError):
                new.recv(1)
            exhausted.lets_go()
            new.settimeout(30)
            assert answer(new)[0] == 200
        assert answer(busy)[0] == 200
    processor_s = exhausted.ends()

    told = exhausted.log.read_text()
    assert told.count("can't accept a connection (Too many open files)") == 1
    assert told.count("\n") == 1
    assert processor_s < 1.5
