"""Append decision records to a file of this writer's own, each chained to the one before."""

import errno
import os
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from threading import Lock
from weakref import WeakSet, finalize

from toolmd._call.audit.chain import (
    STARTED,
    SUFFIX,
    beginning,
    files_in,
    follows,
    lines_backward,
    next_line,
    place_of,
)
from toolmd._call.audit.upkeep import OPEN, Tracked, Upkeep, is_sealed, locked
from toolmd._store.records import HeadStore
from toolmd._store.store import Store
from toolmd._types.audit import ChainLine
from toolmd._types.settings import Settings
from toolmd.config import state_folder
from toolmd.config.state_files import create_file, is_there

AUDIT_FOLDER = "audit"
"""The folder of the records, in the project's state folder."""
MAX_FILE = 64 * 1024 * 1024
"""The bytes after which a writer begins the next file."""
LOOK_S = 0.001
"""How often a writer looks at its file, in seconds.

After a look, Linux updates the file's time with the next write, which costs more than the write.
"""
_CONTINUED = 32
"""How many files a new writer tries to continue, the newest first."""


_logs: "WeakSet[AuditLog]" = WeakSet()


def _start_over() -> None:
    for log in _logs:
        log.start_over()


if hasattr(os, "register_at_fork"):
    # A thread that a fork did not copy may have held a lock.
    os.register_at_fork(after_in_child=_start_over)


class AuditLog:
    """A writer of decision records; safe for threads, and for processes with writers of their own.

    Each writer has locked a file for itself. A record is in the kernel when `append` returns, so
    it survives the death of the process.
    """

    def __init__(  # noqa: PLR0913 - how a log is kept, by keyword
        self,
        folder: Path,
        heads: Callable[[], HeadStore] | None = None,
        *,
        synced: bool = False,
        keep_days: float | None = None,
        max_file: int = MAX_FILE,
        fsync: Callable[[int], None] = os.fsync,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep the folder of the files, which is created with the first record.

        Args:
            folder: The folder of the files.
            heads: Returns the store's notes of the newest record of each file, as opening the
                store takes long; None keeps none.
            synced: Whether a call waits until the disk has its record.
            keep_days: The days after which files without newer records are deleted; None keeps
                them.
            max_file: The bytes after which the next file begins.
            fsync: Waits until the disk has the records of a descriptor.
            clock: Returns seconds that never go back.
        """
        self.synced = synced
        self._folder = folder
        self._max_file = max_file
        self._clock = clock
        self._new_upkeep = partial(Upkeep, folder, heads, keep_days, fsync)
        self._start()
        self._size = 0
        self._looked = float("-inf")
        """When the file was looked at."""
        self._tracked: Tracked
        _logs.add(self)

    def _start(self) -> None:
        self._lock = Lock()
        self._upkeep = self._new_upkeep()
        # A log that nobody closed ends with its last user.
        self._finalizer = finalize(self, self._upkeep.stop)
        self._finalizer.atexit = False
        self._file = -1
        """The descriptor of the file; -1 while none is open."""

    def start_over(self) -> None:
        """Begin without file and thread in a forked process; the other one keeps its own."""
        self._finalizer.detach()
        self._upkeep.abandon()
        self._start()

    def open(self) -> None:
        """Open a file; blocks. Raises OSError, and EmptiedError for a file without bytes."""
        with self._lock:
            if not self._is_ready():
                self._open()

    def append(self, record: str) -> bool:
        """Append a record, a JSON object; False where `open` must be called first.

        Raises OSError where it can't be written.
        """
        with self._lock:
            if not self._is_ready():
                return False
            line, last = next_line(self._tracked.newest, record)
            if os.write(self._file, line) < len(line):
                # A whole line, or nothing: an unfinished line is no record.
                os.ftruncate(self._file, self._size)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._folder))
            self._size += len(line)
            self._tracked.newest = last
            return True

    def sync(self) -> "Future[None]":
        """Return a future that is done once the disk has all records so far."""
        return self._upkeep.sync()

    def close(self) -> None:
        """Note the newest record, and release the file."""
        with self._lock:
            self._file = -1
        self._upkeep.end()

    def _is_ready(self) -> bool:
        """Return whether the next record goes into the open file."""
        if self._file < 0:
            return False
        now = self._clock()
        if now - self._looked >= LOOK_S:
            self._looked = now
            status = os.fstat(self._file)
            # A file that was removed, cut, or extended by others is not continued.
            if status.st_nlink == 0 or status.st_size != self._size:
                self._file = -1
        return self._file >= 0 and self._size < self._max_file and self._tracked.fits

    def _open(self) -> None:
        self._file = -1
        state_folder(self._folder.parent)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        paths = files_in(self._folder)
        for path in paths:
            is_there(path)  # Where records were cut off, no new ones begin.
        if any(self._continue(path) for path in reversed(paths[-_CONTINUED:])):
            return
        while not self._continue(self._create(), new=True):
            pass  # Another process continues the new file already.

    def _create(self) -> Path:
        now = time.gmtime()
        name = f"{time.strftime(STARTED, now)}-{secrets.token_hex(4)}"
        at = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", now)
        path = self._folder / f"{name}{SUFFIX}"
        line, _ = next_line(beginning(name), f'{{"at":"{at}","file":"{name}"}}')
        create_file(path, line)
        return path

    def _continue(self, path: Path, *, new: bool = False) -> bool:
        """Continue a file that its writer left in order, has room, and is not locked."""
        status = path.stat()
        if not new and (not is_sealed(status) or status.st_size >= self._max_file):
            return False
        path.chmod(OPEN)
        file, last = os.open(path, os.O_RDWR | os.O_APPEND), None
        try:
            if locked(file, otherwise=new):
                last = _end_of(path)
                self._size = os.fstat(file).st_size
        finally:
            if last is None:
                os.close(file)
        if last is None:
            return False
        self._tracked = self._upkeep.begin(path, file, last)
        self._file = file
        return True


def _end_of(path: Path) -> ChainLine | None:
    """Return the end of a file's chain; None where its last lines do not fit together."""
    with path.open("rb") as file:
        tail = lines_backward(file)
        last, before = next(tail, None), next(tail, None)
    previous = beginning(path.stem) if before is None else place_of(before)
    return None if last is None or previous is None else follows(previous, last)


def log_of(settings: Settings, store: Store) -> AuditLog | None:
    """Return the log of a project; None where its audit is off."""
    audit = settings.audit
    if not audit.enabled:
        return None
    return AuditLog(
        settings.state / AUDIT_FOLDER,
        (lambda: store.audit_heads) if store.is_shared else None,
        synced=audit.sync == "batch",
        keep_days=audit.keep_days,
    )
