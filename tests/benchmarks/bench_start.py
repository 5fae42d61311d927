"""Measure the cost of many tools: to start, and to keep."""

import gc
import os
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path

import peers
from book import BOOKING

from toolmd import Workspace

BIN = Path(sys.executable).parent
STARTS = 16
COMPILING = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
"""The environment of a start that may use compiled Python, as an installed program does."""


def project(folder, count, *, awaits=False):
    """Write a project of so many tools, each with its Python next to it; return its folder.

    Args:
        folder: where; made if it is not there.
        count: of tools.
        awaits: the functions await once, so that a call's deadline is armed.

    """
    tools = Path(folder, "tools_md")
    tools.mkdir(parents=True)
    Path(folder, "toolmd.toml").write_text("plugins = []\nskills = []\n", encoding="utf-8")
    source = peers.AWAITING if awaits else peers.PYTHON
    for number in range(count):
        name = peers.name_of(number)
        (tools / f"{name}.tool.md").write_text(BOOKING.format(name=name), encoding="utf-8")
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
    yield "toolmd --help / python -c pass", told / nothing, 8, f"{told * 1e3:.0f} ms"
    with tempfile.TemporaryDirectory() as place:
        folder = project(Path(place, "project"), 1000)
        times = {}
        for name in ("bare", "toolmd"):
            command = [sys.executable, peers.__file__, name, 1000, folder]
            spent(command, 1)  # Compiled, or cached, from the second time on.
            times[name] = spent(command)
        unchanged = checked(folder)
    title = "start to the first call, 1,000 tools / import of the functions"
    yield title, times["toolmd"] / times["bare"], 2.4, f"{times['toolmd'] * 1e3:.0f} ms"
    yield "toolmd check of 1,000 tools, with nothing changed (s)", unchanged, 0.6, ""


def checked(folder):
    """Give the processor seconds of a check of a project after another one found no fault."""
    for file in Path(folder, "tools_md").glob("*.md"):
        # A thousand warnings would be printed, too.
        text = file.read_text(encoding="utf-8").replace(" Only call after user confirms.", "")
        file.write_text(text, encoding="utf-8")
    command = [BIN / "toolmd", "check", "--project", folder]
    spent(command, 1)
    return spent(command)


def many():
    """Measure the memory of 1,000 tools in one process."""
    with tempfile.TemporaryDirectory() as place:
        folder = project(Path(place, "project"), 1000)
        Workspace.open(folder).close()
        yield _memory(folder)


def _memory(folder):
    gc.collect()
    tracemalloc.start()
    with Workspace.open(folder) as workspace:
        gc.collect()
        held = tracemalloc.get_traced_memory()[0] / 2**20
        assert len(workspace.tools) == 1000
    tracemalloc.stop()
    return "1,000 tools, bound and callable (MiB)", held, 10, ""


if __name__ == "__main__":
    for row in (*start(), *many()):
        print(row)
