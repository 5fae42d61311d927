"""Track live processes on several machines: each writes the time and keeps a lock."""

import datetime as dt
import hashlib
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from toolmd._skills.engine.durable.outage import Outage
from toolmd._skills.engine.durable.tables import Tables
from toolmd._store.database import server_now

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
_NOTICED = {
    "tcp_keepalives_idle": "2",
    "tcp_keepalives_interval": "1",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "5000",
}
"""Settings by which the server ends the session of a machine that it lost within five seconds."""
_FROZEN = {"idle_session_timeout": "10000"}
"""The same for a process that is frozen, whose machine still answers: Postgres 14 or later."""
logger = logging.getLogger(__name__)


class Heartbeat:
    """The processes that work on one Postgres; all use its clock.

    The session lock of a killed process is free at once, but not the lock of a lost machine or
    of a stopped process; the time reveals those, but later. The time does not count if this process
    itself could not write recently: then all processes may have been silent. Neither counts if it
    lost its own session recently: then all locks may have been free.
    """

    def __init__(self, engine: sa.Engine, epoch: Callable[[], float] = time.time) -> None:
        """`epoch` returns this machine's seconds since the epoch."""
        self._engine = engine
        self._epoch = epoch
        self._worker = Tables(engine).worker
        self.own = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        """The unique name of this process, never reused."""
        self.ahead = dt.timedelta()
        """How far the server's clock is ahead of this machine's, by seconds or more."""
        with engine.connect() as connection:
            self._compare(connection.execute(sa.select(server_now())).scalar_one())
        self._session: sa.Connection | None = None
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
        """Register this process as alive, before it accepts any work."""
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
        c = self._worker.c
        age = _age(c.beat).label("age")
        late = sa.select(c.id, age).where(age > LATE_S)
        with self._engine.connect() as connection:
            ages = {row.id: row.age for row in connection.execute(late)}
            # If its own row is late, too, the server's clock jumped, or this machine was stopped.
            stalled = stalled or ages.pop(self.own, 0.0) > STALL_S
            ttl_s = float("inf") if stalled else TTL_S
            if not ages or self._is_free(connection, self.own):
                return []
            return [
                name for name, old in ages.items()
                if old > ttl_s or self._is_free(connection, name)
            ]  # fmt: skip

    def known(self) -> set[str]:
        """Return the names of all processes that are not evicted."""
        with self._engine.connect() as connection:
            return set(connection.execute(sa.select(self._worker.c.id)).scalars())

    def workers(self) -> dict[str, bool]:
        """Return for each process that is not evicted whether it is alive."""
        c = self._worker.c
        with self._engine.connect() as connection:
            rows = connection.execute(sa.select(c.id, _age(c.beat) <= TTL_S))
            return {row[0]: bool(row[1]) for row in rows}

    def evict(self, name: str) -> None:
        """Delete a dead process whose work was handed on, unless it woke."""
        c = self._worker.c
        dead = sa.delete(self._worker).where(c.id == name, _age(c.beat) > LATE_S)
        with self._engine.begin() as connection:
            connection.execute(dead)

    def lives(self) -> bool:
        """Return whether others see this process as alive: a frozen one must write first."""
        return time.monotonic() - self._last < TTL_S

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Return whether this process is the only one here, which others are not until the end."""
        key = _key("reclaimer")
        # Outside of a transaction, which the server would end while it is idle.
        alone = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        with alone.connect() as connection:
            # The lock of a machine that is cut off, or of a process that is frozen, must not keep
            # others from taking over.
            newer = (connection.dialect.server_version_info or ()) >= (14,)
            ending = _NOTICED | _FROZEN if newer else _NOTICED
            soon = (sa.func.set_config(name, value, sa.false()) for name, value in ending.items())
            connection.execute(sa.select(*soon))
            got = bool(connection.execute(sa.select(sa.func.pg_try_advisory_lock(key))).scalar())
            try:
                yield got
            finally:
                if got:
                    with suppress(sa.exc.SQLAlchemyError):  # It was frozen, and lost its session.
                        connection.execute(sa.select(sa.func.pg_advisory_unlock(key)))
                # No other work gets a session with these settings.
                connection.invalidate()

    def end(self) -> None:
        """Unregister this process; others then look for its orphans at once."""
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
            # The connection never returns to the pool: the lock ends with the session.
            self._session = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            self._session.detach()
            self._locked = False
        if not self._locked:
            lock = sa.select(sa.func.pg_try_advisory_lock(_key(self.own)))
            self._locked = bool(self._session.execute(lock).scalar_one())
        row = {"id": self.own, "beat": server_now()}
        insert = postgresql.insert(self._worker).values(row)
        written = self._session.execute(
            insert.on_conflict_do_update(
                index_elements=["id"], set_={"beat": server_now()}
            ).returning(self._worker.c.beat)
        ).scalar_one()
        now = time.monotonic()
        if max(now - self._last, abs(written - self._written)) > STALL_S:
            self._steady = now
        self._since = now if new else self._since
        self._compare(written)
        self._last, self._written = now, written

    def _compare(self, server: float) -> None:
        ahead = server - self._epoch()
        self.ahead = dt.timedelta(seconds=ahead if abs(ahead) > APART_S else 0.0)

    def _leave(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with suppress(sa.exc.SQLAlchemyError):
                session.close()

    def _is_free(self, connection: sa.Connection, name: str) -> bool:
        """Return whether no session has the lock of this name; the test releases it at once."""
        lock = sa.select(sa.func.pg_try_advisory_xact_lock(_key(name)))
        return bool(connection.execute(lock).scalar_one())


def _key(name: str) -> int:
    digest = hashlib.sha256(f"toolmd.worker.{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _age(beat: sa.ColumnElement[float]) -> sa.ColumnElement[float]:
    """Return the seconds since a heartbeat; one in the future is as odd as one in the past."""
    return sa.func.abs(server_now() - beat)
