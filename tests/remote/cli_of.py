"""Run a verb of toolmd in a folder."""

import subprocess
import sys
from pathlib import Path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Return what `toolmd` with these words did there."""
    command = [sys.executable, "-m", "toolmd", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
