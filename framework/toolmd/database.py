"""SQLite files for tools: safe for several threads and processes, with versioned schemas."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from toolmd.config.sqlite import create_store
from toolmd.errors import ConfigError

__all__ = ["WAIT_S", "Database"]

WAIT_S = 30.0
"""Seconds that a writer waits for another, in this process or the next."""


class Database:
    """One SQLite file, made where there is none, for its owner's eyes only.

    It is in WAL mode with foreign keys on, and rows can be asked by name. A connection belongs to
    one transaction: opening one costs some 100 µs, and nothing is shared.
    """

    def __init__(self, path: Path, migrations: Sequence[Sequence[str]]) -> None:
        """Open the file and bring it up to date.

        `migrations[n]` holds the statements that lead from version n of the file
        (`PRAGMA user_version`) to the next; add to the end, change none. Each file is brought up
        to date whole or not at all. Raises ConfigError for a file of a later version, which is
        not touched, and for a SQLite that is too old; UnreachableError for a file that was
        emptied.
        """
        create_store(path)
        self.path = path
        # While one connection is open SQLite keeps the log, which it would else fold into
        # the file at the end of every transaction.
        self._anchor = self._connect()
        try:
            self._anchor.execute("PRAGMA journal_mode = WAL")
            self._migrate(migrations)
        except BaseException:
            self._anchor.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Return a connection that sees one state of the file to the end."""
        with closing(self._connect()) as db:
            db.execute("BEGIN")
            yield db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Return the one writer's connection; an exception undoes everything."""
        with closing(self._connect()) as db, _whole(db):
            yield db

    def close(self) -> None:
        """Let go of the file."""
        self._anchor.close()

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(
            self.path, timeout=WAIT_S, isolation_level=None, check_same_thread=False
        )
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA foreign_keys = ON")
        return db

    def _migrate(self, migrations: Sequence[Sequence[str]]) -> None:
        with _whole(self._anchor) as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version > len(migrations):
                raise ConfigError(
                    f"{self.path} is of version {version}, later than this program's "
                    f"{len(migrations)}: update the program, or name another state folder"
                )
            for statements in migrations[version:]:
                for statement in statements:
                    db.execute(statement)
            db.execute(f"PRAGMA user_version = {len(migrations)}")


@contextmanager
def _whole(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
