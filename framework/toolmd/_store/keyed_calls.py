"""Keep the calls under idempotency keys, so that a repeated call has no second effect."""

import time

import sqlalchemy as sa

from toolmd._store.database import upsert_of
from toolmd._store.opened import StorePart
from toolmd._types.keyed_call import KeyedCall

KEPT_S = 24 * 3600.0
"""For how long a key is known after its call began, in seconds."""


class SqlKeyedCalls(StorePart[sa.Table]):
    """The calls of a project under idempotency keys, in its database."""

    @staticmethod
    def define(metadata: sa.MetaData) -> sa.Table:
        """Define the table."""
        return sa.Table(
            "toolmd_keyed_call", metadata,
            sa.Column("key", sa.Text, primary_key=True),
            sa.Column("began", sa.Double, nullable=False, index=True),
            sa.Column("until", sa.Double, nullable=False),
            sa.Column("result", sa.Text),
        )  # fmt: skip

    def begin(self, key: str, seconds: float) -> KeyedCall | None:
        """Begin a call under a key, of so many seconds at most; None for exactly one who tries.

        Others get the call that began before.
        """
        now = self.now(time.time())
        with self.transaction() as connection:
            table = self.tables
            connection.execute(sa.delete(table).where(table.c.began < now - KEPT_S))
            row = upsert_of(connection)(table).values(key=key, began=now, until=now + seconds)
            new = row.on_conflict_do_nothing().returning(table.c.key)
            if connection.execute(new).first() is not None:
                return None
            left = (table.c.until - now).label("left")
            known = sa.select(left, table.c.result).where(table.c.key == key)
            before = connection.execute(known).first()
        if before is None:
            # Forgotten in between: the next try begins it.
            return KeyedCall(seconds, None)
        return KeyedCall(before.left, before.result)

    def finish(self, key: str, result: str) -> None:
        """Store the result of a call."""
        self._set(key, result=result)

    def give_up(self, key: str) -> None:
        """Note that a call has ended without anybody knowing its outcome."""
        self._set(key, until=0.0)

    def forget(self, key: str) -> None:
        """Remove a call that may be made again."""
        with self.transaction() as connection:
            table = self.tables
            connection.execute(sa.delete(table).where(table.c.key == key))

    def _set(self, key: str, **values: object) -> None:
        with self.transaction() as connection:
            table = self.tables
            connection.execute(sa.update(table).where(table.c.key == key).values(values))
