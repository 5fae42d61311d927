"""The secret that all servers of one store share."""

from pathlib import Path
from secrets import token_hex

import sqlalchemy as sa

from toolmd._store.database import Pace, upsert_of
from toolmd._store.opened import Opened

WAIT_MS = 10_000
"""How long a locked database is waited for, in milliseconds."""


def shared_secret(store: str, state: Path) -> str:
    """Return the secret of a store, 32 bytes in hex; the first server that asks makes it.

    It blocks. Raises UnreachableError where the store can't be used, and ConfigError.
    """
    opened = Opened(store, state, _table, Pace(busy_ms=WAIT_MS, connections=1))
    try:
        with opened.transaction() as connection:
            table = opened.tables
            new = upsert_of(connection)(table).values(id=1, secret=token_hex(32))
            connection.execute(new.on_conflict_do_nothing())
            return str(connection.execute(sa.select(table.c.secret)).scalar_one())
    finally:
        opened.close()


def _table(metadata: sa.MetaData) -> sa.Table:
    return sa.Table(
        "toolmd_secret", metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("secret", sa.Text, nullable=False),
    )  # fmt: skip
