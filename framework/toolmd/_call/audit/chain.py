"""Record each decision before its effect: append-only, each record chained to the one before."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from toolmd._call.audit.newest import SUFFIX, ChainMark, MarkFile
from toolmd._call.lock_retry import WAIT_S
from toolmd.config.sqlite import create_store
from toolmd.config.state_files import is_there

GENESIS = "0" * 64
AUDIT_FILE = "audit.sqlite3"
"""The name of the audit in the project's state folder."""
_MARKED = 1
"""The database's version once a mark of the newest record is kept next to it."""

_TABLES = """
CREATE TABLE IF NOT EXISTS decision (
    number INTEGER PRIMARY KEY, record TEXT NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS never_changed BEFORE UPDATE ON decision
BEGIN SELECT RAISE(ABORT, 'decisions are never changed'); END;
CREATE TRIGGER IF NOT EXISTS never_removed BEFORE DELETE ON decision
BEGIN SELECT RAISE(ABORT, 'decisions are never removed'); END;
"""


class Record(NamedTuple):
    """One record and its place in the chain."""

    number: int
    record: dict[str, Any]
    hash: str


class Audit:
    """The decision records of a project; safe for threads and processes at one time."""

    def __init__(self, path: Path, wait_s: float = WAIT_S) -> None:
        """Keep the records in `path`; wait `wait_s` seconds where another process has locked it."""
        self._path = path
        self._wait_s = wait_s
        self._lock = Lock()
        self._store: sqlite3.Connection | None = None
        self._inode = (0, 0)
        self._mark: MarkFile | None = None
        self._own: ChainMark | None = None
        """The last record of this process whose mark was written."""

    @staticmethod
    def is_kept(path: Path) -> bool:
        """Return whether there are records, or were."""
        return path.exists() or marked_in(path).exists()

    def append(self, record: Mapping[str, Any]) -> None:
        """Append a record. Raises sqlite3.Error or OSError where it can't be written."""
        text = json.dumps(record, separators=(",", ":"))
        with self._lock:
            store, mark = self._open()
            store.execute("BEGIN IMMEDIATE")
            try:
                last = _last(store)
                # A mark that does not fit stays: cut records must show later too.
                fits = last == self._own or _fits(mark.read(), last, store)
                number = last.number + 1
                added = ChainMark(number, chained(number, last.hash, text))
                row = (number, text, last.hash, added.hash)
                store.execute("INSERT INTO decision VALUES (?, ?, ?, ?)", row)
                store.execute("COMMIT")
            except BaseException:
                store.execute("ROLLBACK")
                raise
            self._own = None
            if fits:
                mark.move(added)
                self._own = added

    def decisions(self) -> Iterator[Record]:
        """Return the records, oldest first."""
        with self._lock:
            question = "SELECT number, record, hash FROM decision ORDER BY number"
            rows = self._open()[0].execute(question).fetchall()
        for number, text, digest in rows:
            yield Record(number, json.loads(text), digest)

    def latest(self, before: int, limit: int) -> list[Record]:
        """Return at most `limit` records below the number `before`, latest first."""
        with self._lock:
            question = (
                "SELECT number, record, hash FROM decision WHERE number < ?"
                " ORDER BY number DESC LIMIT ?"
            )
            rows = self._open()[0].execute(question, (before, limit)).fetchall()
        return [Record(number, json.loads(text), digest) for number, text, digest in rows]

    def verify(self) -> int | None:
        """Return the number of the first record that does not fit the chain; None where all fit.

        Where the newest records were cut off, or their mark is gone, it is the number of the first
        missing record.
        """
        with self._lock:
            store, kept = self._open()
            # Before the records: others may write meanwhile, and the mark must not be ahead.
            mark = kept.read()
            rows = store.execute("SELECT * FROM decision ORDER BY number").fetchall()
        expected = GENESIS
        for place, (number, text, previous, digest) in enumerate(rows, 1):
            if (number, previous) != (place, expected) or digest != chained(number, previous, text):
                return place
            if mark is not None and mark.number == place and mark.hash != digest:
                return place
            expected = digest
        return None if mark is not None and mark.number <= len(rows) else len(rows) + 1

    def count(self) -> int:
        """Return the number of records."""
        with self._lock:
            counted = self._open()[0].execute("SELECT count(*) FROM decision").fetchone()
        return int(counted[0])

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
        if self._mark is not None:
            self._mark.close()
        self._store = self._mark = self._own = None

    def _open(self) -> tuple[sqlite3.Connection, MarkFile]:
        create_store(self._path)
        is_there(marked_in(self._path))
        status = self._path.stat()
        if self._inode != (status.st_dev, status.st_ino):
            self._close()  # The open file is not the file at this path any more.
        if self._store is None or self._mark is None:
            store = sqlite3.connect(
                self._path, timeout=self._wait_s, isolation_level=None, check_same_thread=False
            )
            try:
                store.execute("PRAGMA journal_mode = WAL")
                store.execute("PRAGMA synchronous = NORMAL")
                store.executescript(_TABLES)
                self._mark = _open_mark(store, marked_in(self._path))
            except BaseException:
                store.close()
                raise
            self._store, self._inode = store, (status.st_dev, status.st_ino)
        return self._store, self._mark


def marked_in(path: Path) -> Path:
    """Return the path of the mark of an audit's newest record."""
    return path.with_suffix(SUFFIX)


def _open_mark(store: sqlite3.Connection, path: Path) -> MarkFile:
    """Open the mark of the newest record; create it for an audit that began without marks."""
    if store.execute("PRAGMA user_version").fetchone()[0] >= _MARKED:
        return MarkFile(path)
    store.execute("BEGIN IMMEDIATE")
    try:
        mark = MarkFile(path, _last(store))
        store.execute(f"PRAGMA user_version = {_MARKED}")
        store.execute("COMMIT")
    except BaseException:
        store.execute("ROLLBACK")
        raise
    return mark


def _last(store: sqlite3.Connection) -> ChainMark:
    question = "SELECT number, hash FROM decision ORDER BY number DESC LIMIT 1"
    last = store.execute(question).fetchone()
    return ChainMark(*last) if last else ChainMark(0, GENESIS)


def _fits(mark: ChainMark | None, last: ChainMark, store: sqlite3.Connection) -> bool:
    """Return whether a mark belongs to one of the records."""
    if mark is None or mark.number >= last.number:
        return mark == last
    question = "SELECT hash FROM decision WHERE number = ?"
    return mark.number == 0 or store.execute(question, (mark.number,)).fetchone() == (mark.hash,)


def chained(number: int, previous: str, text: str) -> str:
    """Return the hex sha256 of a record at its place in the chain."""
    return hashlib.sha256(f"{number}\n{previous}\n{text}".encode()).hexdigest()
