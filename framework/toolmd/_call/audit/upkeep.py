"""Sync a writer's files, note their newest records and delete old ones, in a thread."""

import datetime as dt
import errno
import logging
import os
import stat
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread

from toolmd._call.audit.chain import STARTED, files_in
from toolmd._store.records import HeadStore
from toolmd._types.audit import ChainLine
from toolmd.errors import logged

NOTE_S = 1.0
"""How often the newest record is noted in the store, in seconds."""
END_S = 10.0
"""How long the end of a log waits for a store that does not answer, in seconds."""
UNNOTED_S = 10 * NOTE_S
"""How long a file may have records before the first one is noted, in seconds."""
OPEN, SEALED = 0o600, 0o400
"""The modes of a file with a writer, and of one whose writer ended in order: all is noted."""
_DAY_S = 86400.0
logger = logging.getLogger(__name__)


class Tracked:
    """A file that a writer has locked, and its newest record."""

    def __init__(self, path: Path, descriptor: int, newest: ChainLine) -> None:
        self.path = path
        self.descriptor = descriptor
        self.newest = newest
        self.noted: ChainLine | None = None
        """What this writer noted last."""
        self.found = newest
        """The newest record when the writer opened the file."""
        self.fits = True
        """Whether the records agree with what was noted of them."""


class Upkeep:
    """The thread that syncs and notes the files of one writer; it ends with the writer."""

    def __init__(
        self,
        folder: Path,
        heads: Callable[[], HeadStore] | None,
        keep_days: float | None,
        fsync: Callable[[int], None],
    ) -> None:
        """Keep what `AuditLog` received."""
        self._fsync = fsync
        self._folder = folder
        self._heads = heads
        self._keep_days = keep_days
        self._changed = Condition()
        self._files: list[Tracked] = []
        """The files that were opened, the open one last."""
        self._waiting: list[Future[None]] = []
        self._thread: Thread | None = None
        self._ended = False
        self._failed = False
        self._cleaned = float("-inf")

    def begin(self, path: Path, descriptor: int, newest: ChainLine) -> Tracked:
        """Track a file that the writer has opened; the thread closes it once another is open."""
        tracked = Tracked(path, descriptor, newest)
        with self._changed:
            self._files.append(tracked)
            if self._thread is None or not self._thread.is_alive():
                self._ended = False
                self._thread = Thread(target=self._go_on, name="toolmd-audit", daemon=True)
                self._thread.start()
        return tracked

    def sync(self) -> "Future[None]":
        """Return a future that is done once the disk has all records so far."""
        synced: Future[None] = Future()
        with self._changed:
            if self._thread is None:
                synced.set_exception(OSError("the audit is closed"))
            else:
                self._waiting.append(synced)
                self._changed.notify()
        return synced

    def stop(self) -> None:
        """End the thread once it has noted the newest records, and closed the files."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def end(self) -> None:
        """Stop the thread, and wait for its end."""
        self.stop()
        with self._changed:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(END_S)

    def abandon(self) -> None:
        """Close the files in a forked process, in which the thread does not run."""
        for tracked in self._files:
            with suppress(OSError):
                os.close(tracked.descriptor)

    def _go_on(self) -> None:
        due = time.monotonic() + NOTE_S
        ended = False
        while not ended:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._ended or self._waiting, max(0.0, due - time.monotonic())
                )
                ended, waiting, files = self._ended, self._waiting, [*self._files]
                self._waiting = []
            # A call that was cancelled waits no more.
            self._sync_all(files, [one for one in waiting if one.set_running_or_notify_cancel()])
            if ended or time.monotonic() >= due:
                self._note_all(files)
                self._leave(files if ended else files[:-1])
                self._clean()
                due = time.monotonic() + NOTE_S

    def _sync_all(self, files: list[Tracked], waiting: "list[Future[None]]") -> None:
        if not waiting:
            return
        try:
            for tracked in files:
                self._fsync(tracked.descriptor)
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            for one in waiting:
                one.set_exception(error)
        else:
            for one in waiting:
                one.set_result(None)

    def _note_all(self, files: list[Tracked]) -> None:
        if self._heads is None:
            return
        try:
            for tracked in files:
                if tracked.fits and not self._note(self._heads, tracked):
                    tracked.fits = False
                    logger.error("%s does not agree with the store: see `toolmd audit --verify`",
                                 tracked.path)  # fmt: skip
            self._failed = False
        except Exception as error:  # noqa: BLE001 - noted a second later, or by the next writer
            if not self._failed:
                logger.warning("the store can't note the audit's newest record: %s", error)
            self._failed = True

    def _note(self, heads: Callable[[], HeadStore], tracked: Tracked) -> bool:
        """Note the newest record; False where the store knows records that the file lacks."""
        newest, before = tracked.newest, tracked.noted
        if newest.number == 0 or newest == before:
            return True
        if before is None:
            before = heads().get(tracked.path.stem)
            if before != (tracked.found if tracked.found.number else None):
                return False
        if not heads().put(tracked.path.stem, newest, before):
            return False
        tracked.noted = newest
        return True

    def _leave(self, files: list[Tracked]) -> None:
        with self._changed:
            self._files = [one for one in self._files if one not in files]
        for tracked in files:
            if tracked.fits and tracked.noted == tracked.newest:
                # Before the lock ends: the next writer that locks a sealed file continues it.
                with suppress(OSError):
                    tracked.path.chmod(SEALED)
            os.close(tracked.descriptor)

    def _clean(self) -> None:
        """Delete, once a day, the files that were kept long enough."""
        now = time.time()
        if self._keep_days is None or abs(now - self._cleaned) < _DAY_S:
            return
        self._cleaned = now
        try:
            for path in files_in(self._folder):
                if path.stat().st_mtime < now - self._keep_days * _DAY_S:
                    self._delete(path)
        except Exception as error:  # noqa: BLE001 - tried again a day later
            logged(error, "old files of the audit could not be deleted")

    def _delete(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if locked(descriptor, otherwise=True):
                if self._heads is not None:
                    self._heads().forget(path.stem)
                path.unlink()
        finally:
            os.close(descriptor)


def locked(descriptor: int, *, otherwise: bool) -> bool:
    """Lock a file without waiting; return whether that worked.

    `otherwise` is the answer on a system that can't lock files: there each writer begins a file.
    """
    from filelock import lock_descriptor

    try:
        return lock_descriptor(descriptor, blocking=False)
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        return otherwise


def is_sealed(status: os.stat_result) -> bool:
    """Return whether the writer of a file ended in order, so that another may continue it."""
    return not status.st_mode & stat.S_IWUSR


def is_unnoted(path: Path) -> bool:
    """Return whether a file may have records that nobody noted: its writer was killed at once."""
    try:
        began = dt.datetime.strptime(path.stem[:15], STARTED).replace(tzinfo=dt.UTC)
    except ValueError:
        return False
    return abs(path.stat().st_mtime - began.timestamp()) < UNNOTED_S
