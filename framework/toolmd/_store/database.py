"""The database of a project's store: one SQLite file, or the memory of this process.

A package can bring another kind: an entry point of the group `toolmd.stores`, named after the
scheme of the setting `store` (`postgresql`), returns a `Database` for it.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.metadata import entry_points
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from toolmd._store import MEMORY, STORE_FILE, is_postgres
from toolmd._store.liveness import Locks, Workers
from toolmd.config.sqlite import create_store
from toolmd.config.state_files import EmptiedError
from toolmd.errors import NO_POSTGRES_DRIVER, ConfigError, UnreachableError

WAIT_S = 10.0
"""How long a locked database is waited for by default, in seconds."""
CLOSE_S = 2.0
"""How long closing waits for a transaction in progress, in seconds."""
GROUP = "toolmd.stores"
Row = tuple[Any, ...]


VERSION = 8
"""The version of the tables; it grows when an older release could not read or finish records."""
TABLES = """
CREATE TABLE confirmation (
    id TEXT PRIMARY KEY, tool TEXT NOT NULL, caller TEXT, host_call TEXT, same TEXT, state TEXT NOT NULL,
    created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION NOT NULL, data TEXT NOT NULL);
CREATE INDEX confirmation_host_call ON confirmation (host_call) WHERE host_call IS NOT NULL;
CREATE INDEX confirmation_same ON confirmation (same) WHERE state = 'pending';
CREATE INDEX confirmation_expires ON confirmation (expires);
CREATE INDEX confirmation_open ON confirmation (created, id)
    WHERE state IN ('pending', 'running');
CREATE TABLE tool_start (tool TEXT PRIMARY KEY, last DOUBLE PRECISION NOT NULL);
CREATE TABLE quota_use (
    name TEXT NOT NULL, part TEXT NOT NULL, at DOUBLE PRECISION NOT NULL, used TEXT NOT NULL,
    until DOUBLE PRECISION NOT NULL, PRIMARY KEY (name, part));
CREATE INDEX quota_use_until ON quota_use (until);
CREATE TABLE running_call (
    name TEXT PRIMARY KEY, tool TEXT NOT NULL, until DOUBLE PRECISION NOT NULL);
CREATE INDEX running_call_tool ON running_call (tool);
CREATE TABLE keyed_call (
    key TEXT PRIMARY KEY, began DOUBLE PRECISION NOT NULL, until DOUBLE PRECISION NOT NULL,
    result TEXT);
CREATE INDEX keyed_call_began ON keyed_call (began);
CREATE TABLE kept_result (
    handle TEXT PRIMARY KEY, owner TEXT NOT NULL, tool TEXT NOT NULL, data BLOB NOT NULL,
    until DOUBLE PRECISION NOT NULL);
CREATE INDEX kept_result_until ON kept_result (until);
CREATE TABLE policy_change (
    name TEXT NOT NULL, live TEXT NOT NULL, edit TEXT NOT NULL, spec TEXT NOT NULL,
    number BIGINT NOT NULL, accepted INTEGER NOT NULL, since DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (name, live, edit));
CREATE TABLE crisis (
    conversation TEXT NOT NULL, caller TEXT NOT NULL, since DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (conversation, caller));
CREATE TABLE user_message (
    conversation TEXT NOT NULL, caller TEXT NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL, used_by TEXT, PRIMARY KEY (conversation, caller, number));
CREATE INDEX user_message_at ON user_message (at);
CREATE TABLE audit_head (
    file TEXT PRIMARY KEY, place TEXT NOT NULL, number BIGINT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE remote_tool (
    server TEXT NOT NULL, tool TEXT NOT NULL, accepted TEXT NOT NULL, seen TEXT NOT NULL,
    PRIMARY KEY (server, tool));
CREATE TABLE secret (id INTEGER PRIMARY KEY, secret TEXT NOT NULL);
CREATE TABLE plan (hash TEXT PRIMARY KEY, plan TEXT NOT NULL, kept DOUBLE PRECISION NOT NULL);
CREATE TABLE run (
    id TEXT PRIMARY KEY, skill TEXT NOT NULL, plan TEXT NOT NULL, inputs TEXT NOT NULL,
    caller TEXT NOT NULL, confidence DOUBLE PRECISION, began TEXT NOT NULL, state TEXT NOT NULL,
    owner TEXT, tried INTEGER NOT NULL, cancelled INTEGER NOT NULL, ended TEXT, result TEXT);
CREATE INDEX run_began ON run (began, id);
CREATE INDEX run_unfinished ON run (state, owner) WHERE result IS NULL;
CREATE INDEX run_ended ON run (ended) WHERE ended IS NOT NULL;
CREATE TABLE step (
    run TEXT NOT NULL, number INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    at TEXT NOT NULL, PRIMARY KEY (run, key));
CREATE TABLE question (
    run TEXT NOT NULL, key TEXT NOT NULL, question TEXT NOT NULL, opened DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION, answer TEXT, answered TEXT, PRIMARY KEY (run, key));
CREATE INDEX question_open ON question (opened, run, key) WHERE answer IS NULL;
CREATE INDEX question_timed ON question (expires) WHERE answer IS NULL AND expires IS NOT NULL;
CREATE TABLE schedule (skill TEXT PRIMARY KEY, schedule TEXT NOT NULL, tick DOUBLE PRECISION NOT NULL);
"""  # noqa: E501 - one table after the other reads best


def other_release(name: str, version: int) -> str:
    """Return the message for records of a release that this one can't read."""
    other = "a newer" if version > VERSION else "an older"
    return (
        f"the records in {name} were stored by {other} release of Toolmd (tables of version "
        f"{version}; this one supports {VERSION}): use that release, or another state folder or "
        f"database"
    )


class Transaction(Protocol):
    """An open transaction. Its statements have `?` for each value, in SQL that all stores know."""

    def execute(self, statement: str, *values: Any) -> list[Row]:
        """Execute a statement and return its rows."""

    def change(self, statement: str, *values: Any) -> int:
        """Execute a statement and return how many rows it changed."""

    def insert(self, statement: str, rows: Sequence[Row]) -> None:
        """Execute a statement once for each row of values."""

    def now(self, here: float) -> float:
        """Return the store's time in seconds since the epoch; `here` is this machine's."""


class Database(Protocol):
    """The tables of a store; blocking, and safe for threads and processes.

    Each method raises UnreachableError, which names the store and the remedy, and ConfigError.
    """

    name: str
    """The file, or the URL without its password, for messages."""
    spans_machines: bool
    """Whether several machines may share the store."""

    def write(
        self, lock: str = "", *, wait_s: float = WAIT_S, synced: bool = True
    ) -> AbstractContextManager[Transaction]:
        """Begin a transaction that writes; an exception rolls it back.

        No other one with the same `lock` runs meanwhile. A locked database is waited for `wait_s`
        seconds. With `synced` the transaction survives a power cut, too.
        """

    def read(self, *, wait_s: float = WAIT_S) -> AbstractContextManager[Transaction]:
        """Begin a transaction that reads one consistent state."""

    def workers(self) -> Workers | None:
        """Return how processes that execute runs see each other; None where the store is own."""

    def close(self) -> None:
        """Close the database for good, after the transaction in progress."""


def open_database(store: str, state: Path) -> Database:
    """Return the database of the setting `store`; it opens with its first transaction.

    Raises ConfigError where the URL can't be read, or the package for it is missing.
    """
    if store == MEMORY:
        return SqliteDatabase(None)
    if "://" not in store:
        return SqliteDatabase(state / STORE_FILE)
    scheme = "postgresql" if is_postgres(store) else store.partition(":")[0]
    for point in entry_points(group=GROUP, name=scheme):
        try:
            opened: Database = point.load()(store)
        except ImportError as error:
            raise ConfigError(f"store: {NO_POSTGRES_DRIVER}") from error
        return opened
    raise ConfigError(f"store: no installed package opens {scheme}:// stores")


class SqliteDatabase:
    """A store on the standard library's SQLite: a file, or the memory of this process.

    The process has one connection that writes, and for a file another one that reads, so that
    readers never wait for writers.
    """

    spans_machines = False

    def __init__(self, file: Path | None) -> None:
        """Keep the file; None keeps the records in memory."""
        self.name = "in memory" if file is None else str(file)
        self._file = file
        self._writer = _Connection(self._connect)
        self._reader = self._writer if file is None else _Connection(self._connect)
        self._closed = False
        self._process = os.getpid()
        self._opened: tuple[int, int] | None = None
        """The device and inode of the file that has the tables."""

    @contextmanager
    def write(
        self, lock: str = "", *, wait_s: float = WAIT_S, synced: bool = True
    ) -> Iterator[Transaction]:
        """Begin a transaction that writes; see Database."""
        del lock  # Of all processes, one writes.
        with self._transaction(self._writer, "IMMEDIATE", wait_s, synced=synced) as opened:
            yield opened

    @contextmanager
    def read(self, *, wait_s: float = WAIT_S) -> Iterator[Transaction]:
        """Begin a transaction that reads one consistent state."""
        with self._transaction(self._reader, "DEFERRED", wait_s) as opened:
            yield opened

    def workers(self) -> Workers | None:
        """Return how processes see each other, by locked files; None in memory."""
        return None if self._file is None else Locks(self._file.parent / "workers")

    def close(self) -> None:
        """Close the file for good, after the transaction in progress."""
        self._closed = True
        for connection in {self._writer, self._reader}:
            if connection.lock.acquire(timeout=CLOSE_S):
                connection.close()
                connection.lock.release()

    def _connect(self, wait_s: float) -> sqlite3.Connection:
        """Open a connection to the file, which has its tables then."""
        if self._file is not None:
            create_store(self._file)
        db = sqlite3.connect(
            ":memory:" if self._file is None else self._file,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            if self._opened is None:
                db.execute(f"PRAGMA busy_timeout = {wait_s * 1000:.0f}")
                db.execute("PRAGMA journal_mode = WAL")
                self._create_tables(db)
                self._opened = self._identity()
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _transaction(
        self, connection: "_Connection", kind: str, wait_s: float, *, synced: bool = True
    ) -> Iterator[Transaction]:
        if os.getpid() != self._process:
            # SQLite must not be used over a fork, and of two memories both might run a call.
            raise UnreachableError("this process was forked: open the workspace in each process")
        if not connection.lock.acquire(timeout=wait_s):
            raise UnreachableError(f"the store {self.name} is too busy to answer: try again")
        try:
            if self._closed:
                raise UnreachableError("the store is closed: open the workspace again")
            # Records in a file that is not at its path any more would be found by nobody.
            if self._opened not in {None, self._identity()}:
                raise UnreachableError(
                    f"{self.name} was removed or replaced while this process uses it: restart "
                    f"the process; to keep earlier records, restore the file first"
                )
            opened = connection.open(wait_s, synced=synced)
            opened.execute(f"BEGIN {kind}")
            yield opened
            opened.execute("COMMIT")
        except (EmptiedError, sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise
        except (sqlite3.DatabaseError, OSError) as error:
            raise self._unreachable(error) from error
        finally:
            try:
                connection.roll_back()
            finally:
                connection.lock.release()

    def _identity(self) -> tuple[int, int] | None:
        """Return which file is there, None for none. Raises EmptiedError for one without bytes."""
        if self._file is None:
            return (0, 0)
        try:
            status = self._file.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        if not status.st_size:
            raise EmptiedError(self._file)
        return status.st_dev, status.st_ino

    def _create_tables(self, db: sqlite3.Connection) -> None:
        """Create the tables of a new file, all or none; several processes may do so at once."""
        if self._is_empty(db):  # A reader does not wait for a writer.
            db.execute("BEGIN IMMEDIATE")
            if self._is_empty(db):
                for statement in TABLES.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute("COMMIT")

    def _is_empty(self, db: sqlite3.Connection) -> bool:
        """Return whether there are no tables. Raises ConfigError for those of another release."""
        state = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
        ((version, tables),) = db.execute(state)
        if version != VERSION and (version or tables):
            raise ConfigError(other_release(self.name, version))
        return not version

    def _unreachable(self, error: sqlite3.Error | OSError) -> UnreachableError:
        why = f"can't be reached: {error}"
        if isinstance(error, FileExistsError | NotADirectoryError):
            why = "can't be written: a file is in the place of a folder, move it away"
        elif isinstance(error, OSError):
            why = f"can't be written: {error.strerror or type(error).__name__}"
        elif "is locked" in str(error):
            why = "was locked by another program for too long; end what holds it, then try again"
        return UnreachableError(f"the store {self.name} {why}; `toolmd doctor` checks it")


class _Connection:
    """One connection, opened when it is first used; its lock lets one thread use it."""

    def __init__(self, connect: Callable[[float], sqlite3.Connection]) -> None:
        self.lock = Lock()
        self._connect = connect
        self._db: sqlite3.Connection | None = None

    def open(self, wait_s: float, *, synced: bool) -> "_Connection":
        """Open it where it is closed, and set how long it waits and whether it waits for disk."""
        if self._db is None:
            self._db = self._connect(wait_s)
        self._db.execute(f"PRAGMA busy_timeout = {wait_s * 1000:.0f}")
        self._db.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
        return self

    def execute(self, statement: str, *values: Any) -> list[Row]:
        """Execute a statement and return its rows."""
        assert self._db is not None
        return self._db.execute(statement, values).fetchall()

    def change(self, statement: str, *values: Any) -> int:
        """Execute a statement and return how many rows it changed."""
        assert self._db is not None
        return self._db.execute(statement, values).rowcount

    def insert(self, statement: str, rows: Sequence[Row]) -> None:
        """Execute a statement once for each row of values."""
        assert self._db is not None
        self._db.executemany(statement, rows)

    def now(self, here: float) -> float:
        """Return this machine's time."""
        return here

    def roll_back(self) -> None:
        """End a transaction that was not committed."""
        if self._db is not None and self._db.in_transaction:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection; the next use opens another one."""
        db, self._db = self._db, None
        if db is not None:
            db.close()
