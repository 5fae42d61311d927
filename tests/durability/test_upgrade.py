"""Runs that earlier releases left under way are finished; newer ones are left alone."""

import sqlite3
import time
from pathlib import Path

import pytest
from kept import Kept
from test_pinned import DONE, FILES, Project

from toolmd._store import STORE_FILE
from toolmd.errors import ConfigError

STORED = Path(__file__).parent / "stored"


def restored(folder: Path, name: str, files: dict[str, str]) -> Project:
    """Put a stored state into a project of these files."""
    state = folder / ".toolmd"
    (state / "workers").mkdir(parents=True)
    (state / "workers" / "a-process-of-before").touch()
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    with sqlite3.connect(state / STORE_FILE) as database:
        database.executescript((STORED / name).read_text("utf-8"))
    database.close()
    (folder / "tools_md").mkdir(exist_ok=True)
    return Project(folder, files={})


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("version-0.sql", FILES),
        ("version-1.sql", FILES),
        ("version-1.sql", {"toolmd.toml": FILES["toolmd.toml"]}),
    ],
    ids=["before Python was pinned", "with the same files", "with no files left"],
)
def test_runs_of_an_earlier_release_are_finished(
    tmp_path: Path, name: str, files: dict[str, str]
) -> None:
    project = restored(tmp_path, name, files)
    with project.open() as workspace:
        workspace.runs.start_sync()
        # The interrupted run resumes by itself; its second call runs again.
        until = time.monotonic() + 20
        while workspace.runs.get_sync("run-cut").result is None:
            assert time.monotonic() < until
        assert workspace.runs.get_sync("run-cut").result.data == {"line": DONE[1]}
    project.answer()
    assert project.result().data == {"line": DONE[1]}
    assert project.notes() == [DONE[1], DONE[1]]


def test_runs_of_a_newer_release_are_not_touched(kept: Kept) -> None:
    kept.rows("UPDATE toolmd_meta SET value = '2' WHERE key = 'version'")
    kept.engine.close()
    with pytest.raises(ConfigError, match="newer release of Toolmd"):
        kept.opened()
    kept.rows("UPDATE toolmd_meta SET value = '1' WHERE key = 'version'")
    kept.engine = kept.opened()
