"""Keep the policy changes that wait, and those that a person accepted."""

import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import sqlalchemy as sa

from toolmd._store.database import Pace, upsert_of
from toolmd._store.opened import Opened
from toolmd._types.pending_change import ChangeKey, StoredChange

KEPT_S = 30 * 24 * 3600.0
"""For how long a change is kept that no process has pending any more, in seconds."""


class SqlChanges:
    """The policy changes of a project, in its database.

    Each method blocks, and raises UnreachableError where the store can't be used.
    """

    def __init__(self, store: str, state: Path, wait_s: float) -> None:
        """Keep the setting `store` and the state folder; wait `wait_s` seconds for a lock."""
        pace = Pace(busy_ms=round(wait_s * 1000), connections=2)
        self._opened = Opened(store, state, _table, pace)

    def all(self) -> Mapping[ChangeKey, StoredChange]:
        """Return the pending and the accepted changes."""
        with self._opened.transaction() as connection:
            rows = connection.execute(sa.select(self._opened.tables)).all()
        changes = (
            StoredChange(ChangeKey(row.name, row.live, row.edit), row.number, row.accepted,
                         row.spec.encode())
            for row in rows
        )  # fmt: skip
        return {change.key: change for change in changes}

    def propose(self, changes: Iterable[tuple[ChangeKey, bytes, int]]) -> None:
        """Store pending changes: the key, the live policy, and the last number that was taken.

        A change with a higher number stays as it is, so that an acceptance is not lost; another
        one is pending again. Changes that nobody proposed for long are deleted.
        """
        with self._opened.transaction() as connection:
            for key, spec, taken in changes:
                self._propose(connection, key, spec, taken)
            table = self._opened.tables
            old = table.c.since < time.time() - KEPT_S
            connection.execute(sa.delete(table).where(old))

    def accept(self, key: ChangeKey, spec: bytes, taken: int) -> int:
        """Accept a change for every process, and return its number, which is higher than `taken`.

        `spec` is the live policy.
        """
        with self._opened.transaction() as connection:
            self._propose(connection, key, spec, taken)
            table = self._opened.tables
            here = sa.and_(table.c.name == key.name, table.c.live == key.live,
                           table.c.edit == key.edit)  # fmt: skip
            connection.execute(sa.update(table).where(here).values(accepted=True))
            number = sa.select(table.c.number).where(here)
            return int(connection.execute(number).scalar_one())

    def close(self) -> None:
        """Close the database."""
        self._opened.close()

    def _propose(self, connection: sa.Connection, key: ChangeKey, spec: bytes, taken: int) -> None:
        table, now = self._opened.tables, time.time()
        highest = sa.select(sa.func.max(table.c.number)).where(table.c.name == key.name)
        number = max(connection.execute(highest).scalar() or 0, taken) + 1
        row = upsert_of(connection)(table).values(
            **key._asdict(), spec=spec.decode(), number=number, accepted=False, since=now
        )
        newer = table.c.number > taken
        connection.execute(row.on_conflict_do_update(
            index_elements=["name", "live", "edit"],
            set_={
                "since": now,
                "number": sa.case((newer, table.c.number), else_=number),
                "accepted": sa.case((newer, table.c.accepted), else_=sa.false()),
            },
        ))  # fmt: skip


def _table(metadata: sa.MetaData) -> sa.Table:
    return sa.Table(
        "toolmd_change", metadata,
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("live", sa.Text, primary_key=True),
        sa.Column("edit", sa.Text, primary_key=True),
        sa.Column("spec", sa.Text, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("accepted", sa.Boolean, nullable=False),
        sa.Column("since", sa.Double, nullable=False),
    )  # fmt: skip
