"""Which events of the file system may change what a reload reads."""

from pathlib import Path

import pytest

from toolmark._watch.git import index_lock
from toolmark._watch.matters import Event, matters
from toolmark._workspace.reloading import Watched

PLACES = Watched((Path("/p/tools_md"),), (Path("/p/toolmark.toml"), Path("/p/.toolmark/live/j")))


@pytest.mark.parametrize(
    "event",
    [
        Event("modified", "/p/tools_md/a.tool.md"),
        Event("created", "/p/tools_md/x/y/a.skill.md"),
        Event("closed", "/p/tools_md/a.py"),
        Event("deleted", "/p/tools_md/a.tool.md"),
        Event("moved", "/p/tools_md/.a.tmp", "/p/tools_md/a.tool.md"),
        Event("moved", "/p/tools_md/a.tool.md", "/p/tools_md/a.tool.md~"),
        Event("moved", "/elsewhere/a.tool.md", "/p/tools_md/a.tool.md"),
        Event("created", "/p/tools_md/a.tool.markdown"),
        Event("created", "/p/tools_md/new", folder=True),
        Event("deleted", "/p/tools_md", folder=True),
        Event("moved", "/p", "/q", folder=True),
        Event("modified", "/p/toolmark.toml"),
        Event("modified", "/p/.toolmark/live/j"),
    ],
)
def test_what_may_change_what_is_read_matters(event: Event) -> None:
    assert matters(event, PLACES)


@pytest.mark.parametrize(
    "event",
    [
        Event("opened", "/p/tools_md/a.tool.md"),
        Event("closed_no_write", "/p/tools_md/a.tool.md"),
        Event("modified", "/p/tools_md", folder=True),
        Event("created", "/p/tools_md/4913"),
        Event("created", "/p/tools_md/.#a.tool.md"),
        Event("modified", "/p/tools_md/.a.tool.md.swp"),
        Event("modified", "/p/tools_md/#a.tool.md#"),
        Event("modified", "/p/tools_md/a.tool.md~"),
        Event("created", "/p/tools_md/__pycache__/a.py"),
        Event("created", "/p/tools_md/__pycache__", folder=True),
        Event("modified", "/p/tools_md/.git/x.py"),
        Event("modified", "/p/tools_md.py"),
        Event("modified", "/p/other/a.tool.md"),
        Event("modified", "/p/.toolmark/audit.sqlite3"),
    ],
)
def test_what_editors_and_reading_do_beside_does_not(event: Event) -> None:
    assert not matters(event, PLACES)


def test_gits_lock_is_found_from_below_and_in_a_work_tree(tmp_path: Path) -> None:
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
