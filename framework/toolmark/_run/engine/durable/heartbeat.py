"""Know which processes live on other machines: each writes the time into a row of its own."""

import os
import secrets
import socket

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from toolmark._run.engine.durable.tables import Tables

TTL_S = 5.0
"""A process that wrote nothing for so long is taken for dead, in seconds."""


class Heartbeat:
    """The processes that work on one Postgres; all go by its clock."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._worker = Tables(engine).worker
        self.own = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        """The name of this process, never used again by another."""

    def live(self) -> None:
        """Say that this process lives; done before it takes any work, and every second."""
        row = {"id": self.own, "beat": _now()}
        insert = postgresql.insert(self._worker).values(row)
        beat = insert.on_conflict_do_update(index_elements=["id"], set_={"beat": _now()})
        with self._engine.begin() as connection:
            connection.execute(beat)

    def dead(self) -> list[str]:
        """Give the names of those that fell silent."""
        silent = sa.select(self._worker.c.id).where(
            self._worker.c.beat < _now() - TTL_S, self._worker.c.id != self.own
        )
        with self._engine.connect() as connection:
            return list(connection.execute(silent).scalars())

    def bury(self, name: str) -> None:
        """Forget a dead process whose work was handed on, unless it woke."""
        dead = sa.delete(self._worker).where(
            self._worker.c.id == name, self._worker.c.beat < _now() - TTL_S
        )
        with self._engine.begin() as connection:
            connection.execute(dead)

    def end(self) -> None:
        """Say that this process ends: others look at once for what is left."""
        over = sa.update(self._worker).where(self._worker.c.id == self.own).values(beat=0.0)
        with self._engine.begin() as connection:
            connection.execute(over)


def _now() -> sa.ColumnElement[float]:
    return sa.cast(sa.func.extract("epoch", sa.func.clock_timestamp()), sa.Double)
