"""Measure the cost of many tools: to start, to keep, to call one and to export all."""

import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import peers
from book import BOOKING

from toolmd import Workspace
from toolmd.testing import memory_workspace

BIN = Path(sys.executable).parent
STARTS = 16
COMPILING = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
"""The environment of a start that may use compiled Python, as an installed program does."""


def project(folder, count, *, python=True, lean=False, awaits=False):
    """Write a project of so many tools, each with its Python next to it; return its folder.

    Args:
        folder: where; made if it is not there.
        count: of tools.
        python: False leaves the Python out.
        lean: switches the audit off; all else is as shipped, without the installed plugins.
        awaits: the functions await once, so that a call's deadline is armed.

    """
    tools = Path(folder, "tools_md")
    tools.mkdir(parents=True)
    settings = "plugins = []\nskills = []\n" + "audit = false\n" * lean
    Path(folder, "toolmd.toml").write_text(settings, encoding="utf-8")
    source = peers.AWAITING if awaits else peers.PYTHON
    for number in range(count):
        name = peers.name_of(number)
        (tools / f"{name}.tool.md").write_text(BOOKING.format(name=name), encoding="utf-8")
        if python:
            (tools / f"{name}.py").write_text(source.format(name=name), encoding="utf-8")
    return folder


def spent(command, starts=STARTS):
    """Give the least processor seconds of some processes: a busy machine changes them little."""
    least = 9.0
    for _ in range(starts):
        words = [str(word) for word in command]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, env=COMPILING)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"failed: {command}")
        least = min(least, usage.ru_utime + usage.ru_stime)
    return least


def start():
    """Measure whole processes, in processor time."""
    nothing = spent([sys.executable, "-c", "pass"])
    told = spent([BIN / "toolmd", "--help"])
    yield "toolmd --help / python -c pass", told / nothing, 13, f"{told * 1e3:.0f} ms"
    with tempfile.TemporaryDirectory() as place:
        shipped = project(Path(place, "shipped"), 1000)
        lean = project(Path(place, "lean"), 1000, lean=True)
        runs = {"functions": ("bare", shipped), "as shipped": ("toolmd", shipped)}
        runs["lean"] = ("toolmd", lean)
        times = {}
        for how, (name, folder) in runs.items():
            command = [sys.executable, peers.__file__, name, 1000, folder]
            spent(command, 1)  # Compiled, or cached, from the second time on.
            times[how] = spent(command)
    for how, bound in (("as shipped", 2.2), ("lean", 2.2)):
        title = f"start to the first call, 1,000 tools, {how} / import of the functions"
        yield title, times[how] / times["functions"], bound, f"{times[how] * 1e3:.0f} ms"


def many():
    """Measure 1,000 and 5,000 tools in one process."""
    with tempfile.TemporaryDirectory() as place:
        for count in (1, 1000):
            Workspace.open(project(Path(place, str(count)), count)).close()
        with Workspace.open(Path(place, "1")) as one:
            assert asyncio.run(
                one.call(peers.name_of(0), peers.TEXT, context={"patient": "p1"})
            ).success
        yield _memory(Path(place, "1000"))
        with Workspace.open(Path(place, "1000")) as workspace:
            workspace.export("openai")
            took = min(_seconds(lambda: workspace.export("openai")) for _ in range(20))
            yield "the second export of 1,000 tools (ms)", took * 1e3, 1, ""
    for lean in (False, True):
        yield asyncio.run(_flat(lean))
        yield asyncio.run(_in_flight(lean))


def _memory(folder):
    gc.collect()
    tracemalloc.start()
    with Workspace.open(folder) as workspace:
        gc.collect()
        held = tracemalloc.get_traced_memory()[0] / 2**20
        assert len(workspace.tools) == 1000
    tracemalloc.stop()
    return "1,000 tools, bound and callable (MiB)", held, 10, ""


def _seconds(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


async def book_appointment_0(child_names, appointment_time, appointment_type):
    """Give a booking without any work."""
    return {"booking_id": f"A-{len(child_names)}", "datetime": appointment_time}


async def _flat(lean):
    """Compare a call among 5,000 tools with one of a single tool."""
    least = {}
    spaces = {count: _small(count, lean) for count in (1, 5000)}
    for _ in range(40):
        for count, workspace in spaces.items():
            began = time.process_time()
            for _ in range(300):
                await workspace.call(peers.name_of(0), peers.TEXT, context={"patient": "p1"})
            took = time.process_time() - began
            least[count] = min(least.get(count, took), took)
    for workspace in spaces.values():
        workspace.close()
    title = f"a call among 5,000 tools, {_how(lean)} / of a single tool"
    return title, least[5000] / least[1], 1.15, ""


def _how(lean):
    return "lean" if lean else "as shipped"


def _small(count, lean, function=book_appointment_0):
    texts = {
        f"{peers.name_of(n)}.tool.md": BOOKING.format(name=peers.name_of(n)) for n in range(count)
    }
    return memory_workspace(texts, [function], overrides={"audit": not lean})


async def _in_flight(lean):
    """Compare 1,000 calls at once with 1,000 of the bare function, each suspended once."""

    async def book_appointment_0(child_names, appointment_time, appointment_type):
        await asyncio.sleep(0)
        return {"booking_id": f"A-{len(child_names)}", "datetime": appointment_time}

    arguments = json.loads(peers.TEXT)
    with _small(1, lean, book_appointment_0) as workspace:
        makers = {
            "bare": lambda: book_appointment_0(**arguments),
            "call": lambda: workspace.call(peers.name_of(0), peers.TEXT, context={"patient": "p1"}),
        }
        least = dict.fromkeys(makers, 9.0)
        for _ in range(40):
            for name, make in makers.items():
                began = time.process_time()
                await asyncio.gather(*(make() for _ in range(1000)))
                least[name] = min(least[name], time.process_time() - began)
    ratio = least["call"] / least["bare"]
    title = f"1,000 calls at once, {_how(lean)} / of the bare function"
    return title, ratio, 6 if lean else 60, f"{1000 / least['call']:,.0f}/s"


if __name__ == "__main__":
    for row in (*start(), *many()):
        print(row)
