"""SQLite files for tools: safe for several threads and processes, with versioned schemas."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from toolmd.config.sqlite import create_store
from toolmd.errors import ConfigError

__all__ = ["WAIT_S", "Database"]

WAIT_S = 30.0
"""The seconds that a writer waits for another writer, in this or another process."""


class Database:
    """One SQLite file, created if it is missing, that only its owner can read.

    It uses WAL mode and foreign keys; rows are accessible by column name. Each transaction opens
    its own connection, which costs about 100 µs.
    """

    def __init__(self, path: Path, migrations: Sequence[Sequence[str]]) -> None:
        """Open the file and run its missing migrations, all or none.

        Args:
            path: The file.
            migrations: `migrations[n]` contains the statements from version n of the file
                (`PRAGMA user_version`) to the next, as a list or as one script. Append new ones;
                never change old ones.

        Raises:
            ConfigError: The file has a later version, and stays unchanged, or SQLite is too old.
            UnreachableError: The file was emptied.
        """
        create_store(path)
        self.path = path
        # One open connection keeps the write-ahead log; otherwise SQLite would checkpoint it at
        # the end of every transaction.
        self._anchor = self._connect()
        try:
            self._anchor.execute("PRAGMA journal_mode = WAL")
            self._migrate(migrations)
        except BaseException:
            self._anchor.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a connection that reads one consistent state of the file."""
        with closing(self._connect()) as db:
            db.execute("BEGIN")
            yield db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open the only write connection; an exception rolls the transaction back."""
        with closing(self._connect()) as db, _whole(db):
            yield db

    def close(self) -> None:
        """Close the file."""
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
            for migration in migrations[version:]:
                for statement in _split(migration) if isinstance(migration, str) else migration:
                    db.execute(statement)
            db.execute(f"PRAGMA user_version = {len(migrations)}")


def _split(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    yield statement


@contextmanager
def _whole(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
