"""Compare Toolmd with its peers in one run: `python tests/benchmarks/bench_peers.py`.

Runs in an environment that has the peers (`make bench-peers` makes it), and prints a table. Each
does the same: a call of book_appointment from JSON text; and from the start of a process to the
first call, with one tool and with a thousand. Times of a call are the least of many rounds, starts
the least processor time of a few processes.
"""

import asyncio
import datetime as dt
import gc
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import bench_servers
import peers
from bench_start import COMPILING, project

ROUNDS, CALLS = 60, 500
COUNTS = (1, 1000)
STARTS = 5
TITLES = {
    "bare": "the bare function",
    "toolmd": "Toolmd, as shipped",
    "pydantic_ai": "pydantic-ai, ToolManager",
    "fastmcp": "fastmcp, Tool.run",
    "openai_agents": "openai-agents, function tool",
    "langchain_core": "langchain-core, ainvoke",
    "fastmcp_client": "fastmcp, Client in memory",
}
PACKAGES = (
    "pydantic-ai-slim",
    "fastmcp",
    "openai-agents",
    "langchain-core",
    "pydantic",
    "mcp",
    "starlette",
    "fastapi",
    "uvicorn",
)


async def calls(folders):
    """Return the least seconds of a call of each, taken in turns."""
    makers = {name: await make(folders[name, 1], 1) for name, make in peers.PEERS.items()}
    least = dict.fromkeys(makers, 1.0)
    for _ in range(ROUNDS):
        for name, make in makers.items():
            # As many calls as take a few milliseconds.
            many = max(5, min(CALLS, int(0.005 / least[name])))
            gc.collect()
            gc.disable()
            began = time.process_time()
            for _ in range(many):
                await make()
            least[name] = min(least[name], (time.process_time() - began) / many)
            gc.enable()
    return least


def start(name, count, folder):
    """Give the least processor seconds of a process that makes the tools and calls one."""
    command = [sys.executable, peers.__file__, name, str(count), str(folder)]
    found = []
    for _ in range(STARTS if count == 1 or name in {"bare", "toolmd"} else 2):
        process = subprocess.Popen(command, env=COMPILING)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{name} failed")
        found.append(usage.ru_utime + usage.ru_stime)
    return min(found)


def rows(least, starts):
    """Give the table's rows: title, seconds of a call, its ratio, and the starts."""
    bare = least["bare"]
    return [
        (TITLES[name], least[name], least[name] / bare, *(starts[name, n] for n in COUNTS))
        for name in peers.PEERS
    ]


def table(found):
    """Give the rows in markdown, with what they were measured on."""
    told = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    measured = (
        f"Measured on {dt.datetime.now(dt.UTC):%Y-%m-%d} with {os.cpu_count()} cores "
        f"({platform.machine()}), Python {platform.python_version()}; {told}."
    )
    head = ("", "a call, µs", "× the bare function", "start, 1 tool, ms", "start, 1,000 tools, ms")
    lines = [measured, "", f"| {' | '.join(head)} |", "|---|---|---|---|---|"]
    lines += [
        f"| {title} | {call * 1e6:,.1f} | {ratio:,.1f} | {one * 1e3:,.0f} | {many * 1e3:,.0f} |"
        for title, call, ratio, one, many in found
    ]
    return "\n".join(lines)


def main():
    """Measure, and print the table."""
    with tempfile.TemporaryDirectory() as place:
        made = {n: project(Path(place, str(n)), n, awaits=True) for n in COUNTS}
        folders = {(name, n): made[n] for name in peers.PEERS for n in COUNTS}
        starts = {}
        for (name, count), folder in folders.items():
            start(name, count, folder)  # Compiled, and cached, from the second start on.
            starts[name, count] = start(name, count, folder)
        least = asyncio.run(calls(folders))
    found = rows(least, starts)
    served = f"{bench_servers.table(bench_servers.measure())}"
    print(f"{table(found)}\n\n{served}")


if __name__ == "__main__":
    main()
