"""Record each decision before its effect: append-only, each record chained to the one before."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from toolmark.config import state_folder

GENESIS = "0" * 64
AUDIT_FILE = "audit.sqlite3"
"""Its name in the project's state folder."""

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

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._store: sqlite3.Connection | None = None

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a record; raises sqlite3.Error or OSError where it can't be written."""
        text = json.dumps(record, separators=(",", ":"))
        with self._lock:
            store = self._open()
            store.execute("BEGIN IMMEDIATE")
            try:
                last = store.execute(
                    "SELECT number, hash FROM decision ORDER BY number DESC LIMIT 1"
                ).fetchone()
                number, previous = (last[0] + 1, last[1]) if last else (1, GENESIS)
                row = (number, text, previous, chained(number, previous, text))
                store.execute("INSERT INTO decision VALUES (?, ?, ?, ?)", row)
                store.execute("COMMIT")
            except BaseException:
                store.execute("ROLLBACK")
                raise

    def decisions(self) -> Iterator[Record]:
        """Give the records, the oldest first."""
        with self._lock:
            question = "SELECT number, record, hash FROM decision ORDER BY number"
            rows = self._open().execute(question).fetchall()
        for number, text, digest in rows:
            yield Record(number, json.loads(text), digest)

    def latest(self, before: int, limit: int) -> list[Record]:
        """Give at most `limit` records below the number `before`, the latest first."""
        with self._lock:
            question = (
                "SELECT number, record, hash FROM decision WHERE number < ?"
                " ORDER BY number DESC LIMIT ?"
            )
            rows = self._open().execute(question, (before, limit)).fetchall()
        return [Record(number, json.loads(text), digest) for number, text, digest in rows]

    def verify(self) -> int | None:
        """Give the number of the first record that does not fit the chain; None where all do.

        That the newest records were cut off shows only to who has kept a later hash.
        """
        with self._lock:
            rows = self._open().execute("SELECT * FROM decision ORDER BY number").fetchall()
        expected = GENESIS
        for place, (number, text, previous, digest) in enumerate(rows, 1):
            if (number, previous) != (place, expected) or digest != chained(number, previous, text):
                return place
            expected = digest
        return None

    def count(self) -> int:
        """Give how many records there are."""
        with self._lock:
            counted = self._open().execute("SELECT count(*) FROM decision").fetchone()
        return int(counted[0])

    def close(self) -> None:
        """Close the store."""
        with self._lock:
            if self._store is not None:
                self._store.close()
                self._store = None

    def _open(self) -> sqlite3.Connection:
        if self._store is None:
            state_folder(self._path.parent)
            self._path.touch(mode=0o600)
            store = sqlite3.connect(
                self._path, timeout=10, isolation_level=None, check_same_thread=False
            )
            store.execute("PRAGMA journal_mode = WAL")
            store.execute("PRAGMA synchronous = NORMAL")
            store.executescript(_TABLES)
            self._store = store
        return self._store


def chained(number: int, previous: str, text: str) -> str:
    """Give the hex sha256 of a record at its place in the chain."""
    return hashlib.sha256(f"{number}\n{previous}\n{text}".encode()).hexdigest()
