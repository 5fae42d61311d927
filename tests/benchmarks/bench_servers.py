"""Measure servers over kept-alive connections: `python tests/benchmarks/bench.py servers`.

Each server is a process of its own; 1, 16 and 64 clients call one tool, each on one connection.
Toolmd is measured as `toolmd serve` gives it.
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
from http_load import Connection, load

CLIENTS = (1, 16, 64)
SECONDS, ROUNDS = 1.5, 3
TOKEN = "a-token-for-measuring-and-nothing-else"
ARGUMENTS = json.loads(peers.TEXT)
OLD, NEW = "2025-11-25", "2026-07-28"
ABOUT = {"name": "bench", "version": "1"}
UP_WITHIN = 60


class Server(NamedTuple):
    """What is measured: its title, what it is spoken to in, and how it is started."""

    title: str
    protocol: str
    name: str
    needs: str = ""


AS_SHIPPED = "Toolmd, as shipped"
SERVERS = [
    Server(AS_SHIPPED, "HTTP", "toolmd"),
    Server("starlette (validates nothing)", "HTTP", "starlette", "starlette"),
    Server("FastAPI, pydantic", "HTTP", "fastapi", "fastapi"),
    *(
        server
        for era in (OLD, NEW)
        for server in (
            Server(AS_SHIPPED, f"MCP {era}", "toolmd"),
            Server("the bare SDK", f"MCP {era}", "sdk", "mcp"),
            Server("fastmcp", f"MCP {era}", "fastmcp", "fastmcp"),
        )
    ),
]


class Measured(NamedTuple):
    """A server's medians, by the number of clients: answers a second; processor µs of each."""

    server: Server
    rates: dict[int, float]
    micros: dict[int, float]


def measure(names=None):
    """Measure the servers whose packages are in this environment, in turns.

    Args:
        names: only those whose `name` is one of these; all where it is None.

    Returns:
        A list of `Measured`, in the order of `SERVERS`.

    """
    chosen = [
        server
        for server in SERVERS
        if (names is None or server.name in names)
        and (not server.needs or importlib.util.find_spec(server.needs))
    ]
    rates = {(server, count): [] for server in chosen for count in CLIENTS}
    micros = {key: [] for key in rates}
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as running:
        ports, processes = {}, {}
        for name in dict.fromkeys(server.name for server in chosen):
            processes[name], ports[name] = running.enter_context(_served(name, Path(place)))
        for _ in range(ROUNDS):
            for server in chosen:
                for count in CLIENTS:
                    pid = processes[server.name].pid
                    rate, spent = asyncio.run(_round(server, ports[server.name], count, pid))
                    rates[server, count].append(rate)
                    micros[server, count].append(spent * 1e6)
    return [
        Measured(
            server,
            {count: statistics.median(rates[server, count]) for count in CLIENTS},
            {count: statistics.median(micros[server, count]) for count in CLIENTS},
        )
        for server in chosen
    ]


def servers():
    """Yield Toolmd's slowness beside FastAPI over HTTP and the bare SDK over MCP, as shipped."""
    found = {(m.server.name, m.server.protocol): m for m in measure({"toolmd", "fastapi", "sdk"})}
    bounds = {"HTTP": 1.7, f"MCP {OLD}": 1.7, f"MCP {NEW}": 1.7}
    for protocol, bound in bounds.items():
        other = found["fastapi" if protocol == "HTTP" else "sdk", protocol]
        ours = found["toolmd", protocol]
        for count in CLIENTS:
            title = f"{protocol}, {count} kept-alive, as shipped / {other.server.title}"
            spent = ours.micros[count] / other.micros[count]
            note = f"{ours.rates[count]:,.0f}/s, {spent:.2f} × its processor time"
            yield title, other.rates[count] / ours.rates[count], bound, note


def table(found):
    """Return the rows of the figures page, in markdown."""
    head = "| | | 1 client, /s | 16, /s | 64, /s | server's processor, µs a call (16) |"
    lines = [head, "|---|---|---|---|---|---|"]
    for measured in found:
        told = " | ".join(f"{measured.rates[count]:,.0f}" for count in CLIENTS)
        server = measured.server
        lines.append(
            f"| {server.protocol} | {server.title} | {told} | {measured.micros[16]:,.0f} |"
        )
    return "\n".join(lines)


@contextlib.contextmanager
def _served(name, place):
    """Start a server and wait until it listens; yield its process and its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if name == "toolmd":
        folder = project(place / name, 1, awaits=True)
        command = [sys.executable, "-m", "toolmd", "serve", "--project", str(folder),
                   "--transport", "http", "--port", str(port), "--user", "ana",
                   "--context", "patient=p1"]  # fmt: skip
    else:
        command = [
            sys.executable,
            str(Path(__file__).with_name("peer_servers.py")),
            name,
            str(port),
        ]
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


async def _round(server, port, count, pid):
    """Call for a while; return answers a second, and the server's processor seconds of each."""
    made = [_client(server, port) for _ in range(count)]
    connections, requests = zip(*await asyncio.gather(*made), strict=True)
    await load(connections, requests, SECONDS / 5)
    before, began = _spent(pid), time.perf_counter()
    rate = await load(connections, requests, SECONDS)
    spent = (_spent(pid) - before) / (rate * (time.perf_counter() - began))
    for connection in connections:
        connection.close()
    return rate, spent


async def _client(server, port):
    """Connect, begin a session where the protocol has one, and return the request to repeat."""
    authorized = {"authorization": f"Bearer {TOKEN}"} if server.name == "toolmd" else {}
    connection = await Connection(port, authorized).open()
    name = peers.name_of(0)
    if server.protocol == "HTTP":
        if authorized:
            body = json.dumps({"arguments": ARGUMENTS}).encode()
            return connection, connection.request(f"/api/tools/{name}/call", body)
        return connection, connection.request("/call", json.dumps(ARGUMENTS).encode())
    era = server.protocol.removeprefix("MCP ")
    connection.headers["accept"] = "application/json, text/event-stream"
    params = {"name": name, "arguments": ARGUMENTS}
    if era == NEW:
        connection.headers |= {"mcp-protocol-version": NEW, "mcp-method": "tools/call"}
        connection.headers["mcp-name"] = name
        prefix = "io.modelcontextprotocol/"
        params["_meta"] = {f"{prefix}protocolVersion": NEW, f"{prefix}clientInfo": ABOUT}
        params["_meta"][f"{prefix}clientCapabilities"] = {}
    else:
        start = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": ABOUT}
        answer = await connection.send(connection.request("/mcp", _rpc("initialize", start)))
        connection.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        connection.headers["mcp-protocol-version"] = OLD
        begun = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
        await connection.send(connection.request("/mcp", begun))
    return connection, connection.request("/mcp", _rpc("tools/call", params))


def _rpc(method, params):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def _spent(pid):
    """Return the processor seconds of a process, its threads included."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    print(table(measure()))
