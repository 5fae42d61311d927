"""The tables next to DBOS's own: plans, runs and questions."""

from typing import Any

import sqlalchemy as sa

from toolmd._store.schema import create_tables, metadata_of


class Tables:
    """The tables of one database."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._metadata = metadata_of(engine)
        text, real = sa.Text, sa.Double
        self.plan = sa.Table(
            "toolmd_plan", self._metadata,
            sa.Column("hash", text, primary_key=True),
            sa.Column("plan", text, nullable=False),
            sa.Column("kept", real, nullable=False),
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
        self.schedule = sa.Table(
            "toolmd_schedule", self._metadata,
            sa.Column("skill", text, primary_key=True),
            sa.Column("schedule", text, nullable=False),
            sa.Column("tick", real, nullable=False),
        )  # fmt: skip
        self._indexes = _indexes(self.run, self.question)

    def lock_code(self, connection: sa.Connection) -> None:
        """Lock the pinned Python against deletion until the end of the transaction."""
        if self._metadata.schema is not None:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(7461707)"))

    def create(self) -> None:
        """Create missing tables. Raises ConfigError where another release stored its runs here."""
        create_tables(self._engine, self._metadata, self._indexes)


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
        # Since when it waits; then no workflow exists for `segment`, until an answer creates it.
        sa.Column("parked", sa.Double, nullable=False),
        # How many effects the latest attempt found, and how many attempts found no more of them.
        sa.Column("held", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        # How many of these began the next effect.
        sa.Column("tried", sa.Integer, nullable=False),
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
    )  # fmt: skip


def _indexes(run: sa.Table, question: sa.Table) -> tuple[sa.Index, ...]:
    """Return the indexes of pages and of what each second asks, which no old run must slow."""
    unfinished = run.c.result.is_(None)
    executing = sa.and_(unfinished, run.c.stuck == 0, run.c.parked == 0)
    cancelled = sa.and_(unfinished, run.c.cancelled > 0)
    timed = sa.and_(question.c.answer.is_(None), question.c.expires.is_not(None))
    wanted: tuple[tuple[str, tuple[sa.Column[Any], ...], Any], ...] = (
        ("toolmd_run_began", (run.c.began, run.c.id), None),
        ("toolmd_run_executing", (run.c.id,), executing),
        ("toolmd_run_cancelled", (run.c.id,), cancelled),
        ("toolmd_run_ended", (run.c.ended,), run.c.ended.is_not(None)),
        ("toolmd_question_opened", (question.c.opened,), None),
        ("toolmd_question_open", (question.c.opened,), question.c.answer.is_(None)),
        ("toolmd_question_timed", (question.c.expires,), timed),
    )
    return tuple(
        sa.Index(name, *columns, sqlite_where=where, postgresql_where=where)
        for name, columns, where in wanted
    )
