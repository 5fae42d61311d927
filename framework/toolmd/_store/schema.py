"""Create the tables of the store, and check their version."""

from collections.abc import Iterable

import sqlalchemy as sa

from toolmd._store.database import SCHEMA, shown
from toolmd.errors import ConfigError

VERSION = 2
"""The version of the tables; it grows when an older release could not read or finish records."""


def metadata_of(engine: sa.Engine) -> sa.MetaData:
    """Return an empty collection of tables, in the schema that the database needs."""
    return sa.MetaData(schema=None if engine.dialect.name == "sqlite" else SCHEMA)


def create_tables(
    engine: sa.Engine, metadata: sa.MetaData, indexes: Iterable[sa.Index] = ()
) -> None:
    """Create missing tables; several processes may do so at the same time.

    Raises ConfigError where another release has stored its records here.
    """
    meta = sa.Table(
        "toolmd_meta", metadata,
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )  # fmt: skip
    if _is_ready(engine, metadata, meta):
        return  # A reader does not wait for a writer.
    with engine.begin() as connection:
        if metadata.schema is not None:
            # Two processes that create tables at once would both find none.
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(7461706)"))
            connection.execute(sa.schema.CreateSchema(metadata.schema, if_not_exists=True))
        else:
            connection.execute(sa.text("BEGIN IMMEDIATE"))
        found = _version(connection, meta)
        if found not in {0, VERSION}:
            other = "a newer" if found > VERSION else "an older"
            raise ConfigError(
                f"the records in {shown(str(engine.url))} were stored by {other} release of "
                f"Toolmd (tables of version {found}; this one supports {VERSION}): use that "
                f"release, or another state folder or database"
            )
        metadata.create_all(connection)
        for index in indexes:
            index.create(connection, checkfirst=True)
        if found == 0:
            row = {"key": "version", "value": str(VERSION)}
            connection.execute(sa.insert(meta).values(row))


def _is_ready(engine: sa.Engine, metadata: sa.MetaData, meta: sa.Table) -> bool:
    with engine.connect() as connection:
        there = sa.inspect(connection).get_table_names(schema=metadata.schema)
        names = {table.name for table in metadata.sorted_tables}
        return names <= set(there) and _version(connection, meta) == VERSION


def _version(connection: sa.Connection, meta: sa.Table) -> int:
    if not sa.inspect(connection).has_table(meta.name, schema=meta.schema):
        return 0
    kept = sa.select(meta.c.value).where(meta.c.key == "version")
    # Tables of the first release have no version.
    return int(connection.execute(kept).scalar() or 1)
