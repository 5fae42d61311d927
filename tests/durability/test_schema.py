"""The tables of a store are created once, and a later release migrates them."""

import pytest
import sqlalchemy as sa
from postgres_server import database

from toolmd._store.database import Pace, address, open_database
from toolmd._store.schema import VERSION, create_tables, has_table, metadata_of
from toolmd.errors import ConfigError

LATER = VERSION + 2


@pytest.fixture
def engine(place, tmp_path):
    engine = open_database(address(place, tmp_path), Pace())
    yield engine
    engine.dispose()


def notes(engine, *columns):
    """Define a table of notes with these columns."""
    metadata = metadata_of(engine)
    table = sa.Table("note", metadata, *(sa.Column(name, sa.Text) for name in columns))
    return metadata, table


def migrations(engine):
    name = "note" if engine.dialect.name == "sqlite" else "toolmd.note"
    return {
        VERSION: [f"ALTER TABLE {name} ADD COLUMN author TEXT"],
        VERSION + 1: [f"UPDATE {name} SET author = 'ana'"],
    }


def test_a_later_release_migrates_the_tables_and_keeps_the_rows(engine):
    metadata, table = notes(engine, "text")
    create_tables(engine, metadata)
    with engine.begin() as connection:
        connection.execute(sa.insert(table).values(text="first"))

    metadata, table = notes(engine, "text", "author")
    for _ in range(2):
        create_tables(engine, metadata, version=LATER, migrations=migrations(engine))

    with engine.begin() as connection:
        assert connection.execute(sa.select(table)).all() == [("first", "ana")]


def test_a_look_for_a_table_creates_nothing(server, tmp_path):
    with database(server) as url:
        assert not has_table(url, "note")
        assert not has_table(url, "note")
        engine = open_database(address(url, tmp_path), Pace())
        create_tables(engine, notes(engine, "text")[0])
        engine.dispose()
        assert has_table(url, "note")
    assert has_table(url, "note")  # The database is gone; its next use reports that.


def test_an_earlier_release_rejects_the_tables_of_a_later_one(engine):
    metadata, _ = notes(engine, "text")
    create_tables(engine, metadata)
    create_tables(engine, metadata, version=LATER, migrations=migrations(engine))
    with pytest.raises(ConfigError, match=f"by a newer release.*version {LATER}"):
        create_tables(engine, metadata)


def test_tables_without_a_migration_are_rejected_and_stay_unchanged(engine):
    metadata, _ = notes(engine, "text")
    create_tables(engine, metadata)
    with pytest.raises(ConfigError, match="by an older release"):
        create_tables(engine, metadata, version=LATER, migrations={})
    create_tables(engine, metadata)


def test_a_migration_that_fails_changes_nothing(engine):
    metadata, table = notes(engine, "text")
    create_tables(engine, metadata)
    broken = {**migrations(engine), VERSION + 1: ["UPDATE nothing SET text = 'x'"]}
    with pytest.raises(sa.exc.SQLAlchemyError):
        create_tables(engine, metadata, version=LATER, migrations=broken)
    create_tables(engine, metadata)
    with engine.begin() as connection:
        assert "author" not in {
            c["name"] for c in sa.inspect(connection).get_columns(table.name, schema=table.schema)
        }
