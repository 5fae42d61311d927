"""The next snapshot, which takes what has not changed, equals the one that a fresh read gives."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bind_project import Project, parameter, tool

from toolmd._load.baseline import Baseline
from toolmd._load.build import Snapshot, build
from toolmd._load.cache import Cache
from toolmd._store import MEMORY
from toolmd._store.store import Store
from toolmd.config import load_settings

STEPS = 12
NAMES = ("one", "two", "three", "four")
AT_ONCE = -10_000_000_000
"""Files are known by their stamps as soon as they are read: no test waits two seconds."""


class Edited(Project):
    """A project that is edited at random, and read next to its last snapshot."""

    def __init__(self, root: Path, seed: int) -> None:
        super().__init__(root)
        self.random = random.Random(seed)
        self.number = 0
        self.parsed: list[str] = []
        self.write("toolmd.toml", "plugins = []\n")
        self.store = Store(MEMORY, root)

    def read(self, old: Snapshot | None, cache: Cache | None) -> Snapshot:
        settings = load_settings(self.root, environ={})
        return build(
            settings,
            self,
            cache=cache,
            baseline=Baseline(settings.state),
            store=self.store,
            old=old,
            settled_ns=AT_ONCE,
        )

    @property
    def fingerprint(self) -> str:
        return self.reader.fingerprint

    def parse(self, kind: Any, data: bytes, path: str) -> Any:
        self.parsed.append(path)
        return self.reader.parse(kind, data, path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def path(self, end: str) -> str:
        folder = self.random.choice(("tools_md", "tools_md/inner"))
        return f"{folder}/{self.random.choice(NAMES)}{end}"

    def edit(self) -> None:
        """Change one thing; each text has a length of its own."""
        self.number += 1
        more = "x" * self.number
        edits: tuple[Callable[[], Any], ...] = (
            lambda: self.write(self.path(".tool.md"), self.text(more)),
            lambda: self.write(self.path(".tool.md"), self.text(more, parameter("size"))),
            lambda: self.write(self.path(".tool.md"), f"# Broken {more}\n"),
            lambda: self.write(self.path(".py"), f"def one(): return '{more}'\n"),
            lambda: self.write(self.path(".skill.md"), self.skill(more)),
            lambda: self.write("toolmd.toml", f"plugins = []\n# {more}\nimport_timeout = 7\n"),
            lambda: self.write("tools_md/plugin.py", f"# {more}\n"),
            self.remove,
            self.rename,
            self.link,
        )
        self.random.choice(edits)()

    def text(self, more: str, parameters: str = "None") -> str:
        limits = self.random.choice(("", "\n## Limits\n\n- **Max Calls**: 3\n"))
        return tool(self.random.choice(NAMES), parameters, f"{limits}\n<!-- {more} -->\n")

    def skill(self, more: str) -> str:
        uses = self.random.choice(NAMES)
        return (
            f"# Do\n\nDoes {more}.\n\n## Metadata\n\n- **Name**: do_{uses}\n- **Version**: 1.0.0\n"
            f"- **Category**: test\n- **Required Tools**: {uses}\n\n## Workflow\n\n1. **Do** it.\n"
            f"   - **Use**: {uses}\n\n## Input Schema\n\nNone\n\n## Output Schema\n\n"
            "- **Type**: object (SkillResult)\n"
        )

    def files(self) -> list[Path]:
        return sorted(file for file in self.root.glob("tools_md/**/*") if not file.is_dir())

    def remove(self) -> None:
        if files := self.files():
            self.random.choice(files).unlink()

    def rename(self) -> None:
        if files := self.files():
            file = self.random.choice(files)
            end = "".join(file.suffixes)
            file.rename(file.with_name(self.random.choice(NAMES) + end))

    def link(self) -> None:
        if files := self.files():
            link = self.root / "tools_md" / f"linked{self.number}.tool.md"
            link.symlink_to(self.random.choice(files))


def seen(snapshot: Snapshot) -> dict[str, Any]:
    registry = snapshot.registry
    every = {**registry.tools, **registry.skills}
    return {
        "bound": {n: (b.hash, b.target, b.stale, b.diagnostics) for n, b in every.items()},
        "order": [*registry.tools, *registry.skills],
        "findings": registry.diagnostics,
        "pending": registry.pending_changes,
        "stamp": snapshot.stamp[:-1],
        "links": snapshot.links,
    }


@pytest.fixture
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Edited]:
    made = Edited(tmp_path, getattr(request, "param", 0))
    yield made
    made.store.close()


@pytest.mark.parametrize("project", range(3), indirect=True)
def test_after_each_edit_the_next_snapshot_equals_a_fresh_one(project: Edited) -> None:
    for name in NAMES:
        project.tool(name, python=f"def {name}(): return 1\n")
    settings = load_settings(project.root, environ={})
    cache = Cache.load(settings.state, project.fingerprint)
    live = project.read(None, cache)
    for _ in range(STEPS):
        for _ in range(project.random.randrange(3)):
            project.edit()
        live = project.read(live, cache)

        assert seen(live) == seen(project.read(None, None))


def test_one_edit_of_many_files_reads_parses_and_binds_one(project: Edited) -> None:
    for name in NAMES:
        project.tool(name, python=f"def {name}(): return 1\n")
    before = project.read(None, None)
    files = dict(before.groups[0].folder.stamps)
    project.parsed.clear()
    project.write("tools_md/one.tool.md", tool("one", parameter("size")))

    after = project.read(before, None)

    assert project.parsed == ["tools_md/one.tool.md"]
    kept = after.groups[0].folder.stamps
    assert [at for at in kept if kept[at][1] is not files[at][1]] == [
        str(project.root / "tools_md/one.tool.md")
    ]
    tools = after.registry.tools
    assert [name for name in tools if tools[name] is not before.registry.tools[name]] == ["one"]
    assert after.resources is before.resources


def test_changed_python_is_never_taken_from_the_snapshot_before(project: Edited) -> None:
    project.write("tools_md/helper.py", "N = 1\n")
    project.tool("one", python="from .helper import N\ndef one(): return N\n")
    before = project.read(None, None)
    load = before.registry.tools["one"].binding.load
    assert load is not None
    assert load().function() == 1
    project.write("tools_md/helper.py", "N = 22\n")

    load = project.read(before, None).registry.tools["one"].binding.load

    assert load is not None
    assert load().function() == 22
