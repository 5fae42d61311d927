"""A store on Postgres: the same tables and statements as on SQLite, for several machines."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from threading import Condition
from typing import Any, NoReturn
from weakref import WeakSet

import psycopg
from psycopg.conninfo import conninfo_to_dict

from toolmd._fleet.heartbeat import Heartbeat
from toolmd._store.database import CLOSE_S, TABLES, VERSION, WAIT_S, Row, Transaction, other_release
from toolmd._store.liveness import Workers
from toolmd.errors import ConfigError, UnreachableError

SCHEMA = "toolmd"
"""The schema of the tables."""
CONNECTIONS = 20
"""The most connections of a process."""
CONNECT_S = 5
"""How long a server may take to answer, in seconds."""
IDLE_MS = 5_000
"""How long a process may be idle within a transaction, in milliseconds: a frozen process must
release its locks before its runs are taken over."""
_EXAMPLE = "postgresql://user@127.0.0.1:5432/name"
_CLIENT_TCP: dict[str, Any] = {
    # A cut connection is noticed within half a minute, not after hours.
    "connect_timeout": CONNECT_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
_SESSION: dict[str, object] = {
    # The server ends the session of a lost machine, and so releases its locks, as soon.
    "tcp_keepalives_idle": 10,
    "tcp_keepalives_interval": 5,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 25_000,
    "idle_in_transaction_session_timeout": IDLE_MS,
    "search_path": SCHEMA,
}
_EARLIER = 3
"""The last version whose tables had names of their own."""
_CREATING = 7461706
"""The advisory lock of the process that creates the tables."""


class PostgresDatabase:
    """A store on Postgres; see `toolmd._store.database.Database`."""

    spans_machines = True

    def __init__(self, url: str) -> None:
        """Keep the URL. Raises ConfigError for one that can't be read, or of a unix socket."""
        self._url = _check(url)
        self.name = hide_password(url)
        """The URL without its password, for messages."""
        self._changed = Condition()
        self._idle: list[psycopg.Connection[Row]] = []
        self._used = 0
        self._closed = False
        self._has_tables = False
        _databases.add(self)

    @contextmanager
    def write(
        self, lock: str = "", *, wait_s: float = WAIT_S, synced: bool = True
    ) -> Iterator[Transaction]:
        """Begin a transaction that writes; see Database."""
        begin = [f"SET LOCAL lock_timeout = {wait_s * 1000:.0f}"]
        if not synced:
            begin.append("SET LOCAL synchronous_commit = off")
        with self._transaction(wait_s, begin, lock) as opened:
            yield opened

    @contextmanager
    def read(self, *, wait_s: float = WAIT_S) -> Iterator[Transaction]:
        """Begin a transaction that reads one consistent state."""
        with self._transaction(wait_s, ["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"]) as one:
            yield one

    def workers(self) -> Workers:
        """Return how processes see each other, by their heartbeats."""
        return Heartbeat(self, self.connect)

    def close(self) -> None:
        """Close the connections for good, after the transactions in progress."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._used, CLOSE_S)
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def start_over(self) -> None:
        """Begin without connections in a forked process: its parent uses them."""
        _abandoned.extend(self._idle)
        self._changed, self._idle, self._used = Condition(), [], 0

    def connect(self) -> psycopg.Connection[Row]:
        """Open a connection of its own, in autocommit mode."""
        own = {name: value for name, value in _CLIENT_TCP.items() if name not in self._url}
        try:
            connection = psycopg.connect(
                **{**self._url, **own}, autocommit=True, cursor_factory=psycopg.ClientCursor
            )
            try:
                settings = (f"SET {name} = {value}" for name, value in _SESSION.items())
                connection.execute("; ".join(settings))
            except BaseException:
                connection.close()
                raise
        except psycopg.Error as error:
            self.fail(error)
        return connection

    def fail(self, error: psycopg.Error) -> NoReturn:
        """Raise UnreachableError for a fault of the server."""
        reason = str(error).strip().splitlines() or [type(error).__name__]
        if isinstance(error, psycopg.errors.LockNotAvailable):
            message = (
                f"{self.name} was locked by another program for too long; end what holds it, "
                f"then try again"
            )
        else:
            message = (
                f"the store {self.name} can't be reached: {reason[0]}; `toolmd doctor` checks it"
            )
        raise UnreachableError(message) from error

    @contextmanager
    def _transaction(
        self, wait_s: float, begin: Sequence[str], lock: str = ""
    ) -> Iterator[Transaction]:
        connection = self._take(wait_s)
        try:
            if not self._has_tables:
                self._create_tables(connection, wait_s)
            begins = "; ".join(["BEGIN", *begin])
            try:
                connection.execute(begins)
            except psycopg.OperationalError:
                if not connection.closed:
                    raise
                # The server ended the session since its last use.
                connection = self.connect()
                connection.execute(begins)
            try:
                opened = _Transaction(connection)
                if lock:
                    opened.lock(lock)
                yield opened
            except BaseException:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        except psycopg.Error as error:
            ours = isinstance(error, psycopg.IntegrityError | psycopg.ProgrammingError)
            if ours and not isinstance(error, psycopg.errors.InsufficientPrivilege):
                raise
            self.fail(error)
        finally:
            self._give_back(connection)

    def _take(self, wait_s: float) -> psycopg.Connection[Row]:
        with self._changed:
            if self._closed:
                raise UnreachableError("the store is closed: open the workspace again")
            if not self._changed.wait_for(lambda: self._used < CONNECTIONS, wait_s):
                raise UnreachableError("the store is too busy to answer: try again")
            self._used += 1
            if self._idle:
                return self._idle.pop()
        try:
            return self.connect()
        except BaseException:
            with self._changed:
                self._used -= 1
                self._changed.notify()
            raise

    def _give_back(self, connection: psycopg.Connection[Row]) -> None:
        with self._changed:
            self._used -= 1
            keeps = not (connection.closed or self._closed)
            if keeps:
                self._idle.append(connection)
            self._changed.notify_all()
        if not keeps:
            connection.close()

    def _create_tables(self, connection: psycopg.Connection[Row], wait_s: float) -> None:
        """Create missing tables, all or none; several processes may do so at once."""
        if _version(connection) != VERSION:
            with connection.transaction():
                connection.execute(f"SET LOCAL lock_timeout = {wait_s * 1000:.0f}")
                connection.execute("SELECT pg_advisory_xact_lock(%s)", [_CREATING])
                if found := _version(connection):
                    if found != VERSION:
                        raise ConfigError(other_release(self.name, found))
                else:
                    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
                    connection.execute(TABLES.replace(" BLOB ", " BYTEA ") + _OWN_TABLES)
                    connection.execute("INSERT INTO store_version VALUES (%s)", [VERSION])
        self._has_tables = True


_databases: "WeakSet[PostgresDatabase]" = WeakSet()
_abandoned: list[psycopg.Connection[Row]] = []
"""The connections of the parent, in a forked process: closing one would end its session."""


def _start_over() -> None:
    for one in list(_databases):
        one.start_over()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_over)


_OWN_TABLES = """
CREATE TABLE worker (id TEXT PRIMARY KEY, beat DOUBLE PRECISION NOT NULL);
CREATE TABLE store_version (version INTEGER NOT NULL);
"""


class _Transaction:
    """An open transaction of one connection."""

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection

    def lock(self, name: str) -> None:
        """Wait until no other transaction holds the lock of this name."""
        self._connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])

    def execute(self, statement: str, *values: Any) -> list[Row]:
        """Execute a statement and return its rows."""
        cursor = self._connection.execute(_translate(statement), values)
        return cursor.fetchall() if cursor.description else []

    def change(self, statement: str, *values: Any) -> int:
        """Execute a statement and return how many rows it changed."""
        return self._connection.execute(_translate(statement), values).rowcount

    def insert(self, statement: str, rows: Sequence[Row]) -> None:
        """Execute a statement once for each row of values."""
        for row in rows:
            self._connection.execute(_translate(statement), row)

    def now(self, here: float) -> float:
        """Return the server's time."""
        del here
        row = self._connection.execute(
            "SELECT extract(epoch FROM clock_timestamp())::float8"
        ).fetchone()
        assert row is not None
        return float(row[0])


@lru_cache(maxsize=256)
def _translate(statement: str) -> Any:
    assert "%" not in statement
    return statement.replace("?", "%s")


def _version(connection: psycopg.Connection[Row]) -> int:
    """Return the version of the tables; 0 where there are none."""
    # Not `to_regclass`: it would not see what another process created while this one waited.
    tables = "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = %s"
    names = {name for (name,) in connection.execute(tables, [SCHEMA])}
    if "store_version" not in names:
        return _EARLIER if "toolmd_meta" in names else 0
    row = connection.execute("SELECT version FROM store_version").fetchone()
    return 0 if row is None else int(row[0])


def hide_password(url: str) -> str:
    """Return a URL without its password, for messages; the query may contain one, too."""
    return re.sub(r"(?<=://)([^/@:]*):[^@]*@", r"\1:***@", url.partition("?")[0])


def _check(url: str) -> dict[str, Any]:
    """Return what psycopg connects with; raises ConfigError for an unusable URL."""
    try:
        parts = conninfo_to_dict(url)
        int(parts.get("port") or 0)
    except (psycopg.Error, ValueError):
        # The message must not contain the URL, which may have a password.
        raise ConfigError(f"store: not a Postgres URL; write {_EXAMPLE}") from None
    host = str(parts.get("host") or "")
    if not host or host.startswith(("/", "@")):
        # Errors of a socket do not look like a broken connection, so runs would stand still.
        raise ConfigError(f"store: Postgres is supported over TCP only; write {_EXAMPLE}")
    return parts
