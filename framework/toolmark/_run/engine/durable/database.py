"""Open the data base of the runs: SQLite that survives a power cut, or Postgres over TCP."""

import os
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from toolmark.errors import ConfigError

FILE = "runs.sqlite3"
SCHEMA = "toolmark"
"""Where the tables lie on Postgres."""
BUSY_MS = 10_000
"""How long a statement waits for another process's, in milliseconds."""
_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={BUSY_MS}", "foreign_keys=ON")


def is_postgres(engine: str) -> bool:
    """Tell whether the setting `engine` names a Postgres."""
    return engine.startswith(("postgresql://", "postgres://"))


def address(engine: str, state: Path) -> str:
    """Give the SQLAlchemy URL for the setting `engine`; raises ConfigError for a unix socket."""
    if not is_postgres(engine):
        return sa.URL.create("sqlite", database=str(state / FILE)).render_as_string()
    url = sa.make_url("postgresql" + engine[engine.index("://") :])
    host = url.host or url.query.get("host") or ""
    if not host or str(host).startswith(("/", "@")):
        # What breaks a socket is not seen as a broken connection, and runs would stand still.
        message = (
            "engine: Postgres is reached over TCP only; write postgresql://user@127.0.0.1/name"
        )
        raise ConfigError(message)
    return url.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def open_database(url: str) -> sa.Engine:
    """Open it; a SQLite file is made for this user's eyes only."""
    if not url.startswith("sqlite"):
        return sa.create_engine(url, pool_pre_ping=True, pool_size=20)
    path = sa.make_url(url).database
    assert path is not None
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    engine = sa.create_engine(url, pool_size=20, max_overflow=20)
    sa.event.listen(engine, "connect", _prepare)
    return engine


def _prepare(connection: Any, record: Any) -> None:
    del record
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    # A reader that becomes a writer would fail at once where another wrote in between.
    connection.isolation_level = "IMMEDIATE"
