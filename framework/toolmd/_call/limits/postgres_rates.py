"""The starts that the processes of all machines share: one row a tool on Postgres."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import Any

from toolmd._call.denial import guard_failed
from toolmd._call.threads import AROUND
from toolmd.errors import NO_POSTGRES_DRIVER, ConfigError

_MADE = (
    # Two that create at once would both find nothing there.
    "SELECT pg_advisory_xact_lock(7461706)",
    "CREATE SCHEMA IF NOT EXISTS toolmd",
    """CREATE TABLE IF NOT EXISTS toolmd.toolmd_turn (
    tool TEXT PRIMARY KEY, last_start DOUBLE PRECISION NOT NULL, granted BOOLEAN NOT NULL)""",
)
_NOW = "extract(epoch FROM clock_timestamp())"
# One statement, by the server's clock; whoever waited for the row sees it as it is by then. A
# start that lies ahead tells that the clock was set back: it is put right, and nothing granted.
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
"""What is waited at least, in seconds: by the time of the answer it may have got due."""


class PostgresRates:
    """The starts of all who name one Postgres, by its clock; one connection a process."""

    def __init__(self, url: str) -> None:
        """Name it; nothing is opened before a start is asked for."""
        self._url = url
        self._lock = Lock()
        self._connection: Any = None

    async def ready(self, tool: str) -> None:
        """Connect, and make the table where it is not there yet."""
        if self._connection is None:
            await AROUND.run(lambda: self._guarded(tool, self._open))

    async def take(self, tool: str, apart: float) -> float:
        """Do as `SharedRates.take`."""
        wait: float = await AROUND.run(
            lambda: self._guarded(tool, lambda: self._taken({"tool": tool, "apart": apart}))
        )
        return wait

    def close(self) -> None:
        """Disconnect; the next start connects anew."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()

    def _guarded(self, tool: str, work: Callable[[], Any]) -> Any:
        with self._lock:
            try:
                return work()
            except Exception as error:  # noqa: BLE001 - whatever it was: who can't count refuses
                self.close()
                raise guard_failed(tool, "rate", error) from None

    def _taken(self, values: dict[str, Any]) -> float:
        if self._connection is not None:
            with suppress(Exception):
                return self._ask(values)
            # The server may have been started anew since. Whether it heard the question is not
            # known, and a start that nobody uses harms nobody.
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
            raise ConfigError(f"engine: {NO_POSTGRES_DRIVER}") from error
        self._connection = psycopg.connect(
            self._url, autocommit=True, connect_timeout=5, tcp_user_timeout=5000
        )
        with self._connection.transaction():
            for statement in _MADE:
                self._connection.execute(statement)
        self._connection.execute("SET lock_timeout = 2000")
        # What a power cut may forget is one start.
        self._connection.execute("SET synchronous_commit = off")


@cache
def postgres_rates(url: str) -> PostgresRates:
    """Give the starts of a Postgres; all doors of this process share them."""
    return PostgresRates(url)
