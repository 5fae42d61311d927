"""Report what is installed, and whether files are as they were when the process began."""

import os
import sys
import time
from pathlib import Path

INSTALLED = frozenset({"site-packages", "dist-packages"})
"""The names of the folders into which packages are installed."""
_OWN = Path(__file__).parents[1]
_SLACK_NS = 2_000_000_000
"""As much as the time of a file may be off."""
_BEGAN_NS = time.time_ns() - _SLACK_NS


def is_settled(place: str) -> bool:
    """Return whether a file or a folder has not changed since the process began."""
    try:
        status = os.stat(place)  # noqa: PTH116 - a thousand files are looked at
    except OSError:
        return False
    return max(status.st_mtime_ns, status.st_ctime_ns) < _BEGAN_NS


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
