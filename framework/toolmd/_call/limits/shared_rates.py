"""Rates shared by all processes of a project: one row a tool, changed in one transaction."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from toolmd._call.denial import guard_failed
from toolmd._call.limits.timing import Timing
from toolmd._types.settings import Settings
from toolmd.config.sqlite import create_store

if TYPE_CHECKING:
    import sqlite3

STARTS_FILE = "turns.sqlite3"
"""The name of the file in the project's state folder."""

_TABLE = """
CREATE TABLE IF NOT EXISTS turn (tool TEXT PRIMARY KEY, last_start REAL NOT NULL) STRICT
"""
_PUT = """
INSERT INTO turn VALUES (?, ?) ON CONFLICT (tool) DO UPDATE SET last_start = excluded.last_start
"""
WAIT_S = 2.0
"""How long a locked file is waited for, in seconds."""
_MOMENT = 1e-6
"""The minimal spacing in seconds; times since the epoch are rounded."""


class SharedRates(Protocol):
    """The last start of each tool, in any process."""

    async def ready(self, tool: str) -> None:
        """Open the store, which may take longer than a start. May raise CallDenied."""

    async def take(self, tool: str, apart: float) -> float:
        """Start now and return 0.0, or return the seconds until a start is due.

        `apart` is the spacing of starts, in seconds. Raises CallDenied where it is unknown.
        """


def shared_rates(settings: Settings, timing: Timing) -> SharedRates | None:
    """Return the rates of all processes that share the engine; None where it is in memory."""
    if settings.store == "memory":
        return None
    if settings.store == "sqlite":
        return SqliteRates(settings.state, timing)
    from toolmd._call.limits.postgres_rates import postgres_rates

    return postgres_rates(settings.store)


class SqliteRates:
    """The rates of one machine's processes, in a file of the state folder."""

    def __init__(self, state: Path, timing: Timing) -> None:
        """Keep the file in the folder `state`."""
        self._state = state
        self._timing = timing
        self._made = False

    async def ready(self, tool: str) -> None:
        """Do nothing: a file needs no connection."""

    async def take(self, tool: str, apart: float) -> float:
        """Same as `SharedRates.take`; not in a thread, which would take longer."""
        import sqlite3

        from toolmd._call.lock_retry import LockRetry

        lock_retry = LockRetry(self._timing.now, self._timing.sleep, WAIT_S)
        try:
            return await lock_retry.give(lambda: self._taken(tool, apart))
        except (sqlite3.Error, OSError) as error:
            raise guard_failed(tool, "rate", error) from None

    def _taken(self, tool: str, apart: float) -> float:
        with self._opened() as store:
            store.execute("BEGIN IMMEDIATE")
            # Read inside: a process that waited for the row must not use an old time.
            now = self._timing.epoch()
            row = store.execute("SELECT last_start FROM turn WHERE tool = ?", (tool,))
            (last,) = row.fetchone() or (now - apart,)
            # A start in the future means that the machine's clock was set back.
            wait = float(min(last, now) + apart - now)
            if wait <= _MOMENT or last > now:
                store.execute(_PUT, (tool, now))
            store.execute("COMMIT")
            return wait if wait > _MOMENT else 0.0

    @contextmanager
    def _opened(self) -> "Iterator[sqlite3.Connection]":
        import sqlite3

        path = self._state / STARTS_FILE
        if create_store(path):
            self._made = False
        with closing(sqlite3.connect(path, timeout=0.0, isolation_level=None)) as store:
            if not self._made:
                store.execute("PRAGMA journal_mode = WAL")
                store.execute(_TABLE)
                self._made = True
            # A power cut may lose one start.
            store.execute("PRAGMA synchronous = OFF")
            yield store
