"""Keep the newest record of each audit file, so that removed records show."""

import socket
from collections.abc import Mapping
from pathlib import Path

import sqlalchemy as sa

from toolmd._store.database import upsert_of
from toolmd._store.opened import StorePart
from toolmd._types.audit import ChainLine


class SqlHeads(StorePart[sa.Table]):
    """The newest record of each audit file, in the project's database.

    Machines that share a Postgres each have files of their own.
    """

    connections = 2
    synced = False

    def __init__(self, store: str, state: Path, wait_s: float) -> None:
        """Keep the setting `store` and the state folder; wait `wait_s` seconds for a lock."""
        super().__init__(store, state, wait_s)
        # A SQLite file moves with its state folder.
        self._place = f"{socket.gethostname()}:{state}" if self.is_postgres else ""

    @staticmethod
    def define(metadata: sa.MetaData) -> sa.Table:
        """Define the table."""
        return sa.Table(
            "toolmd_audit_head", metadata,
            sa.Column("file", sa.Text, primary_key=True),
            sa.Column("place", sa.Text, nullable=False),
            sa.Column("number", sa.BigInteger, nullable=False),
            sa.Column("hash", sa.Text, nullable=False),
        )  # fmt: skip

    def get(self, file: str) -> ChainLine | None:
        """Return the newest record of a file that was noted."""
        with self.transaction() as connection:
            table = self.tables
            asked = sa.select(table.c.number, table.c.hash).where(table.c.file == file)
            found = connection.execute(asked).first()
            return None if found is None else ChainLine(found.number, found.hash)

    def put(self, file: str, newest: ChainLine, before: ChainLine | None) -> bool:
        """Note the newest record of a file; False where `before` is not what was noted."""
        with self.transaction() as connection:
            table, row = self.tables, newest._asdict()
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
        with self.transaction() as connection:
            table = self.tables
            asked = sa.select(table).where(table.c.place == self._place)
            return {row.file: ChainLine(row.number, row.hash) for row in connection.execute(asked)}

    def forget(self, file: str) -> None:
        """Remove the note of a file that was kept long enough."""
        with self.transaction() as connection:
            table = self.tables
            connection.execute(sa.delete(table).where(table.c.file == file))
