"""The database of a project's store: one SQLite file, or the memory of this process.

A package can bring another kind: an entry point of the group `toolmd.stores`, named after the
scheme of the setting `store` (`postgresql`), returns a `Database` for it.
"""

import datetime as dt
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.metadata import entry_points
from pathlib import Path
from threading import RLock
from typing import Any, Protocol

from toolmd._store import MEMORY, STORE_FILE, is_postgres
from toolmd._store.liveness import Locks
from toolmd._store.schema import TABLES, VERSION, other_release
from toolmd.config.sqlite import create_store
from toolmd.config.state_files import is_there
from toolmd.errors import NO_POSTGRES_DRIVER, ConfigError, UnreachableError

WAIT_S = 10.0
"""How long a locked database is waited for by default, in seconds."""
CLOSE_S = 2.0
"""How long closing waits for a transaction in progress, in seconds."""
GROUP = "toolmd.stores"
Row = tuple[Any, ...]


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

    spans_machines: bool
    """Whether several machines may share the store."""

    def write(
        self, lock: str = "", *, wait_s: float = WAIT_S, synced: bool = True
    ) -> AbstractContextManager[Transaction]:
        """Begin a transaction that writes; an exception rolls it back.

        Args:
            lock: What the transaction changes: no other one with this lock runs meanwhile.
            wait_s: How long a locked database is waited for, in seconds.
            synced: Whether the transaction survives a power cut, not only the process's end.
        """

    def read(self, *, wait_s: float = WAIT_S) -> AbstractContextManager[Transaction]:
        """Begin a transaction that reads one consistent state."""

    def workers(self) -> "Workers | None":
        """Return how processes that execute runs see each other; None where the store is own."""

    def close(self) -> None:
        """Close the database for good, after the transaction in progress."""


class Workers(Protocol):
    """The processes that execute the runs of a store, as one of them sees them; blocking."""

    own: str
    """The unique name of this process, never reused."""
    ahead: dt.timedelta
    """How far the store's clock is ahead of this machine's."""

    def live(self) -> None:
        """Show that this process is alive, before it accepts any work and then every second."""

    def dead(self) -> list[str]:
        """Return the names of processes that ended and are not evicted."""

    def known(self) -> dict[str, bool]:
        """Return for each process that is not evicted whether it is alive."""

    def evict(self, name: str) -> None:
        """Forget a dead process whose work was handed on."""

    def lives(self) -> bool:
        """Return whether others see this process as alive."""

    def end(self) -> None:
        """Let others look for what this process leaves."""


def open_database(store: str, state: Path) -> Database:
    """Return the database of the setting `store`; it opens with its first transaction.

    Args:
        store: `sqlite`, `memory`, or the URL of another kind.
        state: The state folder.

    Raises:
        ConfigError: The URL can't be read, or the package for it is missing.
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
        self._file = file
        self._writer = _Connection(self._connect)
        self._reader = self._writer if file is None else _Connection(self._connect)
        self._closed = False
        self._ready: tuple[int, int, int] | None = None
        """The process, device and inode of the file that has the tables."""

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

    @contextmanager
    def _transaction(
        self, connection: "_Connection", kind: str, wait_s: float, *, synced: bool = True
    ) -> Iterator[Transaction]:
        if not connection.lock.acquire(timeout=wait_s):
            raise UnreachableError(f"the store {self._name} is too busy to answer: try again")
        try:
            self._check_file()
            opened = connection.open(wait_s, synced=synced)
            opened.execute(f"BEGIN {kind}")
            try:
                yield opened
            except BaseException:
                with suppress(sqlite3.Error):
                    opened.execute("ROLLBACK")
                raise
            opened.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
                raise
            connection.roll_back()
            raise self._unreachable(error) from error
        finally:
            connection.lock.release()

    @property
    def _name(self) -> str:
        return "in memory" if self._file is None else str(self._file)

    def _check_file(self) -> None:
        """Open the file anew where another one is at its path: nobody would find the records."""
        if self._closed:
            raise UnreachableError("the store is closed: open the workspace again")
        if self._file is None or self._ready is None:
            return
        if not is_there(self._file) or self._ready != _identity(self._file):
            for connection in (self._writer, self._reader):
                connection.close()
            self._ready = None

    def _connect(self) -> sqlite3.Connection:
        if self._file is not None:
            create_store(self._file)
        db = sqlite3.connect(
            ":memory:" if self._file is None else self._file,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            if self._ready is None:
                db.execute(f"PRAGMA busy_timeout = {WAIT_S * 1000:.0f}")
                db.execute("PRAGMA journal_mode = WAL")
                self._create_tables(db)
                self._ready = (0, 0, 0) if self._file is None else _identity(self._file)
        except BaseException:
            db.close()
            raise
        return db

    def _create_tables(self, db: sqlite3.Connection) -> None:
        """Create the tables of a new file, all or none; several processes may do so at once."""
        if _version(db) == VERSION:
            return  # A reader does not wait for a writer.
        db.execute("BEGIN IMMEDIATE")
        try:
            found = _version(db)
            if found != VERSION:
                old = found or db.execute("SELECT 1 FROM sqlite_master").fetchone()
                if old:
                    raise ConfigError(other_release(self._name, found))
                for statement in TABLES.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def _unreachable(self, error: sqlite3.Error) -> UnreachableError:
        if "is locked" in str(error):
            return UnreachableError(
                f"{self._name} was locked by another program for too long; end what holds it, "
                f"then try again"
            )
        return UnreachableError(
            f"the store {self._name} can't be reached: {error}; `toolmd doctor` checks it"
        )


class _Connection:
    """One connection, opened when it is first used; its lock lets one thread use it."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self.lock = RLock()
        self._connect = connect
        self._db: sqlite3.Connection | None = None
        self._settings: tuple[float, bool] | None = None

    def open(self, wait_s: float, *, synced: bool) -> "_Connection":
        """Open it where it is closed, and set how long it waits and whether it waits for disk."""
        if self._db is None:
            self._db = self._connect()
            self._settings = None
        if self._settings != (wait_s, synced):
            self._db.execute(f"PRAGMA busy_timeout = {wait_s * 1000:.0f}")
            self._db.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
            self._settings = (wait_s, synced)
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
        """End a transaction that a failed COMMIT left open."""
        if self._db is not None and self._db.in_transaction:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection; the next use opens another one."""
        db, self._db = self._db, None
        if db is not None:
            db.close()


def _version(db: sqlite3.Connection) -> int:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return int(version)


def _identity(file: Path) -> tuple[int, int, int]:
    """Return the process and the file: a forked process must not use its parent's connections."""
    status = file.stat()
    return os.getpid(), status.st_dev, status.st_ino
