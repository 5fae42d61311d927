"""Know which processes live: each holds a lock on a file of its own for as long as it does."""

import errno
import logging
import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path

from filelock import lock_descriptor

logger = logging.getLogger(__name__)


POLL_S = 0.01
"""How long lies between two tries for a lock that another process tests, in seconds."""


class Locks:
    """The processes that work on one state folder; the system itself lets a dead one's lock go."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self.own = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        """The name of this process, never used again by another."""
        self._lock: int | None = None

    def live(self) -> None:
        """Say that this process lives; done before it takes any work, and every second."""
        path = self._folder / self.own
        if self._lock is not None and not path.exists():
            # Somebody cleared the folder away.
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.end()
        while self._lock is None:
            lock = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
            self._take(lock)
            # Somebody may have found the file free in between, and buried it.
            if path.exists():
                self._lock = lock
            else:
                os.close(lock)

    def dead(self) -> list[str]:
        """Give the names of those that ended and left their file."""
        return [path.name for path in self._folder.iterdir() if self._is_free(path)]

    def known(self) -> set[str]:
        """Give the names of all that are not buried yet."""
        return {path.name for path in self._folder.iterdir()}

    def evict(self, name: str) -> None:
        """Forget a dead process whose work was handed on."""
        (self._folder / name).unlink(missing_ok=True)

    def end(self) -> None:
        """Let go; the file stays, so that others look for what is left."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _take(self, lock: int) -> None:
        try:
            lock_descriptor(lock, poll_interval=POLL_S)
        except OSError as error:
            if error.errno != errno.ENOSYS:
                raise
            # No process can be seen to be dead then, so none loses its runs to another.
            logger.warning(
                "%s: this system locks no files: runs of a process that was killed stay where "
                "they are until `toolmd runs resume`",
                self._folder,
            )

    def _is_free(self, path: Path) -> bool:
        if path.name == self.own:
            return False
        with suppress(OSError):
            lock = os.open(path, os.O_RDWR)
            try:
                return lock_descriptor(lock, blocking=False)
            finally:
                os.close(lock)
        return False
