"""Real files, real events: each burst of saves gives one new snapshot."""

import errno
import logging
import os
import queue
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from editors import EDITORS, Save
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver
from watched_shop import GUARDED, Shop, tool

from toolmd import Registry, Watcher, Workspace

PATIENCE = 20
"""Seconds until a snapshot is given up."""


class StreamedEvent:
    """The snapshots that a workspace told of."""

    def __init__(self, workspace: Workspace) -> None:
        self._heard: queue.Queue[Registry] = queue.Queue()
        self.count = 0
        workspace.on_change(lambda _old, new: self._heard.put(new))

    def next(self) -> Registry:
        self.count += 1
        return self._heard.get(timeout=PATIENCE)

    def nothing_more(self) -> bool:
        return self._heard.empty()


@contextmanager
def watched(shop: Shop, **options: Any) -> Iterator[tuple[Workspace, StreamedEvent]]:
    """Open the shop and watch it; the watcher is at work when this begins."""
    workspace = shop.open()
    heard = StreamedEvent(workspace)
    with Watcher(workspace, **options):
        yield workspace, heard


def description(registry: Registry, name: str = "greet") -> str:
    return registry.tools[name].spec.description


def saying(words: str) -> str:
    return tool("greet", extra=GUARDED).replace("Does greet.", words)


@pytest.mark.parametrize("save", EDITORS, ids=lambda save: save.__name__)
def test_a_save_by_any_editor_makes_one_snapshot(shop: Shop, save: Save) -> None:
    file = shop.tool("greet", GUARDED, "def greet(): ...")
    with watched(shop) as (_, heard):
        for words in ("Says one.", "Says two.", "Says three."):
            save(file, saying(words))
            new = heard.next()

            assert description(new) == words
            assert new.diagnostics == ()

        assert heard.nothing_more()


def test_python_and_its_imports_are_reloaded(shop: Shop) -> None:
    shop.write("tools_md/_words/__init__.py", "from .more import WORD\n")
    shop.write("tools_md/_words/more.py", "WORD = 1\n")
    shop.tool("greet", "", "from ._words import WORD\ndef greet(): return {'n': WORD}\n")
    with watched(shop) as (ws, heard):
        assert ws.call_sync("greet").data == {"n": 1}

        shop.write("tools_md/_words/more.py", "WORD = 2\n")
        heard.next()

        assert ws.call_sync("greet").data == {"n": 2}


def test_an_edit_of_equal_length_at_once_after_another_runs_the_new_code(shop: Shop) -> None:
    shop.tool("greet", "", "def greet(): return {'n': 0}")
    with watched(shop, settle_s=0.0) as (ws, heard):
        for number in range(1, 10):
            draft = shop.write("draft", f"def greet(): return {{'n': {number}}}")
            stamp = (shop.root / "tools_md/greet.py").stat()
            os.utime(draft, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            draft.replace(shop.root / "tools_md/greet.py")
            heard.next()

            assert ws.call_sync("greet").data == {"n": number}


def test_folders_that_come_go_and_come_back_are_followed(shop: Shop) -> None:
    shop.tool("greet", "", "def greet(): ...")
    with watched(shop) as (_, heard):
        (shop.root / "tools_md").rename(shop.root / "aside")
        assert not heard.next().tools

        shutil.copytree(shop.root / "aside", shop.root / "tools_md")
        assert description(heard.next()) == "Does greet."

        shop.write("tools_md/greet.tool.md", saying("Is back."))
        assert description(heard.next()) == "Is back."

        shop.write("skills_md/deep/er/x.tool.md", tool("other"))
        assert "other" in heard.next().tools
        shop.write("skills_md/deep/er/x.tool.md", tool("another"))
        assert "another" in heard.next().tools


def test_the_settings_reload(shop: Shop) -> None:
    shop.tool("greet", "", "def greet(): ...")
    with watched(shop) as (ws, heard):
        shop.write("toolmd.toml", "plugins = []\n[safety]\nfloor = 0.5\n")
        heard.next()

        assert ws.settings.safety.floor == 0.5


def test_an_acceptance_of_another_process_is_live_without_a_save(shop: Shop) -> None:
    shop.tool("greet", GUARDED, "def greet(): return {}")
    with watched(shop) as (ws, heard):
        shop.tool("greet")
        assert heard.next().pending_changes

        shop.open().changes.accept_sync("greet")

        assert not heard.next().pending_changes
        assert ws.call_sync("greet").success


def git(shop: Shop, *words: str) -> None:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": os.devnull}
    env = {**os.environ, **who, "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    subprocess.run(["git", *words], cwd=shop.root, env=env, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")
def test_a_checkout_of_many_files_is_one_snapshot(shop: Shop) -> None:
    git(shop, "init", "--quiet", "--initial-branch=old")
    shop.write(".gitignore", ".toolmd\n")
    for branch in ("old", "new"):
        for number in range(100):
            text = tool(f"tool_{number}").replace("Does tool", f"Does {branch}")
            shop.write(f"tools_md/tool-{number}.tool.md", text)
        git(shop, "add", ".")
        git(shop, "commit", "--quiet", "-m", branch)
        git(shop, "switch", "--quiet", "--create", "new") if branch == "old" else None
    git(shop, "switch", "--quiet", "old")
    with watched(shop) as (_, heard):
        git(shop, "switch", "--quiet", "new")
        new = heard.next()

        assert {spec.spec.description.split()[1].split("_")[0] for spec in new.tools.values()} == {
            "new"
        }
        shop.write("tools_md/tool-0.tool.md", tool("tool_0"))
        assert description(heard.next(), "tool_0") == "Does tool_0."
        assert heard.nothing_more()


def test_nothing_is_read_while_git_has_its_lock(shop: Shop) -> None:
    file = shop.tool("greet", "", "def greet(): ...")
    lock = shop.write(".git/index.lock", "")
    with watched(shop, settle_s=0.0) as (ws, heard):
        file.write_text(saying("Half of a checkout."))
        other = shop.open()
        lock.unlink()

        assert description(heard.next()) == "Half of a checkout."
        assert heard.nothing_more()
        assert other.tools
        assert ws.tools["greet"].spec.safety.requires_confirmation


def refuses(code: int) -> Any:
    """Give what makes an observer that the system has no watches for."""

    class Exhausted(Observer):
        def schedule(self, *args: Any, **options: Any) -> Any:
            raise OSError(code, os.strerror(code))

    return Exhausted


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EMFILE])
def test_the_watcher_polls_and_says_so_if_the_system_has_no_more_watches(
    shop: Shop, code: int
) -> None:
    file = shop.tool("greet", "", "def greet(): ...")
    ws = shop.open()
    heard = StreamedEvent(ws)
    observers = (refuses(code), lambda: PollingObserver(timeout=0.02))
    with Watcher(ws, settle_s=0.05, observers=observers) as watcher:
        file.write_text(saying("Seen by looking."))

        assert description(heard.next()) == "Seen by looking."
        assert os.strerror(code) in watcher.problem
        assert "looking every" in watcher.problem


def test_a_watcher_that_receives_events_has_no_error(shop: Shop) -> None:
    with Watcher(shop.open()) as watcher:
        assert watcher.problem == ""


def test_a_watcher_can_be_stopped_and_started_again(shop: Shop) -> None:
    file = shop.tool("greet", "", "def greet(): ...")
    ws = shop.open()
    heard = StreamedEvent(ws)
    watcher = Watcher(ws, settle_s=0.0)
    watcher.stop()
    watcher.start()
    watcher.start()
    watcher.stop()
    file.write_text(saying("Nobody looks."))
    assert heard.nothing_more()

    watcher.start()
    assert description(heard.next()) == "Nobody looks."
    watcher.stop()


def test_a_workspace_that_is_closed_is_watched_no_more(shop: Shop, caplog) -> None:
    file = shop.tool("greet", "", "def greet(): ...")
    ws = shop.open()
    with Watcher(ws, settle_s=0.0):
        ws.close()
        file.write_text(saying("Too late."))

    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_folders_outside_of_the_project_are_watched_too(shop: Shop, tmp_path: Path) -> None:
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    shop.write("toolmd.toml", f"plugins = []\ntools = ['{elsewhere}']\n")
    with watched(shop) as (_, heard):
        elsewhere.mkdir()
        (elsewhere / "greet.tool.md").write_text(tool("greet"))

        assert "greet" in heard.next().tools
        (elsewhere / "greet.tool.md").write_text(saying("Changed."))
        assert description(heard.next()) == "Changed."
