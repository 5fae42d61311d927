"""Folders that are reached through links, and folders that are renamed, are followed."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

import pytest
from watchdog.observers import Observer
from watched_shop import GUARDED, Shop, tool

from toolmd import Registry, Watcher
from toolmd._watch.watcher import FileEvent, FileEvents
from toolmd._workspace.workspace import Watched

PATIENCE = 20
"""Seconds until a change is given up."""


def saying(words: str) -> str:
    return tool("greet", extra=GUARDED).replace("Does greet.", words)


def release(at: Path, words: str, python: str = "def greet(): ...") -> Path:
    at.mkdir(parents=True)
    (at / "greet.tool.md").write_text(saying(words))
    (at / "greet.py").write_text(python)
    return at


def point(link: Path, target: Path) -> None:
    """Put a link in the place of another in one step, as `ln -s` and `mv -T` do."""
    draft = link.with_name(f"{link.name}.draft")
    draft.symlink_to(target)
    draft.replace(link)


class Followed:
    """A shop under a watcher, and the snapshots that it made."""

    def __init__(self, shop: Shop) -> None:
        self.workspace = shop.open()
        self._heard: SimpleQueue[Registry] = SimpleQueue()
        self.workspace.on_change(lambda _old, new: self._heard.put(new))
        self.watcher = Watcher(self.workspace)

    def until_it_says(self, words: str) -> None:
        said = ""
        while said != words:
            tools = self._heard.get(timeout=PATIENCE).tools
            said = tools["greet"].spec.description if "greet" in tools else ""


@contextmanager
def followed(shop: Shop) -> Iterator[Followed]:
    one = Followed(shop)
    with one.watcher:
        yield one


def test_a_folder_that_is_a_link_is_followed_when_the_link_is_replaced(shop: Shop) -> None:
    (shop.root / "tools_md").rmdir()
    first = release(shop.root / "releases/1", "Says one.")
    second = release(shop.root / "releases/2", "Says two.")
    link = shop.root / "tools_md"
    link.symlink_to(first)
    with followed(shop) as one:
        point(link, second)
        one.until_it_says("Says two.")

        (second / "greet.tool.md").write_text(saying("Says three."))
        one.until_it_says("Says three.")
        assert one.watcher.problem == ""


def test_the_files_of_a_linked_folder_are_named_by_the_link(shop: Shop) -> None:
    (shop.root / "tools_md").rmdir()
    (shop.root / "tools_md").symlink_to(release(shop.root / "releases/1", "Says one."))

    assert shop.open().tools["greet"].spec.source.path == "tools_md/greet.tool.md"


def test_broken_python_of_a_new_release_fails_its_tools(shop: Shop) -> None:
    (shop.root / "tools_md").rmdir()
    link = shop.root / "tools_md"
    good = "def greet(): return {'n': 1}"
    link.symlink_to(release(shop.root / "releases/1", "Says one.", good))
    second = release(shop.root / "releases/2", "Says two.", "def greet(:")
    ws = shop.open(trust_edits=True)
    answered = {"confidence": 1.0}
    ws.confirmations.approve_sync(ws.call_sync("greet", **answered).confirmation.id)

    point(link, second)
    ws.reload()

    held = ws.call_sync("greet", **answered)
    failed = ws.confirmations.approve_sync(held.confirmation.id)
    assert "greet.py:1" in failed.error.message
    assert ws.tools["greet"].spec.description == "Says two."


def test_a_link_on_the_way_to_the_folder_is_followed(shop: Shop) -> None:
    release(shop.root / "releases/1/tools", "Says one.")
    release(shop.root / "releases/2/tools", "Says two.")
    link = shop.root / "current"
    link.symlink_to("releases/1")
    shop.write("toolmd.toml", 'plugins = []\ntools = ["current/tools"]\n')
    with followed(shop) as one:
        point(link, Path("releases/2"))
        one.until_it_says("Says two.")


def test_a_mounted_config_map_is_followed(shop: Shop) -> None:
    """Each file is a link through `..data`, which is replaced as a whole."""
    folder = shop.root / "tools_md"
    release(folder / "..2026_01", "Says one.")
    release(folder / "..2026_02", "Says two.")
    (folder / "..data").symlink_to("..2026_01")
    for name in ("greet.tool.md", "greet.py"):
        (folder / name).symlink_to(f"..data/{name}")
    with followed(shop) as one:
        point(folder / "..data", Path("..2026_02"))
        one.until_it_says("Says two.")


def test_a_file_that_a_link_leads_to_is_followed(shop: Shop) -> None:
    hidden = shop.write("tools_md/.kept/greet", saying("Says one."))
    (shop.root / "tools_md/greet.tool.md").symlink_to(".kept/greet")
    with followed(shop) as one:
        hidden.write_text(saying("Says two."))
        one.until_it_says("Says two.")


@pytest.mark.parametrize("moved", ["tools_md", "deep", "deep/er"])
def test_a_folder_that_is_renamed_deleted_and_made_again_is_followed(
    shop: Shop, moved: str
) -> None:
    named = Path(moved) if moved == "tools_md" else Path("deep/er/tools")
    shop.write("toolmd.toml", f'plugins = []\ntools = ["{named}"]\n')
    folder, aside = shop.root / moved, shop.root / "aside"
    file = shop.write(str(named / "greet.tool.md"), saying("Says 0."))
    with followed(shop) as one:
        for number in range(1, 6):
            folder.rename(aside)
            aside.rename(folder)
            subprocess.run(["rm", "-r", str(folder)], check=True)
            file.parent.mkdir(parents=True)
            file.write_text(saying(f"Says {number}."))
            one.until_it_says(f"Says {number}.")
            file.write_text(saying(f"Says {number} again."))
            one.until_it_says(f"Says {number} again.")

        assert one.watcher.problem == ""


def test_an_observer_that_ended_is_replaced(shop: Shop) -> None:
    made = []

    class Remembered(Observer):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    folder = Watched((shop.root / "tools_md",), frozenset())
    heard: SimpleQueue[FileEvent] = SimpleQueue()
    events = FileEvents(heard.put, (Remembered, Remembered))
    try:
        events.follow(folder)
        made[-1].stop()
        made[-1].join()
        assert not events.is_alive()
        events.follow(folder)
        assert events.is_alive()
        assert len(made) == 2
        shop.write("tools_md/x.py", "")
        assert heard.get(timeout=PATIENCE).path.endswith("x.py")
    finally:
        events.stop()


def test_reads_by_other_programs_are_not_reported(shop: Shop) -> None:
    for name in ("one", "two"):
        shop.tool(name, "", f"def {name}(): ...")
    heard: SimpleQueue[FileEvent] = SimpleQueue()
    events = FileEvents(heard.put)
    workspace = shop.open()
    try:
        events.follow(workspace.watched)
        files = [str(file) for file in (shop.root / "tools_md").iterdir()]
        subprocess.run(["cat", *files], check=True, capture_output=True)
        workspace.reload()
        assert workspace.diagnostics == ()
        shop.write("tools_md/last.py", "")

        assert Path(heard.get(timeout=PATIENCE).path).name == "last.py"
    finally:
        events.stop()
