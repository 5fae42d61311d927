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
from threading import Lock
from typing import Any, Protocol
from weakref import WeakSet

from toolmd._store import MEMORY, STORE_FILE, is_postgres
from toolmd._store.liveness import Locks
from toolmd._store.schema import TABLES, VERSION, other_release
from toolmd.config.sqlite import create_store
from toolmd.config.state_files import EmptiedError
from toolmd.errors import NO_POSTGRES_DRIVER, ConfigError, UnreachableError

WAIT_S = 10.0
"""How long a locked database is waited for by default, in seconds."""
CLOSE_S = 2.0
"""How long closing waits for a transaction in progress, in seconds."""
GROUP = "toolmd.stores"
Row = tuple[Any, ...]
Identity = tuple[int, int] | None
"""The device and inode of a file; None where none is there."""
IN_MEMORY: Identity = (0, 0)


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
        self.name = "in memory" if file is None else str(file)
        self._file = file
        self._writer = _Connection(self._connect)
        self._reader = self._writer if file is None else _Connection(self._connect)
        self._closed = False
        self._ready: Identity = None
        """The file that has the tables."""

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
            raise UnreachableError(f"the store {self.name} is too busy to answer: try again")
        try:
            self._check(connection)
            opened = connection.open(wait_s, synced=synced)
            opened.execute(f"BEGIN {kind}")
            yield opened
            opened.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
                raise
            raise self._unreachable(error) from error
        finally:
            try:
                connection.roll_back()
            finally:
                connection.lock.release()

    def _check(self, connection: "_Connection") -> None:
        """Open the file again where another one is at its path: nobody would find the records."""
        if self._closed:
            raise UnreachableError("the store is closed: open the workspace again")
        there = _identity(self._file)
        if there is None and self._ready is not None:
            # A new file in its place would have the log of the old one.
            raise UnreachableError(
                f"{self.name} was removed while this process uses it: restart the process, which "
                f"begins without earlier records; to keep them, restore the file first"
            )
        if connection.is_open and connection.file != there:
            connection.close()

    def _connect(self, wait_s: float) -> tuple[sqlite3.Connection, Identity]:
        """Return a connection to the file with its tables, and the file's identity."""
        if self._file is not None:
            _create(self._file)
        db = sqlite3.connect(
            ":memory:" if self._file is None else self._file,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            identity = _identity(self._file)
            if self._file is None or self._ready != identity:
                db.execute(f"PRAGMA busy_timeout = {wait_s * 1000:.0f}")
                db.execute("PRAGMA journal_mode = WAL")
                self._create_tables(db)
                self._ready = identity
        except BaseException:
            db.close()
            raise
        return db, identity

    def _create_tables(self, db: sqlite3.Connection) -> None:
        """Create the tables of a new file, all or none; several processes may do so at once."""
        if self._has_tables(db):
            return  # A reader does not wait for a writer.
        db.execute("BEGIN IMMEDIATE")
        try:
            if not self._has_tables(db):
                for statement in TABLES.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def _has_tables(self, db: sqlite3.Connection) -> bool:
        """Return whether the tables are there. Raises ConfigError for those of another release."""
        ((version,),) = db.execute("PRAGMA user_version")
        is_empty = not version and not db.execute("SELECT 1 FROM sqlite_master").fetchone()
        if version != VERSION and not is_empty:
            raise ConfigError(other_release(self.name, version))
        return not is_empty

    def _unreachable(self, error: sqlite3.Error) -> UnreachableError:
        if "is locked" in str(error):
            return UnreachableError(
                f"{self.name} was locked by another program for too long; end what holds it, "
                f"then try again"
            )
        return UnreachableError(
            f"the store {self.name} can't be reached: {error}; `toolmd doctor` checks it"
        )


class _Connection:
    """One connection, opened when it is first used; its lock lets one thread use it."""

    def __init__(self, connect: Callable[[float], tuple[sqlite3.Connection, Identity]]) -> None:
        self.lock = Lock()
        self.is_held = False
        """Whether a fork in progress holds the lock."""
        self._connect = connect
        self.file: Identity = None
        """The open file."""
        self._db: sqlite3.Connection | None = None
        self._settings: tuple[float, bool] | None = None
        _connections.add(self)

    @property
    def is_open(self) -> bool:
        """Return whether it is open."""
        return self._db is not None

    def open(self, wait_s: float, *, synced: bool) -> "_Connection":
        """Open it where it is closed, and set how long it waits and whether it waits for disk."""
        if self._db is None:
            self._db, self.file = self._connect(wait_s)
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
        """End a transaction that was not committed."""
        if self._db is not None and self._db.in_transaction:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection; the next use opens another one."""
        db, self._db = self._db, None
        if db is not None:
            db.close()

    def abandon(self) -> None:
        """Begin again in a forked process, without a connection of its parent."""
        self.lock = Lock()
        if self._db is not None:
            _abandoned.append(self._db)
            self._db = None


_connections: WeakSet[_Connection] = WeakSet()
_abandoned: list[sqlite3.Connection] = []
"""The connections of the parent, in a forked process: closing one could end the parent's locks."""


def _begin_fork() -> None:
    """Wait for transactions, and close the files: SQLite must not find one open in the child."""
    for one in list(_connections):
        one.is_held = one.lock.acquire(timeout=CLOSE_S)
        if one.is_held and one.file != IN_MEMORY:
            one.close()


def _end_fork(*, child: bool) -> None:
    """Go on; the memory stays the parent's, as else both might run an approved call."""
    for one in list(_connections):
        if one.is_held:
            one.lock.release()
        if child:
            one.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_begin_fork,
        after_in_parent=lambda: _end_fork(child=False),
        after_in_child=lambda: _end_fork(child=True),
    )


def _create(file: Path) -> None:
    """Create the file where it is missing. Raises UnreachableError, and EmptiedError."""
    try:
        create_store(file)
    except EmptiedError:
        raise
    except OSError as error:
        why = error.strerror or type(error).__name__
        if isinstance(error, FileExistsError | NotADirectoryError):
            why = "a file is in the place of a folder: move it away"
        raise UnreachableError(
            f"the store {file} can't be written: {why}; `toolmd doctor` checks it"
        ) from error


def _identity(file: Path | None) -> Identity:
    """Return which file is there. Raises EmptiedError for one without bytes."""
    if file is None:
        return IN_MEMORY
    try:
        status = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not status.st_size:
        raise EmptiedError(file)
    return status.st_dev, status.st_ino
