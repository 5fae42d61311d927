"""Keep the crisis flags of conversations."""

from pathlib import Path

import sqlalchemy as sa

from toolmd._store.database import Pace, upsert_of
from toolmd._store.opened import Opened
from toolmd._types.crisis import Crisis


class SqlCrises:
    """The flagged conversations of a project, in its database.

    Each method blocks, and raises UnreachableError where the store can't be used.
    """

    def __init__(self, store: str, state: Path, wait_s: float) -> None:
        """Keep the setting `store` and the state folder; wait `wait_s` seconds for a lock."""
        pace = Pace(busy_ms=round(wait_s * 1000), connections=4)
        self._opened = Opened(store, state, _table, pace)

    def flag(self, crisis: Crisis) -> None:
        """Flag a conversation, or renew its flag."""
        with self._opened.transaction() as connection:
            row = {**crisis.to_dict(), "user": crisis.user or ""}
            again = upsert_of(connection)(self._opened.tables).values(row)
            connection.execute(again.on_conflict_do_update(
                index_elements=["conversation", "user"], set_={"since": crisis.since}
            ))  # fmt: skip

    def is_flagged(self, conversation: str, user: str | None) -> bool:
        """Return whether a user's conversation is flagged."""
        with self._opened.transaction() as connection:
            found = sa.select(sa.literal(1)).where(self._of(conversation, user))
            return connection.execute(found).first() is not None

    def flagged(self) -> tuple[Crisis, ...]:
        """Return the flagged conversations, oldest first."""
        with self._opened.transaction() as connection:
            table = self._opened.tables
            rows = connection.execute(sa.select(table).order_by(table.c.since))
            return tuple(Crisis(row.conversation, row.user or None, row.since) for row in rows)

    def clear(self, conversation: str, user: str | None) -> bool:
        """Remove the flag of a user's conversation; False where it has none."""
        with self._opened.transaction() as connection:
            gone = sa.delete(self._opened.tables).where(self._of(conversation, user))
            return connection.execute(gone).rowcount > 0

    def close(self) -> None:
        """Close the database."""
        self._opened.close()

    def _of(self, conversation: str, user: str | None) -> sa.ColumnElement[bool]:
        table = self._opened.tables
        return sa.and_(table.c.conversation == conversation, table.c.user == (user or ""))


def _table(metadata: sa.MetaData) -> sa.Table:
    return sa.Table(
        "toolmd_crisis", metadata,
        sa.Column("conversation", sa.Text, primary_key=True),
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("since", sa.Double, nullable=False),
    )  # fmt: skip
