"""Which events of the file system may change what a reload reads."""

from pathlib import Path

import pytest

from toolmd._watch.watcher import FileEvent, index_lock, may_matter
from toolmd._workspace.workspace import Watched

PLACES = Watched(
    (Path("/p/tools_md"),), frozenset({Path("/p/toolmd.toml"), Path("/p/.toolmd/live/j")})
)


@pytest.mark.parametrize(
    "event",
    [
        FileEvent("modified", "/p/tools_md/a.tool.md"),
        FileEvent("created", "/p/tools_md/x/y/a.skill.md"),
        FileEvent("closed", "/p/tools_md/a.py"),
        FileEvent("deleted", "/p/tools_md/a.tool.md"),
        FileEvent("moved", "/p/tools_md/.a.tmp", "/p/tools_md/a.tool.md"),
        FileEvent("moved", "/p/tools_md/a.tool.md", "/p/tools_md/a.tool.md~"),
        FileEvent("moved", "/elsewhere/a.tool.md", "/p/tools_md/a.tool.md"),
        FileEvent("created", "/p/tools_md/a.tool.markdown"),
        FileEvent("created", "/p/tools_md/new", folder=True),
        FileEvent("deleted", "/p/tools_md", folder=True),
        FileEvent("moved", "/p", "/q", folder=True),
        FileEvent("modified", "/p/toolmd.toml"),
        FileEvent("modified", "/p/.toolmd/live/j"),
    ],
)
def test_an_event_that_may_change_a_definition_passes(event: FileEvent) -> None:
    assert may_matter(event, PLACES)


@pytest.mark.parametrize(
    "event",
    [
        FileEvent("opened", "/p/tools_md/a.tool.md"),
        FileEvent("closed_no_write", "/p/tools_md/a.tool.md"),
        FileEvent("modified", "/p/tools_md", folder=True),
        FileEvent("created", "/p/tools_md/4913"),
        FileEvent("created", "/p/tools_md/.#a.tool.md"),
        FileEvent("modified", "/p/tools_md/.a.tool.md.swp"),
        FileEvent("modified", "/p/tools_md/#a.tool.md#"),
        FileEvent("modified", "/p/tools_md/a.tool.md~"),
        FileEvent("created", "/p/tools_md/__pycache__/a.py"),
        FileEvent("created", "/p/tools_md/__pycache__", folder=True),
        FileEvent("modified", "/p/tools_md/.git/x.py"),
        FileEvent("modified", "/p/tools_md.py"),
        FileEvent("modified", "/p/other/a.tool.md"),
        FileEvent("modified", "/p/.toolmd/audit/1.jsonl"),
    ],
)
def test_events_of_editors_and_of_reading_do_not_pass(event: FileEvent) -> None:
    assert not may_matter(event, PLACES)


def test_gits_lock_is_found_from_a_subfolder_and_in_a_work_tree(tmp_path: Path) -> None:
    below = tmp_path / "repository/project"
    below.mkdir(parents=True)
    assert index_lock(below) is None or not str(index_lock(below)).startswith(str(tmp_path))

    (tmp_path / "repository/.git").mkdir()
    assert index_lock(below) == tmp_path / "repository/.git/index.lock"

    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: ../repository/.git/worktrees/tree\n")
    lock = index_lock(tree)
    assert lock is not None
    assert lock.resolve() == tmp_path / "repository/.git/worktrees/tree/index.lock"
