"""Measure servers over HTTP, MCP and stdio: `python tests/benchmarks/bench.py http servers`.

Each server is a process of its own. Over HTTP, 1, 16 and 64 clients call one tool or list the
tools, each on one kept-alive connection; over stdio, one client. Toolmd is measured as
`toolmd serve` gives it.
"""

import asyncio
import contextlib
import importlib.util
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import peers
from bench_start import project
from http_load import Answer, Connection, load

CLIENTS = (1, 16, 64)
SECONDS, ROUNDS = 1.5, 3
TOKEN = "a-token-for-measuring-and-nothing-else"
ARGUMENTS = json.loads(peers.TEXT)
OLD, NEW = "2025-11-25", "2026-07-28"
ABOUT = {"name": "bench", "version": "1"}
START = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": ABOUT}
INITIALIZED = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
UP_WITHIN = 60


class Server(NamedTuple):
    """What is measured: its title, its protocol, how it is started, and what it is asked."""

    title: str
    protocol: str
    name: str
    needs: str = ""
    method: str = "tools/call"

    @property
    def clients(self):
        """The numbers of clients."""
        return (1,) if self.protocol.startswith("stdio") else CLIENTS


AS_SHIPPED = "Toolmd, as shipped"
SERVERS = [
    Server(AS_SHIPPED, "HTTP", "toolmd"),
    Server("starlette (validates nothing)", "HTTP", "starlette", "starlette"),
    Server("FastAPI, pydantic", "HTTP", "fastapi", "fastapi"),
    *(
        server
        for way in ("MCP", "stdio")
        for era in (OLD, NEW)
        for method in ("tools/call", "tools/list")
        for server in (
            Server(AS_SHIPPED, f"{way} {era}", "toolmd", "", method),
            Server("the SDK's low-level server", f"{way} {era}", "sdk", "mcp", method),
            Server("fastmcp", f"{way} {era}", "fastmcp", "fastmcp", method),
        )
        if way == "MCP" or server.name != "fastmcp"
    ),
]


class Measured(NamedTuple):
    """A server's medians, by the number of clients: answers a second; processor µs of each."""

    server: Server
    rates: dict[int, float]
    micros: dict[int, float]


def measure(chosen=SERVERS):
    """Measure those of the servers whose packages are in this environment, in turns.

    Args:
        chosen: Some of `SERVERS`.

    Returns:
        A list of `Measured`, in the order of the servers.

    """
    chosen = [one for one in chosen if not one.needs or importlib.util.find_spec(one.needs)]
    rates = {(server, count): [] for server in chosen for count in server.clients}
    micros = {key: [] for key in rates}
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as running:
        served = {
            name: running.enter_context(_served(name, Path(place)))
            for name in dict.fromkeys(server.name for server in chosen)
        }
        for _ in range(ROUNDS):
            for server in chosen:
                for count in server.clients:
                    one = _round(server, served[server.name], count, Path(place))
                    rate, spent = asyncio.run(one)
                    rates[server, count].append(rate)
                    micros[server, count].append(spent * 1e6)
    return [
        Measured(
            server,
            {count: statistics.median(rates[server, count]) for count in server.clients},
            {count: statistics.median(micros[server, count]) for count in server.clients},
        )
        for server in chosen
    ]


def http():
    """Yield Toolmd's processor time over HTTP beside FastAPI's."""
    names = {"toolmd", "fastapi"}
    yield from _beside([s for s in SERVERS if s.protocol == "HTTP" and s.name in names], 1.3)


def servers():
    """Yield Toolmd's processor time over MCP beside that of the SDK's low-level server."""
    names = {"toolmd", "sdk"}
    yield from _beside([s for s in SERVERS if s.protocol != "HTTP" and s.name in names], 1.0)


def _beside(chosen, bound):
    found = {(m.server.protocol, m.server.method, m.server.name): m for m in measure(chosen)}
    for (protocol, method, name), ours in found.items():
        if name != "toolmd":
            continue
        other = next(m for (*way, n), m in found.items() if way == [protocol, method] and n != name)
        for count in ours.micros:
            title = f"{protocol} {method}, {count} at a time / {other.server.title}"
            note = f"{ours.micros[count]:,.0f} µs, {ours.rates[count]:,.0f}/s"
            yield title, ours.micros[count] / other.micros[count], bound, note


def table(found):
    """Return the rows of the figures page, in markdown."""
    head = "| | | 1 client, /s | 16, /s | 64, /s | server's processor, µs a call |"
    lines = [head, "|---|---|---|---|---|---|"]
    for measured in found:
        rates = " | ".join(
            f"{measured.rates[count]:,.0f}" if count in measured.rates else "" for count in CLIENTS
        )
        server = measured.server
        spent = measured.micros.get(16, measured.micros[1])
        lines.append(
            f"| {server.protocol} {server.method} | {server.title} | {rates} | {spent:,.0f} |"
        )
    return "\n".join(lines)


def _command(name, place, port=None):
    """Return the command of a server, at a port or over stdio."""
    if name != "toolmd":
        peer = Path(__file__).with_name("peer_servers.py")
        return [sys.executable, str(peer), name, str(port or "stdio")]
    folder = place / name
    if not folder.is_dir():
        project(folder, 1, awaits=True)
    command = [sys.executable, "-m", "toolmd", "serve", "--project", str(folder),
               "--user", "ana", "--context", "patient=p1"]  # fmt: skip
    return command if port is None else [*command, "--transport", "http", "--port", str(port)]


@contextlib.contextmanager
def _served(name, place):
    """Start a server and wait until it listens; yield its process and its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = _command(name, place, port)
    with (place / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, "TOOLMD_TOKEN": TOKEN}
        )
        try:
            until = time.monotonic() + UP_WITHIN
            while True:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                if process.poll() is not None or time.monotonic() > until:
                    raise SystemExit((place / f"{name}.log").read_text("utf-8"))
            yield process, port
        finally:
            process.terminate()
            process.wait()


async def _round(server, served, count, place):
    """Call for a while; return answers a second, and the server's processor seconds of each."""
    process, port = served
    if server.protocol.startswith("stdio"):
        made = [_piped(server, place)]
    else:
        made = [_client(server, port) for _ in range(count)]
    connections, requests = zip(*await asyncio.gather(*made), strict=True)
    process = getattr(connections[0], "process", process)
    await load(connections, requests, SECONDS / 5)
    before, began = _spent(process.pid), time.perf_counter()
    rate = await load(connections, requests, SECONDS)
    spent = (_spent(process.pid) - before) / (rate * (time.perf_counter() - began))
    for connection in connections:
        connection.close()
    if process is not served[0]:
        await process.wait()
    return rate, spent


class Pipe:
    """A server that this process started, over its standard input and output."""

    async def open(self, command):
        """Start the server."""
        self.process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        return self

    async def send(self, request):
        """Send a line and read the answer."""
        self.process.stdin.write(request)
        while b'"id":1' not in (line := await self.process.stdout.readline()):
            if not line:
                raise SystemExit("the server ended")
        return Answer(200, {}, line)

    def notify(self, line):
        """Send a line that has no answer."""
        self.process.stdin.write(line)

    def close(self):
        """End the server."""
        self.process.stdin.close()


async def _piped(server, place):
    """Start a server over stdio and return it with the request to repeat."""
    pipe = await Pipe().open(_command(server.name, place))
    if server.protocol.endswith(OLD):
        await pipe.send(_rpc("initialize", START) + b"\n")
        pipe.notify(INITIALIZED + b"\n")
    return pipe, _request(server) + b"\n"


def _request(server):
    """Return a request of MCP in its era."""
    called = server.method == "tools/call"
    params = {"name": peers.name_of(0), "arguments": ARGUMENTS} if called else {}
    if server.protocol.endswith(NEW):
        prefix = "io.modelcontextprotocol/"
        params["_meta"] = {f"{prefix}protocolVersion": NEW, f"{prefix}clientInfo": ABOUT}
        params["_meta"][f"{prefix}clientCapabilities"] = {}
    return _rpc(server.method, params)


async def _client(server, port):
    """Connect, begin a session if the protocol has one, and return the request to repeat."""
    authorized = {"authorization": f"Bearer {TOKEN}"} if server.name == "toolmd" else {}
    connection = await Connection(port, authorized).open()
    name = peers.name_of(0)
    if server.protocol == "HTTP":
        if authorized:
            body = json.dumps({"arguments": ARGUMENTS}).encode()
            return connection, connection.request(f"/api/tools/{name}/call", body)
        return connection, connection.request("/call", json.dumps(ARGUMENTS).encode())
    headers = connection.headers
    headers["accept"] = "application/json, text/event-stream"
    if server.protocol.endswith(NEW):
        headers |= {"mcp-protocol-version": NEW, "mcp-method": server.method}
        if server.method == "tools/call":
            headers["mcp-name"] = name
    else:
        answer = await connection.send(connection.request("/mcp", _rpc("initialize", START)))
        headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        headers["mcp-protocol-version"] = OLD
        await connection.send(connection.request("/mcp", INITIALIZED))
    return connection, connection.request("/mcp", _request(server))


def _rpc(method, params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def _spent(pid):
    """Return the processor seconds of a process, its threads included."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    print(table(measure()))
