"""Import the Python that changed in a candidate snapshot, while the markdown is live already."""

import threading
from collections.abc import Callable

from toolmd._load.build import Snapshot
from toolmd._load.edits.last_python import (
    LastPython,
    Put,
    broken_python,
    python_meanwhile,
    still_importing,
    useless_python,
)


class Trial:
    """A candidate for the next snapshot, while the Python that changed in it is imported.

    Python that was in use in the snapshot of before and can't be loaded any more stays as it was.
    """

    def __init__(self, old: Snapshot, make: Callable[[Put], Snapshot]) -> None:
        """Read the candidate; `make` reads the project with some Python of before."""
        self._old = old
        self._make = make
        self._put: dict[str, LastPython] = {}
        self._tried: set[str] = set()
        """The paths of all files that were put back, if only for a moment."""
        self._importing: tuple[str, ...] = ()
        self.candidate = make(self._put)
        self.stamp = self.candidate.stamp
        """Of what was read at first."""
        self.over = threading.Event()
        """Set when the trial has given its snapshot, or was dropped."""

    def settle(self, until: float) -> Snapshot | None:
        """Return the snapshot; None where Python is still being imported at `until`.

        `until` is a moment of `time.monotonic`.
        """
        while True:
            self._importing = still_importing(self._old, self.candidate, until)
            if self._importing:
                return None
            broken = broken_python(self._old, self.candidate, self._tried)
            if broken is not None:
                self._put[broken.file.path] = broken
                self._tried.add(broken.file.path)
            elif useless := useless_python(self._old, self.candidate, self._put):
                # It would hold back the other tools of the file.
                del self._put[useless]
            else:
                return self.candidate
            self.drop()
            self.candidate = self._make(self._put)

    def drop(self) -> None:
        """Close what only the candidate has."""
        if self.candidate.resources is not self._old.resources:
            self.candidate.resources.retire()

    def meanwhile(self) -> Snapshot:
        """Return what the markdown says now, with the Python of before."""
        kept = python_meanwhile(self._old, self.candidate, self._importing)
        return self._make({**kept, **self._put})
