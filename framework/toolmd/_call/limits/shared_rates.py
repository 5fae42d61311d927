"""The starts that all processes of a project share: one row a tool, changed at one stroke."""

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
"""Its name in the project's state folder: whose turn it is to start."""

_TABLE = """
CREATE TABLE IF NOT EXISTS turn (tool TEXT PRIMARY KEY, last_start REAL NOT NULL) STRICT
"""
_PUT = """
INSERT INTO turn VALUES (?, ?) ON CONFLICT (tool) DO UPDATE SET last_start = excluded.last_start
"""
WAIT_S = 2.0
"""How long the file is waited for where others have locked it, in seconds."""
_MOMENT = 1e-6
"""Seconds in which nothing starts; times since the epoch are rounded."""


class SharedRates(Protocol):
    """When each tool started last, whichever process started it."""

    async def ready(self, tool: str) -> None:
        """Open what holds them, which may take longer than a start does; may raise a Refusal."""

    async def take(self, tool: str, apart: float) -> float:
        """Start now and give 0.0, or give the seconds until a start is due.

        `apart` is the distance of starts, in seconds. Raises a Refusal where it can't be told.
        """


def shared_rates(settings: Settings, timing: Timing) -> SharedRates | None:
    """Give the starts of all processes that share the engine; None where it is in memory."""
    if settings.engine == "memory":
        return None
    if settings.engine == "sqlite":
        return SqliteRates(settings.state, timing)
    from toolmd._call.limits.postgres_rates import postgres_rates

    return postgres_rates(settings.engine)


class SqliteRates:
    """The starts of one machine's processes, in a file of the state folder."""

    def __init__(self, state: Path, timing: Timing) -> None:
        """Keep them in the folder `state`."""
        self._state = state
        self._timing = timing
        self._made = False

    async def ready(self, tool: str) -> None:
        """Nothing is kept open: a file is there at once."""

    async def take(self, tool: str, apart: float) -> float:
        """Do as `SharedRates.take`; not in a thread, since it takes less time than one."""
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
            # Read inside: whoever waited for the row must not come with an old time.
            now = self._timing.epoch()
            row = store.execute("SELECT last_start FROM turn WHERE tool = ?", (tool,))
            (last,) = row.fetchone() or (now - apart,)
            # A start that lies ahead tells that the machine's clock was set back.
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
            # What a power cut may forget is one start.
            store.execute("PRAGMA synchronous = OFF")
            yield store
