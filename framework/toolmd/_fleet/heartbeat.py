"""Track live processes on several machines: each writes the time and keeps a lock."""

import datetime as dt
import hashlib
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg

from toolmd._skills.engine import Outage
from toolmd._store.database import Database

BEAT_S = 0.5
"""How often a process writes the time, in seconds."""
LATE_S = 1.5
"""Silence after which a process without its lock counts as dead, in seconds."""
STALL_S = 2.5
"""Silence after which a process does not trust the times of others, in seconds."""
TTL_S = 6.0
"""Silence after which a process counts as dead even with its lock, in seconds."""
APART_S = 2.0
"""Up to how many seconds apart two clocks count as equal."""
_NOW = "extract(epoch FROM clock_timestamp())::float8"
_AGE = f"abs({_NOW} - beat)"
"""The seconds since a heartbeat; one in the future is as odd as one in the past."""
_BEAT = (
    f"INSERT INTO worker (id, beat) VALUES (%s, {_NOW})"  # noqa: S608 - a constant
    f" ON CONFLICT (id) DO UPDATE SET beat = {_NOW} RETURNING beat"
)
logger = logging.getLogger(__name__)


class Heartbeat:
    """The processes that work on one Postgres; all use its clock.

    The session lock of a killed process is free at once, but not the lock of a lost machine or
    of a stopped process; the time reveals those, but later. The time does not count if this process
    itself could not write recently: then all processes may have been silent. Neither counts if it
    lost its own session recently: then all locks may have been free.
    """

    def __init__(
        self,
        database: Database,
        connect: Callable[[], psycopg.Connection[Any]],
        epoch: Callable[[], float] = time.time,
    ) -> None:
        """Keep the database; `connect` opens a session that no pool has.

        `epoch` returns this machine's seconds since the epoch.
        """
        self._database = database
        self._connect = connect
        self._epoch = epoch
        self.own = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        """The unique name of this process, never reused."""
        self.ahead = dt.timedelta()
        """How far the server's clock is ahead of this machine's, by seconds or more."""
        self._session: psycopg.Connection[Any] | None = None
        self._locked = False
        """Whether the session has the lock; at first the lost session before it may keep it."""
        self._beating: threading.Thread | None = None
        self._ended = threading.Event()
        self._last = 0.0
        self._written = 0.0
        """The time that the last heartbeat wrote, by the server's clock."""
        self._steady = 0.0
        """Since when no heartbeat was late, by the monotonic clock."""
        self._since = 0.0
        """Since when this process has its session."""

    def live(self) -> None:
        """Show that this process is alive, before it accepts any work."""
        if self._beating is None:
            self._beat()
            # No beat was missed yet, so orphans of other processes are seen at once.
            self._steady = self._since = float("-inf")
            self._beating = threading.Thread(target=self._go_on, name="toolmd-beat", daemon=True)
            self._beating.start()

    def dead(self) -> list[str]:
        """Return the names of silent processes."""
        now = time.monotonic()
        if now - self._since < TTL_S:
            return []
        stalled = now - self._last > STALL_S or now - self._steady < TTL_S
        with self._database.write() as tx:
            late = f"SELECT id, {_AGE} FROM worker WHERE {_AGE} > ?"  # noqa: S608 - constants
            ages: dict[str, float] = dict(tx.execute(late, LATE_S))
            # If its own row is late, too, the server's clock jumped, or this machine was stopped.
            stalled = stalled or ages.pop(self.own, 0.0) > STALL_S
            ttl_s = float("inf") if stalled else TTL_S

            def is_free(name: str) -> bool:
                # The test releases the lock at the end of the transaction.
                lock = "SELECT pg_try_advisory_xact_lock(?)"
                return bool(tx.execute(lock, _key(name))[0][0])

            if not ages or is_free(self.own):
                return []
            return [name for name, old in ages.items() if old > ttl_s or is_free(name)]

    def evict(self, name: str) -> None:
        """Forget a dead process whose work was handed on, unless it woke."""
        with self._database.write() as tx:
            tx.change(f"DELETE FROM worker WHERE id = ? AND {_AGE} > ?", name, LATE_S)  # noqa: S608

    def lives(self) -> bool:
        """Return whether others see this process as alive: a frozen one must write first."""
        return time.monotonic() - self._last < TTL_S

    def end(self) -> None:
        """Unregister this process; others then look for its orphans at once."""
        self._ended.set()
        if self._beating is None:
            return
        self._beating.join()
        try:
            with self._database.write() as tx:
                tx.change("UPDATE worker SET beat = 0.0 WHERE id = ?", self.own)
        finally:
            self._leave()

    def _go_on(self) -> None:
        outage = Outage(
            logger, "this worker can't write its heartbeat", "its heartbeat works again"
        )
        while not self._ended.wait(BEAT_S):
            try:
                self._beat()
                outage.over()
            except Exception as error:  # noqa: BLE001 - the server may be back at the next beat
                outage.met(error)
                self._leave()

    def _beat(self) -> None:
        """Write the time, in the session that has the lock."""
        if new := self._session is None:
            if self._beating is None:
                with self._database.read():
                    pass  # The tables are there from now on.
            # No pool has the session: the lock ends with it.
            self._session = self._connect()
            self._locked = False
        if not self._locked:
            self._locked = bool(self._ask("SELECT pg_try_advisory_lock(%s)", _key(self.own)))
        written = float(self._ask(_BEAT, self.own))
        now = time.monotonic()
        if max(now - self._last, abs(written - self._written)) > STALL_S:
            self._steady = now
        self._since = now if new else self._since
        self._compare(written)
        self._last, self._written = now, written

    def _ask(self, statement: str, value: object) -> Any:
        assert self._session is not None
        row = self._session.execute(statement, [value]).fetchone()
        assert row is not None
        return row[0]

    def _compare(self, server: float) -> None:
        ahead = server - self._epoch()
        self.ahead = dt.timedelta(seconds=ahead if abs(ahead) > APART_S else 0.0)

    def _leave(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with suppress(psycopg.Error):
                session.close()


def _key(name: str) -> int:
    digest = hashlib.sha256(f"toolmd.worker.{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
