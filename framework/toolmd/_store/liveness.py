"""Track live processes on one machine: each keeps a lock on its own file."""

import datetime as dt
import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from filelock import lock_descriptor

from toolmd.config import state_folder

POLL_S = 0.01
"""Pause between two tries for a lock that another process tests, in seconds."""


class Workers(Protocol):
    """The processes that execute the runs of a store, as one of them sees them; blocking."""

    own: str
    """The unique name of this process, never reused."""
    ahead: dt.timedelta
    """How far the store's clock is ahead of this machine's."""

    def live(self) -> None:
        """Show that this process is alive, before it accepts any work and then every second."""

    def dead(self) -> list[str]:
        """Return the names of processes that ended and are not evicted."""

    def evict(self, name: str) -> None:
        """Forget a dead process whose work was handed on."""

    def lives(self) -> bool:
        """Return whether others see this process as alive."""

    def end(self) -> None:
        """Let others look for what this process leaves."""


class Locks:
    """The processes that work on one state folder; the system frees the lock of a dead one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.own = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        """The unique name of this process, never reused."""
        self.ahead = dt.timedelta()
        """How far the store's clock is ahead of this machine's: it is this machine's."""
        self._lock: int | None = None

    def live(self) -> None:
        """Lock this process's file, before it accepts any work and then every second."""
        path = self._folder / self.own
        if self._lock is not None and not path.exists():
            self.end()  # The folder was deleted.
        while self._lock is None:
            state_folder(self._folder.parent)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            lock = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
            lock_descriptor(lock, poll_interval=POLL_S)
            # Another process may have found the file free in between and evicted it.
            if path.exists():
                self._lock = lock
            else:
                os.close(lock)

    def dead(self) -> list[str]:
        """Return the names of processes that ended and left their file."""
        try:
            return [path.name for path in self._folder.iterdir() if self._is_free(path)]
        except FileNotFoundError:
            return []

    def evict(self, name: str) -> None:
        """Delete the file of a dead process whose work was handed on."""
        (self._folder / name).unlink(missing_ok=True)

    def lives(self) -> bool:
        """Return True: a frozen process keeps its lock, so others never take over its runs."""
        return True

    def end(self) -> None:
        """Release the lock; the file stays, so that other processes look for orphans."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

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
