"""Keep the crisis flags of conversations."""

from functools import cached_property
from typing import Any

import sqlalchemy as sa

from toolmd._store.database import upsert_of
from toolmd._store.opened import StorePart
from toolmd._types.crisis import Crisis


class SqlCrises(StorePart[sa.Table]):
    """The flagged conversations of a project, in its database."""

    @staticmethod
    def define(metadata: sa.MetaData) -> sa.Table:
        """Define the table."""
        return sa.Table(
            "toolmd_crisis", metadata,
            sa.Column("conversation", sa.Text, primary_key=True),
            sa.Column("user", sa.Text, primary_key=True),
            sa.Column("since", sa.Double, nullable=False),
        )  # fmt: skip

    def flag(self, crisis: Crisis) -> None:
        """Flag a conversation, or renew its flag."""
        with self.transaction() as connection:
            row = {**crisis.to_dict(), "user": crisis.user or ""}
            again = upsert_of(connection)(self.tables).values(row)
            connection.execute(again.on_conflict_do_update(
                index_elements=["conversation", "user"], set_={"since": crisis.since}
            ))  # fmt: skip

    def is_flagged(self, conversation: str, user: str | None) -> bool:
        """Return whether a user's conversation is flagged."""
        with self.transaction() as connection:
            whose = {"whose": conversation, "of": user or ""}
            return connection.execute(self._found, whose).first() is not None

    @cached_property
    def _found(self) -> sa.Select[Any]:
        # Built once: each call of a conversation asks.
        return sa.select(sa.literal(1)).where(self._of(sa.bindparam("whose"), sa.bindparam("of")))

    def flagged(self) -> tuple[Crisis, ...]:
        """Return the flagged conversations, oldest first."""
        with self.transaction() as connection:
            table = self.tables
            rows = connection.execute(sa.select(table).order_by(table.c.since))
            return tuple(Crisis(row.conversation, row.user or None, row.since) for row in rows)

    def clear(self, conversation: str, user: str | None) -> bool:
        """Remove the flag of a user's conversation; False where it has none."""
        with self.transaction() as connection:
            gone = sa.delete(self.tables).where(self._of(conversation, user or ""))
            return connection.execute(gone).rowcount > 0

    def _of(self, conversation: Any, user: Any) -> sa.ColumnElement[bool]:
        table = self.tables
        return sa.and_(table.c.conversation == conversation, table.c.user == user)
