"""Store a state folder with runs under way, for later releases to finish.

`python tests/durability/store_state.py FILE` writes the runs as SQL: one that waits for a person,
and one that was cut off between a call's effect and its record.
"""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from test_pinned import Project

from toolmd import Workspace, hookimpl
from toolmd._store import STORE_FILE


class Killer:
    """Kills its process when the second call took effect, before that is recorded."""

    @hookimpl
    def toolmd_after_call(self, call: Any, spec: Any, result: Any) -> None:
        if call.id == "run-cut/3:act":
            os.kill(os.getpid(), signal.SIGKILL)


def cut(root: str) -> None:
    """Run into the killer."""
    overrides = {"store": "sqlite"}
    with Workspace.open(root, overrides=overrides, plugins={"killer": Killer()}) as workspace:
        workspace.run_sync("job", {}, run_id="run-cut", ask=lambda question: True)


def store(file: Path) -> None:
    """Create the two runs in a temporary folder, and write its records of them."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        assert project.asked() == ["2:ask"]
        done = subprocess.run([sys.executable, __file__, "cut", folder], check=False)
        assert done.returncode == -signal.SIGKILL
        with sqlite3.connect(project.root / ".toolmd" / STORE_FILE) as database:
            lines = list(database.iterdump())
    # The names of the processes contain the host name.
    text = re.sub(r"'[\w.-]+-[0-9]+-[0-9a-f]{8}'", "'a-process-of-before'", "\n".join(lines))
    file.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    if sys.argv[1] == "cut":
        cut(sys.argv[2])
    else:
        store(Path(sys.argv[1]))
