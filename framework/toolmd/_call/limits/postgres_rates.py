"""Rates shared by the processes of all machines: one row a tool on Postgres."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import Any

from toolmd._call.denial import guard_failed
from toolmd._call.threads import AROUND
from toolmd.errors import NO_POSTGRES_DRIVER, ConfigError

_MADE = (
    # Two processes that create the table at once would both find none.
    "SELECT pg_advisory_xact_lock(7461706)",
    "CREATE SCHEMA IF NOT EXISTS toolmd",
    """CREATE TABLE IF NOT EXISTS toolmd.toolmd_turn (
    tool TEXT PRIMARY KEY, last_start DOUBLE PRECISION NOT NULL, granted BOOLEAN NOT NULL)""",
)
_NOW = "extract(epoch FROM clock_timestamp())"
# One statement, by the server's clock; a process that waited for the row sees its latest state.
# A start in the future means that the clock was set back: it is corrected, and none is granted.
_TAKE = f"""
INSERT INTO toolmd.toolmd_turn AS turn VALUES (%(tool)s, {_NOW}, true)
ON CONFLICT (tool) DO UPDATE SET last_start = {_NOW}, granted = turn.last_start <= {_NOW}
WHERE turn.last_start + %(apart)s <= {_NOW} OR turn.last_start > {_NOW}
RETURNING granted
"""  # noqa: S608 - of constants
_WAIT = f"""
SELECT last_start + %(apart)s - {_NOW} FROM toolmd.toolmd_turn WHERE tool = %(tool)s
"""  # noqa: S608 - of constants
_LEAST = 0.001
"""The shortest wait, in seconds: a start may be due by the time of the answer."""


class PostgresRates:
    """The starts of all processes on one Postgres, by its clock; one connection a process."""

    def __init__(self, url: str) -> None:
        """Keep the address; the connection opens with the first start."""
        self._url = url
        self._lock = Lock()
        self._connection: Any = None

    async def ready(self, tool: str) -> None:
        """Connect, and create the table where it is missing."""
        if self._connection is None:
            await AROUND.run(lambda: self._guarded(tool, self._open))

    async def take(self, tool: str, apart: float) -> float:
        """Same as `SharedRates.take`."""
        wait: float = await AROUND.run(
            lambda: self._guarded(tool, lambda: self._taken({"tool": tool, "apart": apart}))
        )
        return wait

    def close(self) -> None:
        """Disconnect; the next start connects again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()

    def _guarded(self, tool: str, work: Callable[[], Any]) -> Any:
        with self._lock:
            try:
                return work()
            except Exception as error:  # noqa: BLE001 - a process that can't count denies
                self.close()
                raise guard_failed(tool, "rate", error) from None

    def _taken(self, values: dict[str, Any]) -> float:
        if self._connection is not None:
            with suppress(Exception):
                return self._ask(values)
            # The server may have restarted since. It may have counted a start that is not used,
            # which does no harm.
            self.close()
        self._open()
        return self._ask(values)

    def _ask(self, values: dict[str, Any]) -> float:
        row = self._connection.execute(_TAKE, values).fetchone()
        if row is not None:
            return 0.0 if row[0] else float(values["apart"])
        (wait,) = self._connection.execute(_WAIT, values).fetchone()
        return max(float(wait), _LEAST)

    def _open(self) -> None:
        if self._connection is not None:
            return
        try:
            import psycopg
        except ImportError as error:
            raise ConfigError(f"store: {NO_POSTGRES_DRIVER}") from error
        self._connection = psycopg.connect(
            self._url, autocommit=True, connect_timeout=5, tcp_user_timeout=5000
        )
        with self._connection.transaction():
            for statement in _MADE:
                self._connection.execute(statement)
        self._connection.execute("SET lock_timeout = 2000")
        # A power cut may lose one start.
        self._connection.execute("SET synchronous_commit = off")


@cache
def postgres_rates(url: str) -> PostgresRates:
    """Return the rates on a Postgres; all dispatchers of this process share them."""
    return PostgresRates(url)
