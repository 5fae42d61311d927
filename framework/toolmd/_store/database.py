"""Open the database of the store: crash-safe SQLite, or Postgres over TCP."""

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from toolmd._store import STORE_FILE, is_postgres
from toolmd.config.sqlite import create_store
from toolmd.config.state_files import is_there
from toolmd.errors import NO_POSTGRES_DRIVER, ConfigError, UnreachableError

SCHEMA = "toolmd"
"""The schema of the tables on Postgres."""
BUSY_MS = 10_000
"""How long a statement waits for another process's lock, in milliseconds."""
IDLE_MS = 5_000
"""How long a process may be idle within a transaction, in milliseconds."""
CONNECT_S = 5
"""How long a server may take to answer, in seconds."""
_SUBSEC = (3, 42, 0)
"""The first SQLite whose own `unixepoch` knows 'subsec'."""
_FORBIDDEN = "42501"
"""The Postgres error code for missing rights."""
_TCP = {
    "connect_timeout": CONNECT_S,
    # A cut connection is noticed within half a minute, not after hours.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
_SERVER_TCP: dict[str, object] = {
    # The server ends the session of a lost machine, and so releases its locks, as soon.
    "tcp_keepalives_idle": 10,
    "tcp_keepalives_interval": 5,
    "tcp_keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}


class Pace(NamedTuple):
    """How a database is used."""

    busy_ms: int = BUSY_MS
    """How long a statement waits for a lock, in milliseconds."""
    synced: bool = True
    """Whether a commit waits for the disk: without, a power cut may lose the latest records."""
    connections: int = 20
    """The most connections of a process."""
    shared: bool = False
    """Whether the threads of a process share one connection to a SQLite file, in turns: several
    would wait for each other in pauses that grow. No thread may then take two."""


def address(store: str, state: Path) -> str:
    """Return the SQLAlchemy URL for the setting `store`.

    Raises ConfigError for an unreadable URL, for a unix socket, and for a folder whose path is no
    text: a URL can't contain it.
    """
    if not is_postgres(store):
        try:
            return sa.URL.create("sqlite", database=str(state / STORE_FILE)).render_as_string()
        except UnicodeEncodeError:
            folder = os.fsencode(state).decode(errors="replace")
            problem = f"state: {folder} is not UTF-8; name another folder, or rename it"
            raise ConfigError(problem) from None
    example = "postgresql://user@127.0.0.1:5432/name"
    try:
        url = sa.make_url("postgresql" + store[store.index("://") :])
    except (sa.exc.ArgumentError, ValueError):
        # The message must not contain the URL, which may have a password.
        raise ConfigError(f"store: not a Postgres URL; write {example}") from None
    host = url.host or url.query.get("host") or ""
    if not host or str(host).startswith(("/", "@")):
        # Errors of a socket do not look like a broken connection, so runs would stand still.
        raise ConfigError(f"store: Postgres is supported over TCP only; write {example}")
    return url.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def open_database(url: str, pace: Pace) -> sa.Engine:
    """Open the database; a new SQLite file is readable only for this user.

    Raises ConfigError where the Postgres driver can't be loaded or SQLite is too old, OSError
    for the file, UnreachableError for an emptied file.
    """
    if url.startswith("sqlite"):
        file = file_of(url)
        if file is not None:
            create_store(file)
        # Each connection to a database in memory would have a database of its own.
        connections = 1 if pace.shared or file is None else pace.connections
        engine = sa.create_engine(
            url, poolclass=sa.QueuePool, pool_size=connections, max_overflow=0,
            connect_args={"check_same_thread": False},
        )  # fmt: skip
        sa.event.listen(engine, "connect", _prepare_file(pace))
        return engine
    try:
        # Settings in the URL have priority.
        own = {key: value for key, value in _TCP.items() if key not in sa.make_url(url).query}
        engine = sa.create_engine(
            url, pool_pre_ping=True, pool_size=pace.connections, connect_args=own
        )
    except ImportError as error:
        raise ConfigError(f"store: {NO_POSTGRES_DRIVER}") from error
    sa.event.listen(engine, "connect", _prepare_session(pace))
    return engine


def upsert_of(connection: sa.Connection) -> Any:
    """Return the database's own INSERT, which has `on_conflict_do_update`."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert
    from sqlalchemy.dialects import postgresql

    return postgresql.insert


def server_now() -> sa.ColumnElement[float]:
    """Return the time of a Postgres as SQL, in seconds since the epoch."""
    return sa.cast(sa.func.extract("epoch", sa.func.clock_timestamp()), sa.Double)


def outspoken(engine: sa.Engine) -> sa.Engine:
    """Return the same database with faults raised as UnreachableError, for direct callers.

    DBOS recognizes temporary faults by their own types, and so keeps the original engine.
    """
    told = engine.execution_options()
    sa.event.listen(told, "handle_error", _tell)
    if engine.dialect.name == "sqlite":
        path = file_of(engine.url)
        if path is not None:
            sa.event.listen(told, "begin", lambda _: _must_be_there(path))
    return told


def _must_be_there(path: Path) -> None:
    """Raise UnreachableError where a file that this process has open was emptied or removed."""
    if not is_there(path):
        raise UnreachableError(
            f"{path} was removed while this process uses it: restart the process, which begins "
            f"without earlier runs; to keep them, restore the file first"
        )


def shown(url: str) -> str:
    """Return a URL without its password, for messages."""
    parsed = sa.make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return str(parsed.database)
    # The query may contain a password, too.
    return parsed.set(query={}, drivername="postgresql").render_as_string(hide_password=True)


def file_of(url: str | sa.URL) -> Path | None:
    """Return the SQLite file; None for a database in memory or on a server."""
    parsed = sa.make_url(url)
    return Path(parsed.database) if parsed.database and parsed.drivername == "sqlite" else None


def _prepare_file(pace: Pace) -> Callable[[Any, Any], None]:
    def prepare(connection: Any, record: Any) -> None:
        del record
        for pragma in (
            "journal_mode=WAL", f"synchronous={'FULL' if pace.synced else 'NORMAL'}",
            f"busy_timeout={pace.busy_ms}", "foreign_keys=ON",
        ):  # fmt: skip
            connection.execute(f"PRAGMA {pragma}")
        if sqlite3.sqlite_version_info < _SUBSEC:
            # From Python 3.12 on, DBOS and its column defaults call this function, so every Python
            # that may open the file defines it.
            connection.create_function("unixepoch", 1, _unixepoch)
        # A reader that becomes a writer would fail at once if another wrote in between.
        connection.isolation_level = "IMMEDIATE"

    return prepare


def _unixepoch(what: object) -> float:
    """Return the seconds since the epoch, as newer releases do for 'subsec'."""
    if what != "subsec":
        raise ValueError(f"unixepoch({what!r}): this SQLite supports only 'subsec'")
    return round(time.time(), 3)


def _prepare_session(pace: Pace) -> Callable[[Any, Any], None]:
    def prepare(connection: Any, record: Any) -> None:
        del record
        settings = _SERVER_TCP | {
            "lock_timeout": pace.busy_ms,
            # A frozen process must release its locks before its runs are taken over.
            "idle_in_transaction_session_timeout": IDLE_MS,
        }
        if not pace.synced:
            settings["synchronous_commit"] = "off"
        with connection.cursor() as cursor:
            cursor.execute("; ".join(f"SET {name} = {value}" for name, value in settings.items()))
        connection.commit()

    return prepare


def _tell(context: Any) -> None:
    error = context.sqlalchemy_exception
    forbidden = getattr(context.original_exception, "sqlstate", None) == _FORBIDDEN
    ours = isinstance(error, sa.exc.IntegrityError | sa.exc.ProgrammingError)
    # The pool tests a connection before each use, and reconnects by itself.
    if error is None or context.is_pre_ping or (ours and not forbidden):
        return
    where = shown(context.engine.url.render_as_string(hide_password=False))
    reason = str(context.original_exception).strip().splitlines() or [""]
    if "is locked" in reason[0]:
        message = (
            f"{where} was locked by another program for too long; end what holds it, then try again"
        )
    else:
        message = f"the store {where} can't be reached: {reason[0]}; `toolmd doctor` checks it"
    raise UnreachableError(message) from error
