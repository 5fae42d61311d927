"""Test the SQLite engine: run a skill in a temporary project."""

import tempfile
from pathlib import Path

from toolmd.errors import ToolmdError

_NAME = "trial"


def try_sqlite(state: Path) -> None:
    """Run a skill whose records are stored with SQLite on the disk of the folder `state`.

    Raises the error of a real first run: ConfigError, another ToolmdError, or an error of the
    store.
    """
    from toolmd._parse import new_text
    from toolmd._workspace import Workspace

    # On the disk of the project's own records: not every file system supports SQLite's locks.
    nearest = state if state.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="trial-", dir=nearest) as folder:
        skills = Path(folder, "skills_md")
        skills.mkdir()
        (skills / f"{_NAME}.skill.md").write_text(new_text("skill", _NAME), "utf-8")
        overrides = {"store": "sqlite", "state": ".toolmd", "plugins": ""}
        with Workspace.open(folder, overrides=overrides) as workspace:
            result = workspace.run_sync(_NAME, {"text": "tried"})
    if not result.success:
        raise ToolmdError(f"a skill that only returns its input failed: {result.message}")
