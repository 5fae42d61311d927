"""Open the review's file and run its transactions."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from toolmark_litreview.schema import migrate

WAIT_S = 30.0
"""How long a writer waits for another, in this process or the next."""


class Database:
    """One SQLite file in WAL mode, readable by its owner only; a connection a transaction."""

    def __init__(self, path: Path) -> None:
        path.touch(mode=0o600)
        self.path = path
        # While one connection is open SQLite keeps its log, instead of folding it into the file
        # at the end of every transaction.
        self._anchor = self._connect()
        self._anchor.execute("PRAGMA journal_mode = WAL")
        migrate(self._anchor)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that sees one state of the file to the end."""
        with closing(self._connect()) as db:
            db.execute("BEGIN")
            yield db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the one writer's connection; an exception undoes everything."""
        with closing(self._connect()) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        self._anchor.close()

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(
            self.path, timeout=WAIT_S, isolation_level=None, check_same_thread=False
        )
        db.row_factory = sqlite3.Row
        return db
