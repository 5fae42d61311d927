"""Call a served project for minutes, from HTTP, MCP and Python, and count every effect.

`python tests/benchmarks/soak.py MINUTES` or `make soak MINUTES=60`. Two workers of `toolmd serve`
and this process share one project and its store. A hundred calls a second; some are denied, some
wait for a person. A definition is edited every ten seconds, and every minute a worker is killed.
"""

import argparse
import asyncio
import collections
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from http_load import Connection

from toolmd import Workspace
from toolmd._call.audit.reader import AuditReader
from toolmd.config import load_settings

WORKERS, RELOAD_S, CONNECTIONS = 2, 10, 24
TOKEN = "a-token-for-the-soak-and-nothing-else"
ERA = "2026-07-28"
TOOL = """# {name}

Note a key. Revision {revision}.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: soak
{safety}
## Parameters

### key

- **Type**: string
- **Required**: true
- **Description**: A key that no other call has

### number

- **Type**: integer
- **Required**: true
- **Minimum**: 1
- **Maximum**: 9
- **Description**: A digit

## Returns

- **Type**: object
"""
CONFIRMED = "\n## Safety\n\n- **Requires Confirmation**: true\n"
CODE = '''"""Note the key of each call in a file."""

import asyncio
from pathlib import Path


async def {name}(key, number):
    """Append the key, and return it."""
    await asyncio.sleep(0.001)
    with Path(__file__).with_name("effects.txt").open("a", encoding="utf-8") as file:
        file.write(key + "\\n")
    return {{"key": key}}
'''


class Soak:
    """A running soak."""

    def __init__(self, folder, minutes, rate):
        """Write the project into a folder."""
        self.folder, self.minutes, self.rate = folder, minutes, rate
        self.tools = folder / "tools_md"
        self.tools.mkdir()
        (folder / "toolmd.toml").write_text("plugins = []\n", encoding="utf-8")
        for name in ("note", "remove"):
            self.write(name, 0)
            (self.tools / f"{name}.py").write_text(CODE.format(name=name), encoding="utf-8")
        self.done, self.forbidden, self.cut = set(), set(), set()
        self.outcomes = collections.Counter()
        self.times = []
        self.rows = []
        self.free = asyncio.LifoQueue()

    def write(self, name, revision):
        """Write a definition; only its description differs between revisions."""
        safety = CONFIRMED if name == "remove" else ""
        text = TOOL.format(name=name, revision=revision, safety=safety)
        new = self.tools / f".{name}.new"
        new.write_text(text, encoding="utf-8")
        new.replace(self.tools / f"{name}.tool.md")

    async def run(self):
        """Call until the minutes are over; return whether all counts agree."""
        process = subprocess.Popen(  # noqa: ASYNC220 - it starts before any call
            [sys.executable, "-m", "toolmd", "serve", "--project", str(self.folder),
             "--transport", "http", "--port", "0", "--user", "ana", "--workers", str(WORKERS),
             "--may", "call,decide,operate"],
            env={**os.environ, "TOOLMD_TOKEN": TOKEN, "TOOLMD_LOAD_PLUGINS": ""},
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        told = next(line for line in process.stderr if "http://127" in line)
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)", told)[1])
        drained = asyncio.create_task(asyncio.to_thread(collections.deque, process.stderr, 50))
        self.pid = process.pid
        for _ in range(CONNECTIONS):
            self.free.put_nowait(None)
        try:
            with Workspace.open(self.folder) as self.workspace:
                await self._call_all()
        finally:
            process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(process.wait)
            await drained
        return self._agrees()

    async def _call_all(self):
        began = time.monotonic()
        running, number, minute, edits, killed = set(), 0, 0, 0, 0
        while (spent := time.monotonic() - began) < self.minutes * 60:
            while number < spent * self.rate:
                number += 1
                running.add(asyncio.create_task(self._one(number)))
            for task in [task for task in running if task.done()]:
                running.discard(task)
                task.result()
            if spent > RELOAD_S * (edits + 1):
                edits += 1
                self.write(("note", "remove")[edits % 2], edits)
            if spent > 60 * killed + 30:
                killed += 1
                os.kill(self._workers()[0], signal.SIGKILL)
            if spent > 60 * (minute + 1):
                minute += 1
                self._report(minute)
            await asyncio.sleep(0.005)
        await asyncio.gather(*running)
        self._report(minute + 1)

    async def _one(self, number):
        """Make one call, and note what became of it."""
        key, began = f"k{number}", time.perf_counter()
        way = number % 5
        name = "remove" if not number % 19 else "note"
        arguments = {"key": key, "number": 5 if number % 23 else 0}
        try:
            if way == 0:
                result = (await self.workspace.call(name, arguments, user="ana")).to_dict()
            elif way == 1:
                result = await self._mcp(name, arguments)
            else:
                result = await self._post(f"/api/tools/{name}/call", {"arguments": arguments})
            outcome = result["outcome"]
            if outcome == "confirm":
                held = result["confirmation"]["id"]
                result = await self._post(f"/api/pending/{held}", {"decision": "approve"})
                outcome = f"confirm, {result['outcome']}"
        except (OSError, EOFError) as error:
            # A worker was killed: nobody knows what became of the call.
            self.cut.add(key)
            outcome = f"cut ({type(error).__name__})"
        else:
            (self.done if result["success"] else self.forbidden).add(key)
        self.outcomes[outcome] += 1
        self.times.append(time.perf_counter() - began)

    async def _post(self, path, body, headers=None):
        connection = await self.free.get()
        try:
            if connection is None:
                authorized = {"authorization": f"Bearer {TOKEN}"}
                connection = await Connection(self.port, authorized).open()
            fixed = connection.headers
            connection.headers = {**fixed, **(headers or {})}
            request = connection.request(path, json.dumps(body).encode())
            connection.headers = fixed
            answer = await connection.send(request)
        except BaseException:
            if connection is not None:
                connection.close()
            connection = None
            raise
        finally:
            self.free.put_nowait(connection)
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {answer.body.decode()}")
        return json.loads(answer.body)

    async def _mcp(self, name, arguments):
        prefix = "io.modelcontextprotocol/"
        meta = {f"{prefix}protocolVersion": ERA, f"{prefix}clientCapabilities": {},
                f"{prefix}clientInfo": {"name": "soak", "version": "1"}}  # fmt: skip
        params = {"name": name, "arguments": arguments, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": ERA,
                   "mcp-method": "tools/call", "mcp-name": name}  # fmt: skip
        result = (await self._post("/mcp", body, headers))["result"]
        if result.get("isError"):
            return {"success": False, "outcome": "not run, over MCP"}
        return {"success": True, "outcome": "ok"}

    def _workers(self):
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text("ascii")
        return [int(pid) for pid in children.split()]

    def _report(self, minute):
        """Print a row of the table: the last minute's calls, and what the workers hold now."""
        times, self.times = sorted(self.times), []
        rss = files = threads = 0
        for pid in self._workers():
            with contextlib.suppress(OSError):
                status = Path(f"/proc/{pid}/status").read_text("ascii")
                rss += int(re.search(r"VmRSS:\s+(\d+)", status)[1])
                threads += int(re.search(r"Threads:\s+(\d+)", status)[1])
                files += len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - only counted
        p50, p99 = (times[int(len(times) * part)] * 1000 for part in (0.5, 0.99))
        row = (minute, len(times), f"{p50:.1f}", f"{p99:.1f}", f"{times[-1] * 1000:.0f}",
               f"{rss / 1024:.0f}", files, threads)  # fmt: skip
        if minute == 1:
            print("| minute | calls | p50, ms | p99, ms | longest, ms | workers' MiB | descriptors"
                  " | threads |\n|---|---|---|---|---|---|---|---|")  # fmt: skip
        print("|", " | ".join(map(str, row)), "|", flush=True)

    def _agrees(self):
        """Compare the effects with the answers and with the audit; print what was found."""
        lines = (self.tools / "effects.txt").read_text("utf-8").split()
        effects = collections.Counter(lines)
        reader = AuditReader(load_settings(self.folder))
        verified = reader.verify()
        recorded = collections.Counter(
            one.record["arguments"]["key"]
            for one in reader.records()
            if one.record["decision"] == "run"
        )
        found = {
            "answered, without an effect": len(self.done - effects.keys()),
            "denied, with an effect": len(self.forbidden & effects.keys()),
            "effects twice": sum(1 for number in effects.values() if number > 1),
            "effects without a record": len(effects.keys() - recorded.keys()),
            "effects that no call explains": len(effects.keys() - self.done - self.cut),
            "audit damaged": int(not verified.sound),
        }
        print("\n".join(f"{outcome}: {n:,}" for outcome, n in self.outcomes.most_common()))
        print(f"effects {len(lines):,}; audit records {verified.records:,}; cut {len(self.cut):,}")
        print("\n".join(f"{what}: {number}" for what, number in found.items()))
        return not any(found.values())


def main():
    """Soak for the minutes of the command line; exit with 1 where a count does not agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", nargs="?", type=float, default=60)
    parser.add_argument("--rate", type=float, default=100, help="calls a second")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        soak = Soak(Path(place), options.minutes, options.rate)
        sys.exit(not asyncio.run(soak.run()))


if __name__ == "__main__":
    main()
