"""The times that DBOS takes from SQLite are there on each SQLite that is new enough for Toolmd.

On Python 3.12 and later DBOS asks SQLite for `unixepoch('subsec')`, which 3.42 knows; a file
that such a Python made asks for it from every other.
"""

import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from toolmd._store.database import Pace, address, open_database

TABLE = "CREATE TABLE made (name TEXT, at INTEGER NOT NULL DEFAULT (unixepoch('subsec') * 1000))"


@pytest.fixture
def connection(tmp_path: Path):
    engine = open_database(address("sqlite", tmp_path), Pace())
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def test_the_seconds_since_the_epoch_come_with_their_fraction(connection: sa.Connection) -> None:
    before = time.time()

    now = connection.execute(sa.select(sa.func.unixepoch("subsec"))).scalar_one()

    # Whole seconds would lie before.
    assert before - 0.001 <= now <= time.time() + 0.001


def test_a_column_takes_its_default_from_them(connection: sa.Connection) -> None:
    before = time.time() * 1000

    connection.execute(sa.text(TABLE))
    connection.execute(sa.text("INSERT INTO made (name) VALUES ('first')"))

    (at,) = connection.execute(sa.text("SELECT at FROM made")).one()
    assert before - 1 <= at <= time.time() * 1000 + 1
