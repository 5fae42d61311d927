"""List the files of the project: those that Git tracks, or all files without a history."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = {"__pycache__", "dist", "site"}
"""Folders that the project's commands create, besides those that begin with a dot."""


def tracked() -> list[str]:
    """Return the paths of the files below the root."""
    return sorted(_listed())


def _listed() -> Iterator[str]:
    if (ROOT / ".git").exists() and shutil.which("git"):
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        # A checkout may be another user's, such as the one who built the image.
        command[1:1] = ["-c", f"safe.directory={ROOT}"]
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        yield from (name for name in found.stdout.split("\0") if (ROOT / name).is_file())
        return
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if name == ".ci" or not name.startswith((".", *MADE))]
        for name in names:
            yield (Path(folder) / name).relative_to(ROOT).as_posix()
