"""Keep the policy changes that wait, and those that a person accepted."""

import time
from collections.abc import Iterable, Mapping

import sqlalchemy as sa

from toolmd._store.database import upsert_of
from toolmd._store.opened import StorePart
from toolmd._types.pending_change import ChangeKey, StoredChange

KEPT_S = 30 * 24 * 3600.0
"""For how long a change is kept that no process has pending any more, in seconds."""


class SqlChanges(StorePart[sa.Table]):
    """The policy changes of a project, in its database."""

    connections = 2

    @staticmethod
    def define(metadata: sa.MetaData) -> sa.Table:
        """Define the table."""
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

    def all(self) -> Mapping[ChangeKey, StoredChange]:
        """Return the pending and the accepted changes."""
        with self.transaction() as connection:
            rows = connection.execute(sa.select(self.tables)).all()
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
        with self.transaction() as connection:
            for key, spec, taken in changes:
                self._propose(connection, key, spec, taken)
            table = self.tables
            old = table.c.since < time.time() - KEPT_S
            connection.execute(sa.delete(table).where(old))

    def accept(self, key: ChangeKey, spec: bytes, taken: int) -> int:
        """Accept a change for every process, and return its number, which is higher than `taken`.

        `spec` is the live policy.
        """
        with self.transaction() as connection:
            self._propose(connection, key, spec, taken)
            table = self.tables
            here = sa.and_(table.c.name == key.name, table.c.live == key.live,
                           table.c.edit == key.edit)  # fmt: skip
            connection.execute(sa.update(table).where(here).values(accepted=True))
            number = sa.select(table.c.number).where(here)
            return int(connection.execute(number).scalar_one())

    def _propose(self, connection: sa.Connection, key: ChangeKey, spec: bytes, taken: int) -> None:
        table, now = self.tables, time.time()
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
