"""Append decision records to a file of this writer, whose lines form a chain of hashes.

Each line contains its own hash, which includes the hash before it. A thread keeps the files.
"""

import datetime as dt
import errno
import hashlib
import json
import logging
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Condition, Lock, Thread
from typing import Any, BinaryIO, NamedTuple
from weakref import WeakSet, finalize

from toolmd._store.records import HeadStore
from toolmd._store.store import Store
from toolmd._types.settings import Settings
from toolmd._types.stored import ChainLine
from toolmd.config import state_folder
from toolmd.config.state_files import create_file, is_there
from toolmd.errors import logged

SUFFIX = ".jsonl"
STARTED = "%Y%m%dT%H%M%S"
"""The format of the UTC time with which the name of a file begins."""
MAX_LINE = 1024 * 1024
"""The bytes of the longest line that a reader accepts; records are far shorter."""
_BLOCK = 16 * 1024
_START = b'{"hash":"'
_SHA256 = hashlib.sha256()
"""Copied for each line: to look the function up takes longer than to hash a line."""
_DIGITS = 64
_NUMBER_DIGITS = 20
_BODY = len(_START) + _DIGITS + 2
"""Where the part of a line begins that is hashed, after the hash and `",`."""


class Record(NamedTuple):
    """One record, its file's name, and its place in the file's chain."""

    file: str
    number: int
    record: dict[str, Any]
    hash: str

    @property
    def id(self) -> str:
        """The id of the record in its project: `FILE:NUMBER`."""
        return f"{self.file}:{self.number}"

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON, for people and other systems."""
        place = {"id": self.id, "number": self.number, "file": self.file}
        return {**place, **self.record, "hash": self.hash}


class DamagedError(ValueError):
    """A line of an audit file is no record."""


def beginning(name: str) -> ChainLine:
    """Return what the first line of the file with this name follows."""
    return ChainLine(-1, hashlib.sha256(name.encode()).hexdigest())


def next_line(last: ChainLine, record: str) -> tuple[bytes, ChainLine]:
    """Return the line of a record, a JSON object, and the new end of the chain."""
    number = last.number + 1
    body = f'"number":{number},{record[1:]}\n'
    hashed = _SHA256.copy()
    hashed.update(f"{last.hash}{body}".encode())
    digest = hashed.hexdigest()
    return f'{{"hash":"{digest}",{body}'.encode(), ChainLine(number, digest)


def follows(last: ChainLine, line: bytes) -> ChainLine | None:
    """Return the end of the chain with this line; None where the line does not fit behind it."""
    number, body = last.number + 1, line[_BODY:]
    if not body.startswith(b'"number":%d,' % number):
        return None
    digest = hashlib.sha256(last.hash.encode("ascii") + body).hexdigest()
    fits = line[:_BODY] == b'%s%s",' % (_START, digest.encode("ascii"))
    return ChainLine(number, digest) if fits else None


def place_of(line: bytes) -> ChainLine | None:
    """Return the number and hash that a line states; None where it states none."""
    number, comma, _ = line[_BODY:].removeprefix(b'"number":').partition(b",")
    digest = line[len(_START) : len(_START) + _DIGITS].decode("ascii", "replace")
    # So many digits are no number of a record; Python can't read thousands.
    plausible = comma and number.isdigit() and len(number) < _NUMBER_DIGITS
    return ChainLine(int(number), digest) if plausible else None


def parsed(file: str, line: bytes) -> Record:
    """Return the record of a line, which may have been changed. Raises DamagedError."""
    try:
        record = json.loads(line)
        number, digest = record.pop("number"), record.pop("hash")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedError(f"{file}: a line is no record: {error}") from error
    if not isinstance(number, int) or not isinstance(digest, str):
        raise DamagedError(f"{file}: a line has no number or hash")
    return Record(file, number, record, digest)


def lines(file: BinaryIO) -> Iterator[bytes]:
    """Return the whole lines of a file, with their ends; an unfinished last one is left out.

    Raises DamagedError for a line that is too long.
    """
    while line := file.readline(MAX_LINE):
        if not line.endswith(b"\n"):
            if len(line) < MAX_LINE:
                return
            raise DamagedError(f"{file.name}: a line has more than {MAX_LINE} bytes")
        yield line


def lines_backward(file: BinaryIO) -> Iterator[bytes]:
    """Return the whole lines of a file, with their ends, the last one first."""
    place, rest, ended = file.seek(0, 2), b"", False
    while place > 0:
        size = min(_BLOCK, place)
        place -= size
        file.seek(place)
        first, *others = (file.read(size) + rest).split(b"\n")
        for line in reversed(others):
            # What stands behind the last end of a line is not a whole line.
            if ended:
                yield line + b"\n"
            ended = True
        rest = first
        if len(rest) >= MAX_LINE:
            raise DamagedError(f"{file.name}: a line has more than {MAX_LINE} bytes")
    if ended:
        yield rest + b"\n"


def files_in(folder: Path) -> list[Path]:
    """Return the files of an audit, the oldest first."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == SUFFIX)
    except FileNotFoundError:
        return []


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
            if try_lock(descriptor):
                if self._heads is not None:
                    self._heads().forget(path.stem)
                path.unlink()
        finally:
            os.close(descriptor)


def try_lock(descriptor: int) -> bool:
    """Lock a file without waiting; return whether that worked."""
    from filelock import lock_descriptor

    return lock_descriptor(descriptor, blocking=False)


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
            if try_lock(file):
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
