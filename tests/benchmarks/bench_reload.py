"""Measure hot reload: how soon a save is callable, what a burst costs, what stays behind."""

import contextlib
import gc
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
sys.path.append(str(Path(__file__).parents[1] / "watch"))
sys.path.append(str(Path(__file__).parents[1] / "load" / "edits"))
from torn_saves import tear
from watched_shop import Shop, tool

from toolmd import Watcher

SAVES = 20
FILES = 1000
CHECKED_OUT = 500
READS = 1_000_000
SWAPS = 200
"""At least so many while there are reads."""
RELOADS = 10_000
TORN = 10_000
PATIENCE = 30


def reload():
    """Give the figures of hot reload."""
    yield from _saves("with the 150 ms settle", 200)
    yield from _saves("without it", 10, settle_s=0.0)
    yield from _checkout()
    yield from _reads()
    yield from _growth()


def torn():
    """Give how many of many torn saves were live and looser than before."""
    with tempfile.TemporaryDirectory() as folder:
        looser = tear(Path(folder), TORN)
    yield f"{TORN} torn saves, looser ones live", len(looser), 0, "; ".join(looser[:3])


@contextlib.contextmanager
def _shop() -> Iterator[Shop]:
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder))
        try:
            yield shop
        finally:
            shop.close()


def _saves(how: str, bound: float, **options: float):
    """Measure from the beginning of a save to the first result of the new code."""
    took = []
    with _shop() as shop:
        for number in range(5):
            shop.tool(f"tool_{number}", "", f"def tool_{number}(): return {{'n': -1}}")
        workspace = shop.open()
        swapped = threading.Event()
        workspace.on_change(lambda _old, _new: swapped.set())
        file, draft = shop.root / "tools_md/tool_0.py", shop.root / "draft"
        with Watcher(workspace, **options):
            for number in range(SAVES):
                workspace.call_sync("tool_0")
                swapped.clear()
                draft.write_text(f"def tool_0(): return {{'n': {number}}}")
                began = time.perf_counter()
                draft.replace(file)
                assert swapped.wait(PATIENCE)
                assert workspace.call_sync("tool_0").data == {"n": number}
                took.append(time.perf_counter() - began)
    yield f"a save is callable, {how} (ms)", statistics.median(took) * 1e3, bound, "p50"


def _checkout():
    """Measure from the last write of a large checkout to the snapshot that has all of it."""
    if shutil.which("git") is None:
        return
    with _shop() as shop:
        git = _git(shop)
        git("init", "--quiet", "--initial-branch=old")
        shop.write(".gitignore", ".toolmd\n")
        for number in range(FILES):
            shop.tool(f"tool_{number}")
        git("add", ".")
        git("commit", "--quiet", "-m", "old")
        git("switch", "--quiet", "--create", "new")
        for number in range(CHECKED_OUT):
            text = tool(f"tool_{number}").replace("Does tool", "Did tool")
            shop.write(f"tools_md/tool-{number}.tool.md", text)
        git("commit", "--quiet", "--all", "-m", "new")
        git("switch", "--quiet", "old")
        workspace = shop.open()
        heard: list[float] = []
        swapped = threading.Event()

        def hear(_old, new):
            heard.append(time.perf_counter())
            if new.tools["tool_0"].spec.description.startswith("Did"):
                swapped.set()

        workspace.on_change(hear)
        with Watcher(workspace):
            git("switch", "--quiet", "new")
            ended = time.perf_counter()
            assert swapped.wait(PATIENCE)
            specs = [bound.spec.description for bound in workspace.tools.values()]
            assert sum(said.startswith("Did") for said in specs) == CHECKED_OUT
    yield f"{CHECKED_OUT} of {FILES} files checked out (s)", heard[-1] - ended, 2, ""
    yield f"snapshots of a checkout of {CHECKED_OUT} files", len(heard), 1, ""


def _git(shop: Shop):
    who = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "a")
    mail = dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "a@b")
    env = {**os.environ, **who, **mail, "GIT_CONFIG_GLOBAL": os.devnull}

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=shop.root, env=env, check=True)

    return git


def _reads():
    """Count the reads that saw two snapshots at once: two files always say one version."""
    with _shop() as shop:
        _write_pair(shop, 0)
        workspace = shop.open()
        done = threading.Event()
        swaps = 0

        def swap() -> None:
            nonlocal swaps
            while not done.is_set():
                swaps += 1
                _write_pair(shop, swaps)
                workspace.reload()

        thread = threading.Thread(target=swap)
        thread.start()
        halves = reads = 0
        while reads < READS or swaps < SWAPS:
            reads += 1
            tools = workspace.tools
            halves += tools["one"].spec.version != tools["two"].spec.version
        done.set()
        thread.join()
    yield f"torn reads of {READS}", halves, 0, f"{reads} reads beside {swaps} swaps"


def _write_pair(shop: Shop, number: int) -> None:
    for name in ("one", "two"):
        text = tool(name).replace("1.0.0", f"1.0.{number}")
        shop.write(f"tools_md/{name}.tool.md", text)


def _growth():
    """Measure the memory that reloads leave behind, each with another file and a call."""
    with _shop() as shop:
        for number in range(3):
            shop.tool(f"tool_{number}", "", f"def tool_{number}(): return {{'n': 0}}")
        workspace = shop.open()
        before = 0.0
        for number in range(RELOADS + 200):
            if number == 200:  # What is made once is made by now.
                before = _resident()
            shop.write("tools_md/tool_0.py", f"def tool_0(): return {{'n': {number}}}")
            if number % 3 == 0:
                text = tool("tool_1").replace("Does tool", f"Does {number}: tool")
                shop.write("tools_md/tool-1.tool.md", text)
            workspace.reload()
            assert workspace.call_sync("tool_0").data == {"n": number}
        grown = _resident() - before
    yield f"memory after {RELOADS} reloads (MB)", grown, 20, ""


def _resident() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
