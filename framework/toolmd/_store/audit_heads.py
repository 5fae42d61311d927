"""Keep the newest record of each audit file, so that removed records show."""

import socket
from collections.abc import Mapping
from pathlib import Path

import sqlalchemy as sa

from toolmd._store.database import Pace, upsert_of
from toolmd._store.opened import Opened
from toolmd._types.audit import ChainLine


class SqlHeads:
    """The newest record of each audit file, in the project's database.

    Machines that share a Postgres each have files of their own.

    Each method blocks, and raises UnreachableError where the store can't be used.
    """

    def __init__(self, store: str, state: Path, wait_s: float) -> None:
        """Keep the setting `store` and the state folder; wait `wait_s` seconds for a lock."""
        pace = Pace(busy_ms=round(wait_s * 1000), synced=False, connections=2)
        self._opened = Opened(store, state, _table, pace)
        # A SQLite file moves with its state folder.
        self._place = f"{socket.gethostname()}:{state}" if self._opened.is_postgres else ""

    def get(self, file: str) -> ChainLine | None:
        """Return the newest record of a file that was noted."""
        with self._opened.transaction() as connection:
            table = self._opened.tables
            asked = sa.select(table.c.number, table.c.hash).where(table.c.file == file)
            found = connection.execute(asked).first()
            return None if found is None else ChainLine(found.number, found.hash)

    def put(self, file: str, newest: ChainLine, before: ChainLine | None) -> bool:
        """Note the newest record of a file; False where `before` is not what was noted."""
        with self._opened.transaction() as connection:
            table, row = self._opened.tables, newest._asdict()
            if before is None:
                first = upsert_of(connection)(table).values(place=self._place, file=file, **row)
                # Postgres counts no rows of an INSERT.
                new = first.on_conflict_do_nothing().returning(table.c.file)
                return connection.execute(new).first() is not None
            same = sa.and_(
                table.c.file == file,
                table.c.number == before.number,
                table.c.hash == before.hash,
            )
            return connection.execute(sa.update(table).where(same).values(row)).rowcount > 0

    def all(self) -> Mapping[str, ChainLine]:
        """Return the newest noted record of each file of this place."""
        with self._opened.transaction() as connection:
            table = self._opened.tables
            asked = sa.select(table).where(table.c.place == self._place)
            return {row.file: ChainLine(row.number, row.hash) for row in connection.execute(asked)}

    def forget(self, file: str) -> None:
        """Remove the note of a file that was kept long enough."""
        with self._opened.transaction() as connection:
            table = self._opened.tables
            connection.execute(sa.delete(table).where(table.c.file == file))

    def close(self) -> None:
        """Close the database."""
        self._opened.close()


def _table(metadata: sa.MetaData) -> sa.Table:
    return sa.Table(
        "toolmd_audit_head", metadata,
        sa.Column("file", sa.Text, primary_key=True),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
    )  # fmt: skip
