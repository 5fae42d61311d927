"""Measure hot reload: how soon a save is callable, and what a checkout costs."""

import contextlib
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
from watched_shop import Shop, tool

from toolmd import Watcher

SAVES = 20
FILES = 1000
CHECKED_OUT = 500
PATIENCE = 30


def reload():
    """Give the figures of hot reload."""
    yield from _saves()
    yield from _checkout()


@contextlib.contextmanager
def _shop() -> Iterator[Shop]:
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder))
        try:
            yield shop
        finally:
            shop.close()


def _saves():
    """Measure from the beginning of a save to the first result of the new code."""
    took = []
    with _shop() as shop:
        for number in range(5):
            shop.tool(f"tool_{number}", "", f"def tool_{number}(): return {{'n': -1}}")
        workspace = shop.open()
        swapped = threading.Event()
        workspace.on_change(lambda _old, _new: swapped.set())
        file, draft = shop.root / "tools_md/tool_0.py", shop.root / "draft"
        with Watcher(workspace, settle_s=0.0):
            for number in range(SAVES):
                workspace.call_sync("tool_0")
                swapped.clear()
                draft.write_text(f"def tool_0(): return {{'n': {number}}}")
                began = time.perf_counter()
                draft.replace(file)
                assert swapped.wait(PATIENCE)
                assert workspace.call_sync("tool_0").data == {"n": number}
                took.append(time.perf_counter() - began)
    yield "a save is callable, without the settle (ms)", statistics.median(took) * 1e3, 10, "p50"


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
