"""Count the starts, calls and running calls of each tool over all processes of a project."""

import secrets
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from toolmd._store import LEASE_S
from toolmd._store.database import upsert_of
from toolmd._store.opened import StorePart

FORGET_S = 24 * 3600.0
"""How long after its last call the count of a conversation is kept, in seconds."""
_MOMENT = 1e-6
"""The minimal spacing in seconds; times since the epoch are rounded."""


class _Tables(NamedTuple):
    starts: sa.Table
    counts: sa.Table
    leases: sa.Table


class SqlLimits(StorePart[_Tables]):
    """The limits of a project, in its database.

    Times are of the database's server, or of this machine for a file.
    """

    # A power cut may lose one start.
    synced = False

    def __init__(
        self, store: str, state: Path, wait_s: float, epoch: Callable[[], float] = time.time
    ) -> None:
        """Keep the setting `store` and the state folder; wait `wait_s` seconds for a lock.

        `epoch` returns this machine's seconds since the epoch.
        """
        super().__init__(store, state, wait_s)
        self._epoch = epoch

    @staticmethod
    def define(metadata: sa.MetaData) -> _Tables:
        """Define the tables."""
        start = sa.Table(
            "toolmd_start", metadata,
            sa.Column("tool", sa.Text, primary_key=True),
            sa.Column("last", sa.Double, nullable=False),
        )  # fmt: skip
        count = sa.Table(
            "toolmd_count", metadata,
            sa.Column("tool", sa.Text, primary_key=True),
            sa.Column("who", sa.Text, primary_key=True),
            sa.Column("calls", sa.Integer, nullable=False),
            sa.Column("last", sa.Double, nullable=False, index=True),
        )  # fmt: skip
        lease = sa.Table(
            "toolmd_lease", metadata,
            sa.Column("name", sa.Text, primary_key=True),
            sa.Column("tool", sa.Text, nullable=False, index=True),
            sa.Column("until", sa.Double, nullable=False),
        )  # fmt: skip
        return _Tables(start, count, lease)

    def open(self) -> None:
        """Open the database, and delete the counts of conversations that ended long ago."""
        with self.transaction() as connection:
            count = self.tables.counts
            old = count.c.last < self._now(connection) - FORGET_S
            connection.execute(sa.delete(count).where(old))

    def take(self, tool: str, apart: float) -> float:
        """Start now and return 0.0, or return the seconds until a start is due.

        `apart` is the spacing of starts, in seconds.
        """
        with self.transaction() as connection:
            start = self.tables.starts
            # The first statement locks the row, so that a process that waited reads the latest
            # start, and the time after it.
            free = upsert_of(connection)(start).values(tool=tool, last=0.0)
            connection.execute(free.on_conflict_do_update(
                index_elements=["tool"], set_={"last": start.c.last}
            ))  # fmt: skip
            here = start.c.tool == tool
            last = float(connection.execute(sa.select(start.c.last).where(here)).scalar_one())
            now = self._now(connection)
            # A start in the future means that a clock was set back.
            wait = min(last, now) + apart - now
            if wait <= _MOMENT or last > now:
                connection.execute(sa.update(start).where(here).values(last=now))
            return wait if wait > _MOMENT else 0.0

    def counted(self, tool: str, who: str) -> int:
        """Return how many calls one user made in one conversation."""
        with self.transaction() as connection:
            count = self.tables.counts
            recent = count.c.last > self._now(connection) - FORGET_S
            here = sa.and_(count.c.tool == tool, count.c.who == who, recent)
            return int(connection.execute(sa.select(count.c.calls).where(here)).scalar() or 0)

    def count(self, tool: str, who: str, most: int) -> bool:
        """Count one more call; False where `most` were counted already."""
        with self.transaction() as connection:
            count, now = self.tables.counts, self._now(connection)
            row = upsert_of(connection)(count).values(tool=tool, who=who, calls=1, last=now)
            added = row.on_conflict_do_update(
                index_elements=["tool", "who"],
                set_={"calls": count.c.calls + 1, "last": now},
                where=count.c.calls < most,
            )
            return connection.execute(added.returning(count.c.calls)).first() is not None

    def uncount(self, tool: str, who: str) -> None:
        """Remove a call that never started from the count."""
        with self.transaction() as connection:
            count = self.tables.counts
            here = sa.and_(count.c.tool == tool, count.c.who == who, count.c.calls > 0)
            connection.execute(sa.update(count).where(here).values(calls=count.c.calls - 1))

    def enter(self, tool: str, most: int) -> str | None:
        """Acquire one of `most` places for a running call; None where all are taken.

        Returns the name of the place. It must be renewed before LEASE_S seconds are over.
        """
        with self.transaction() as connection:
            lease = self.tables.leases
            # The first statement locks the tool's row, so that two processes never count at once.
            start = self.tables.starts
            row = upsert_of(connection)(start).values(tool=f"places of {tool}", last=0.0)
            connection.execute(row.on_conflict_do_update(
                index_elements=["tool"], set_={"last": 0.0}
            ))  # fmt: skip
            now = self._now(connection)
            connection.execute(sa.delete(lease).where(lease.c.tool == tool, lease.c.until <= now))
            taken = sa.select(sa.func.count()).select_from(lease).where(lease.c.tool == tool)
            if int(connection.execute(taken).scalar_one()) >= most:
                return None
            name = secrets.token_hex(12)
            row = {"name": name, "tool": tool, "until": now + LEASE_S}
            connection.execute(sa.insert(lease).values(row))
            return name

    def use(self) -> dict[str, tuple[float | None, int, int]]:
        """Return for each tool its last start, its running calls, and a conversation's most calls.

        A start is in seconds since the epoch; None for a tool without a Rate.
        """
        with self.transaction() as connection:
            start, count, lease = self.tables
            now, total = self._now(connection), sa.func.count()
            taken = sa.select(lease.c.tool, total).where(lease.c.until > now)
            recent = sa.select(count.c.tool, sa.func.max(count.c.calls)).where(
                count.c.last > now - FORGET_S
            )
            starts = sa.select(start.c.tool, start.c.last).where(start.c.last > 0)
            last = {row[0]: float(row[1]) for row in connection.execute(starts)}
            places = {r[0]: int(r[1]) for r in connection.execute(taken.group_by(lease.c.tool))}
            calls = {r[0]: int(r[1]) for r in connection.execute(recent.group_by(count.c.tool))}
        tools = last.keys() | places.keys() | calls.keys()
        return {one: (last.get(one), places.get(one, 0), calls.get(one, 0)) for one in tools}

    def renew(self, names: Iterable[str]) -> None:
        """Renew places for another LEASE_S seconds."""
        with self.transaction() as connection:
            lease = self.tables.leases
            until = self._now(connection) + LEASE_S
            connection.execute(
                sa.update(lease).where(lease.c.name.in_(list(names))).values(until=until)
            )

    def leave(self, names: Iterable[str]) -> None:
        """Release places."""
        with self.transaction() as connection:
            lease = self.tables.leases
            connection.execute(sa.delete(lease).where(lease.c.name.in_(list(names))))

    def _now(self, connection: sa.Connection) -> float:
        if not self.is_postgres:
            return self._epoch()
        clock = sa.text("SELECT extract(epoch FROM clock_timestamp())::float8")
        return float(connection.execute(clock).scalar_one())
