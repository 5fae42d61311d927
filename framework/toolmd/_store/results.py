"""Keep results of calls under handles."""

import sqlalchemy as sa

from toolmd._store.opened import StorePart
from toolmd._types.kept import KeptResult, OpenHandle


class SqlResults(StorePart[sa.Table]):
    """The kept results of a project, in its database."""

    @staticmethod
    def define(metadata: sa.MetaData) -> sa.Table:
        """Define the table."""
        return sa.Table(
            "toolmd_result", metadata,
            sa.Column("handle", sa.Text, primary_key=True),
            sa.Column("user", sa.Text, nullable=False),
            sa.Column("tool", sa.Text, nullable=False),
            sa.Column("data", sa.LargeBinary, nullable=False),
            sa.Column("until", sa.Double, nullable=False, index=True),
        )  # fmt: skip

    def keep(self, kept: KeptResult, now: float) -> None:
        """Keep a result, and delete those whose time is over; `now` is seconds since the epoch."""
        with self.transaction() as connection:
            table = self.tables
            connection.execute(sa.delete(table).where(table.c.until <= now))
            row = {**kept._asdict(), "user": _whose(kept.user)}
            connection.execute(sa.insert(table).values(row))

    def find(self, handle: str, user: str | None, now: float) -> KeptResult | None:
        """Return what is kept for a user under a handle; None if there is nothing any more."""
        with self.transaction() as connection:
            table = self.tables
            mine = sa.and_(
                table.c.handle == handle, table.c.user == _whose(user), table.c.until > now
            )
            row = connection.execute(sa.select(table).where(mine)).first()
            return None if row is None else KeptResult(
                row.handle, user, row.tool, row.data, row.until
            )  # fmt: skip

    def handles(self, user: str | None, now: float, most: int) -> list[OpenHandle]:
        """Return the handles of a user's kept results, the newest first, at most `most`."""
        with self.transaction() as connection:
            table = self.tables
            mine = sa.and_(table.c.user == _whose(user), table.c.until > now)
            chosen = sa.select(table.c.handle, table.c.tool, table.c.until).where(mine)
            newest = chosen.order_by(table.c.until.desc(), table.c.handle).limit(most)
            return [OpenHandle(*row) for row in connection.execute(newest)]

    def open_until(self) -> float:
        """Return the time at which the last result goes, in seconds since the epoch; 0 for none."""
        with self.transaction() as connection:
            last = sa.select(sa.func.max(self.tables.c.until))
            return float(connection.execute(last).scalar() or 0)


def _whose(user: str | None) -> str:
    """Return the column's text: nobody and a user with an empty name are two."""
    return "" if user is None else f"={user}"
