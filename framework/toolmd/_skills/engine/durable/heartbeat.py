"""Know which processes live on other machines: each writes the time, and holds a lock."""

import hashlib
import logging
import os
import secrets
import socket
import threading
import time
from contextlib import suppress

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from toolmd._skills.engine.durable.outage import Outage
from toolmd._skills.engine.durable.tables import Tables

BEAT_S = 1.0
"""How often a process writes the time, in seconds."""
LATE_S = 2.5
"""Who wrote nothing for so long, and whose lock the server let go, is dead: killed, say."""
TTL_S = 6.0
"""Who wrote nothing for so long is dead, lock or none: its machine is off, or it was stopped."""
logger = logging.getLogger(__name__)


class Heartbeat:
    """The processes that work on one Postgres; all go by its clock.

    A lock of the session tells at once of a process that was killed, but not of a machine that
    is gone, nor of a process that was stopped; the time tells of all of them, but later. Neither
    counts where this process itself could not write of late: then it was the server that was
    away, and all fell silent alike.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._worker = Tables(engine).worker
        self.own = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        """The name of this process, never used again by another."""
        self._session: sa.Connection | None = None
        self._beating: threading.Thread | None = None
        self._ended = threading.Event()
        self._last = 0.0
        self._steady = 0.0
        """Since when no beat came late, by the monotonic clock."""

    def live(self) -> None:
        """Say that this process lives, from now on; done before it takes any work."""
        if self._beating is None:
            self._beat()
            # Nothing was missed yet, so that what others left is seen at once.
            self._steady = float("-inf")
            self._beating = threading.Thread(target=self._go_on, name="toolmd-beat", daemon=True)
            self._beating.start()

    def dead(self) -> list[str]:
        """Give the names of those that fell silent."""
        now = time.monotonic()
        if now - self._last > LATE_S or now - self._steady < TTL_S:
            return []
        c = self._worker.c
        age = (_now() - c.beat).label("age")
        late = sa.select(c.id, age).where(age > LATE_S, c.id != self.own)
        with self._engine.connect() as connection:
            rows = connection.execute(late).all()
            return [row.id for row in rows if row.age > TTL_S or self._is_free(connection, row.id)]

    def known(self) -> set[str]:
        """Give the names of all that are not buried yet."""
        with self._engine.connect() as connection:
            return set(connection.execute(sa.select(self._worker.c.id)).scalars())

    def evict(self, name: str) -> None:
        """Forget a dead process whose work was handed on, unless it woke."""
        c = self._worker.c
        dead = sa.delete(self._worker).where(c.id == name, c.beat < _now() - LATE_S)
        with self._engine.begin() as connection:
            connection.execute(dead)

    def end(self) -> None:
        """Say that this process ends: others look at once for what is left."""
        self._ended.set()
        if self._beating is not None:
            self._beating.join()
        over = sa.update(self._worker).where(self._worker.c.id == self.own).values(beat=0.0)
        try:
            with self._engine.begin() as connection:
                connection.execute(over)
        finally:
            self._leave()

    def _go_on(self) -> None:
        outage = Outage(logger, "this worker can't say that it lives", "it can say so again")
        while not self._ended.wait(BEAT_S):
            try:
                self._beat()
                outage.over()
            except Exception as error:  # noqa: BLE001 - the server may be back at the next beat
                outage.met(error)
                self._leave()

    def _beat(self) -> None:
        """Write the time, in the session that holds the lock."""
        if self._session is None:
            # Never given back to the pool: with the session ends its lock.
            self._session = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._session.detach()
            self._session.execute(sa.select(sa.func.pg_try_advisory_lock(_key(self.own))))
        row = {"id": self.own, "beat": _now()}
        insert = postgresql.insert(self._worker).values(row)
        self._session.execute(
            insert.on_conflict_do_update(index_elements=["id"], set_={"beat": _now()})
        )
        now = time.monotonic()
        if now - self._last > LATE_S:
            self._steady = now
        self._last = now

    def _leave(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with suppress(sa.exc.SQLAlchemyError):
                session.close()

    def _is_free(self, connection: sa.Connection, name: str) -> bool:
        """Tell whether nobody's session holds the lock of this name; it is let go at once."""
        lock = sa.select(sa.func.pg_try_advisory_xact_lock(_key(name)))
        return bool(connection.execute(lock).scalar_one())


def _key(name: str) -> int:
    digest = hashlib.sha256(f"toolmd.worker.{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _now() -> sa.ColumnElement[float]:
    return sa.cast(sa.func.extract("epoch", sa.func.clock_timestamp()), sa.Double)
