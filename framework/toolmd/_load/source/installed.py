"""Report what is installed, and whether files are as they were when the process began."""

import os
import sys
import time
from pathlib import Path

INSTALLED = frozenset({"site-packages", "dist-packages"})
"""The names of the folders into which packages are installed."""
_OWN = Path(__file__).parents[1]
_SECOND_NS = 1_000_000_000
_FINE_NS, _COARSE_NS = _SECOND_NS // 10, 2 * _SECOND_NS
"""As much as the time of a file may be off, where its file system keeps parts of seconds or not."""
_BEGAN_NS = time.time_ns()


def is_settled(place: str) -> bool:
    """Return whether a file or a folder has not changed since the process began."""
    try:
        status = os.stat(place)  # noqa: PTH116 - a thousand files are looked at
    except OSError:
        return False
    latest = max(status.st_mtime_ns, status.st_ctime_ns)
    return latest + (_FINE_NS if latest % _SECOND_NS else _COARSE_NS) < _BEGAN_NS


def installed_stamp() -> str | None:
    """Return a text that changes when a package is installed, upgraded or removed.

    An edit of an installed file by hand does not change it, except for Toolmd's own that compare.
    None where a package was installed since the process began.
    """
    found = [f"{file} {file.stat().st_mtime_ns}" for file in sorted(_OWN.rglob("*.py"))]
    for place in dict.fromkeys(sys.path):
        if os.path.basename(place) in INSTALLED and os.path.isdir(place):  # noqa: PTH112, PTH119
            if not is_settled(place):
                return None
            status = os.stat(place)  # noqa: PTH116
            found.append(f"{place} {status.st_mtime_ns} {status.st_ctime_ns}")
    return "\n".join(found)
