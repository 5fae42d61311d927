"""The projects that are open in this process: the servers of no others may run."""

import threading
from collections import Counter
from pathlib import Path

_OPEN = Counter[Path]()
"""How often each folder is open; a process may open a project several times."""
_LOCK = threading.Lock()


def begin_project(folder: Path) -> None:
    """Let the servers of a project run until it ends as often as it began."""
    with _LOCK:
        _OPEN[folder] += 1


def end_project(folder: Path) -> bool:
    """Return whether this was the last one: no server of the project may start any more."""
    with _LOCK:
        _OPEN[folder] -= 1
        if is_last := _OPEN[folder] <= 0:
            del _OPEN[folder]
        return is_last


def is_project_open(folder: Path) -> bool:
    """Return whether a project's servers may start."""
    return folder in _OPEN
