"""Select the file system events that may change what a reload reads."""

import os
from pathlib import PurePath
from typing import NamedTuple

from toolmd._workspace.reloading import Watched

ENDS = (".md", ".py", ".markdown", ".mdx", ".txt")
"""Of definitions, of Python, and of what is nearly named like a definition."""
CHANGES = frozenset({"created", "deleted", "modified", "moved", "closed"})
"""Reading causes others: a reload must not set off the next."""
SKIPPED = frozenset({"__pycache__", "node_modules"})


class FileEvent(NamedTuple):
    """A change of a file or a folder, in watchdog's terms."""

    kind: str
    path: str
    to: str = ""
    """Where it was moved to."""
    folder: bool = False


def may_matter(event: FileEvent, watched: Watched) -> bool:
    """Return whether an event may change what a reload reads."""
    if event.kind not in CHANGES or (event.folder and event.kind == "modified"):
        return False
    return any(
        PurePath(path) in watched.files
        or any(_within(path, str(place), folder=event.folder) for place in watched.folders)
        for path in filter(None, (event.path, event.to))
    )


def _within(path: str, place: str, *, folder: bool) -> bool:
    if folder and (path == place or place.startswith(path + os.sep)):
        return True
    if not path.startswith(place.rstrip(os.sep) + os.sep):
        return False
    parts = PurePath(path[len(place) :].strip(os.sep)).parts
    # Locks, swap files and drafts of editors are hidden, or end in none of these.
    if any(part.startswith(".") or part in SKIPPED for part in parts):
        return False
    return folder or parts[-1].endswith(ENDS)
