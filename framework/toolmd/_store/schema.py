"""Create the tables of the store, and check their version."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import sqlalchemy as sa

from toolmd._store.database import SCHEMA, Pace, address, open_database, shown
from toolmd.errors import ConfigError

VERSION = 3
"""The version of the tables; it grows when an older release could not read or finish records."""
MIGRATIONS: Mapping[int, Sequence[str]] = {}
"""The statements that lead from each version to the next; never change those of a release."""


def metadata_of(engine: sa.Engine) -> sa.MetaData:
    """Return an empty collection of tables, in the schema that the database needs."""
    return sa.MetaData(schema=None if engine.dialect.name == "sqlite" else SCHEMA)


def create_tables(
    engine: sa.Engine,
    metadata: sa.MetaData,
    indexes: Iterable[sa.Index] = (),
    *,
    version: int = VERSION,
    migrations: Mapping[int, Sequence[str]] = MIGRATIONS,
) -> None:
    """Create missing tables, or bring those of an earlier version to this one, all or none.

    Several processes may do so at the same time. Raises ConfigError where a newer release has
    stored its records here, or one that no migration leads from.
    """
    meta = _meta(engine)
    if _is_ready(engine, metadata, meta, version):
        return  # A reader does not wait for a writer.
    with engine.begin() as connection:
        if metadata.schema is not None:
            # Two processes that create tables at once would both find none.
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(7461706)"))
            connection.execute(sa.schema.CreateSchema(metadata.schema, if_not_exists=True))
        else:
            connection.execute(sa.text("BEGIN IMMEDIATE"))
        found = _version(connection, meta)
        for step in _steps(engine, found, version, migrations):
            for statement in migrations[step]:
                connection.execute(sa.text(statement))
        meta.create(connection, checkfirst=True)
        metadata.create_all(connection)
        for index in indexes:
            index.create(connection, checkfirst=True)
        if found < version:
            connection.execute(sa.delete(meta).where(meta.c.key == "version"))
            row = {"key": "version", "value": str(version)}
            connection.execute(sa.insert(meta).values(row))


def has_table(store: str, name: str) -> bool:
    """Return whether the Postgres of a setting `store` has a table; True if it can't be asked."""
    engine = open_database(address(store, Path()), Pace(connections=1))
    try:
        return bool(sa.inspect(engine).has_table(name, schema=SCHEMA))
    except sa.exc.SQLAlchemyError:
        return True  # Its next use reports what is wrong.
    finally:
        engine.dispose()


def check_version(engine: sa.Engine) -> None:
    """Raise ConfigError where a release has stored records that this one can't read."""
    with engine.connect() as connection:
        _steps(engine, _version(connection, _meta(engine)), VERSION, MIGRATIONS)


def _steps(
    engine: sa.Engine, found: int, version: int, migrations: Mapping[int, Sequence[str]]
) -> range:
    """Return the versions that migrations lead from; raises ConfigError where one is missing."""
    steps = range(found, version) if found else range(0)
    if found > version or not all(step in migrations for step in steps):
        other = "a newer" if found > version else "an older"
        raise ConfigError(
            f"the records in {shown(str(engine.url))} were stored by {other} release of Toolmd "
            f"(tables of version {found}; this one supports {version}): use that release, or "
            f"another state folder or database"
        )
    return steps


def _meta(engine: sa.Engine) -> sa.Table:
    return sa.Table(
        "toolmd_meta", metadata_of(engine),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )  # fmt: skip


def _is_ready(engine: sa.Engine, metadata: sa.MetaData, meta: sa.Table, version: int) -> bool:
    with engine.connect() as connection:
        there = sa.inspect(connection).get_table_names(schema=metadata.schema)
        names = {table.name for table in metadata.sorted_tables}
        return names <= set(there) and _version(connection, meta) == version


def _version(connection: sa.Connection, meta: sa.Table) -> int:
    if not sa.inspect(connection).has_table(meta.name, schema=meta.schema):
        return 0
    kept = sa.select(meta.c.value).where(meta.c.key == "version")
    # Tables of the first release have no version.
    return int(connection.execute(kept).scalar() or 1)
