"""Create the files of a state folder whole, so that one without bytes has lost its records."""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from toolmd.errors import UnreachableError

LOCK = ".create.lock"
"""In each folder: held while a file is created there."""
_POLL_S = 0.005
"""Seconds between two tries for a lock."""
_creating = Lock()


class EmptiedError(UnreachableError, OSError):
    """A state file has no bytes: its records were cut off."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} was emptied (0 bytes), so its records are lost: restore it from a backup, "
            f"or remove it to begin without records"
        )


def is_there(path: Path) -> bool:
    """Return whether a state file is there; raises EmptiedError for one without bytes."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return False
    if not size:
        raise EmptiedError(path)
    return True


def create_file(path: Path, data: bytes, *, leftovers: Iterable[str] = ()) -> bool:
    """Create a state file with its first bytes; False where it is there already.

    `leftovers` are endings of names: such files of a removed file would damage the new one.

    Raises EmptiedError for one without bytes, OSError where it can't be written.
    """
    if is_there(path):
        return False
    try:
        # Threads of a process have a lock where the system has none for files.
        with _creating, locked(path.with_name(LOCK)):
            if is_there(path):
                return False
            for ending in leftovers:
                path.with_name(path.name + ending).unlink(missing_ok=True)
            replace_whole(path, data)
    except OSError as error:  # The names of the lock and the draft would not help the user.
        if not isinstance(error, EmptiedError):
            error.filename = str(path)
        raise
    return True


def replace_whole(path: Path, data: bytes) -> None:
    """Write a file in one step, readable by its owner only; the caller holds a lock.

    The draft has one name: the next writer overwrites the draft that a crash left.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            # Before the name: a power cut must leave no empty file under it.
            os.fsync(descriptor)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock this file against other processes and threads.

    On a system without file locks, the last writer wins.
    """
    from filelock import lock_descriptor

    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            lock_descriptor(descriptor, poll_interval=_POLL_S)
        except OSError as error:
            if error.errno != errno.ENOSYS:
                raise
        yield
    finally:
        os.close(descriptor)
