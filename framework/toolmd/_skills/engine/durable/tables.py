"""The tables beside DBOS's own: plans, runs and questions."""

import sqlalchemy as sa

from toolmd._store.database import SCHEMA, shown
from toolmd.errors import ConfigError

VERSION = 1
"""The version of the tables; it grows when an older release could not read or finish runs."""


class Tables:
    """The tables of one database.

    `steps` and `workflows` are DBOS's own tables, reduced to the columns that are read.
    """

    def __init__(self, engine: sa.Engine) -> None:
        schema = None if engine.dialect.name == "sqlite" else SCHEMA
        self._engine = engine
        self._metadata = sa.MetaData(schema=schema)
        text, real = sa.Text, sa.Double
        self.meta = sa.Table(
            "toolmd_meta", self._metadata,
            sa.Column("key", text, primary_key=True),
            sa.Column("value", text, nullable=False),
        )  # fmt: skip
        self.plan = sa.Table(
            "toolmd_plan", self._metadata,
            sa.Column("hash", text, primary_key=True),
            sa.Column("plan", text, nullable=False),
        )  # fmt: skip
        self.pin = sa.Table(
            "toolmd_pin", self._metadata,
            sa.Column("hash", text, primary_key=True),
            sa.Column("manifest", text, nullable=False),
            sa.Column("kept", real, nullable=False),
        )  # fmt: skip
        self.code = sa.Table(
            "toolmd_code", self._metadata,
            sa.Column("hash", text, primary_key=True),
            sa.Column("data", sa.LargeBinary, nullable=False),
        )  # fmt: skip
        self.run = _run_table(self._metadata)
        self.question = _question_table(self._metadata)
        self.worker = sa.Table(
            "toolmd_worker", self._metadata,
            sa.Column("id", text, primary_key=True),
            sa.Column("beat", real, nullable=False),
        )  # fmt: skip
        self.steps = _dbos_table(
            schema, "operation_outputs", "workflow_uuid", "function_id", "function_name", "output",
            "serialization", "child_workflow_id",
        )  # fmt: skip
        self.workflows = _dbos_table(
            schema, "workflow_status", "workflow_uuid", "status", "executor_id",
            "application_version",
        )  # fmt: skip
        # The query of every second must not slow down with the number of old runs.
        self._going = sa.Index(
            "toolmd_run_going", self.run.c.id,
            sqlite_where=self.run.c.result.is_(None), postgresql_where=self.run.c.result.is_(None),
        )  # fmt: skip

    def lock_code(self, connection: sa.Connection) -> None:
        """Lock the pinned Python against deletion until the end of the transaction."""
        if self._metadata.schema is not None:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(7461707)"))

    def create(self) -> None:
        """Create missing tables; several processes may do so at the same time.

        Raises ConfigError where a newer release has stored its runs here.
        """
        with self._engine.begin() as connection:
            if self._metadata.schema is not None:
                # Two processes that create tables at once would both find none.
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7461706)"))
                connection.execute(sa.schema.CreateSchema(SCHEMA, if_not_exists=True))
            else:
                connection.execute(sa.text("BEGIN IMMEDIATE"))
            found = self._version(connection)
            if found > VERSION:
                raise ConfigError(
                    f"the runs in {shown(str(self._engine.url))} were kept by a newer release of "
                    f"Toolmd (tables of version {found}; this one supports {VERSION}): use that "
                    f"release, or another state folder or database"
                )
            self._metadata.create_all(connection)
            self._going.create(connection, checkfirst=True)
            if found < VERSION:
                # Version 0 lacks only this mark and the pinned Python.
                connection.execute(sa.delete(self.meta).where(self.meta.c.key == "version"))
                row = {"key": "version", "value": str(VERSION)}
                connection.execute(sa.insert(self.meta).values(row))

    def _version(self, connection: sa.Connection) -> int:
        if not sa.inspect(connection).has_table(self.meta.name, schema=self.meta.schema):
            return 0
        kept = sa.select(self.meta.c.value).where(self.meta.c.key == "version")
        return int(connection.execute(kept).scalar() or 0)


def _run_table(metadata: sa.MetaData) -> sa.Table:
    return sa.Table(
        "toolmd_run", metadata,
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("skill", sa.Text, nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("inputs", sa.Text, nullable=False),
        sa.Column("caller", sa.Text, nullable=False),
        sa.Column("confidence", sa.Double),
        sa.Column("began", sa.Text, nullable=False),
        sa.Column("segment", sa.Integer, nullable=False),
        sa.Column("parked", sa.Double, nullable=False),
        sa.Column("held", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("stuck", sa.Integer, nullable=False),
        sa.Column("cancelled", sa.Integer, nullable=False),
        sa.Column("ended", sa.Text),
        sa.Column("result", sa.Text),
    )  # fmt: skip


def _question_table(metadata: sa.MetaData) -> sa.Table:
    return sa.Table(
        "toolmd_question", metadata,
        sa.Column("run", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("opened", sa.Double, nullable=False),
        sa.Column("expires", sa.Double),
        sa.Column("answer", sa.Text),
        sa.Column("answered", sa.Text),
        # Above 0 while the answer has yet to wake its run; earlier releases stored a time here.
        sa.Column("woke", sa.Double),
    )  # fmt: skip


def _dbos_table(schema: str | None, name: str, *columns: str) -> sa.TableClause:
    return sa.table(name, *map(sa.column, columns), schema=schema)
