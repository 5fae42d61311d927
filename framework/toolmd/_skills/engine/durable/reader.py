"""Read runs and their questions, without their steps."""

import datetime as dt
import json
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from toolmd._skills.engine.durable.record import caller_of, plan_of, user_prefix
from toolmd._skills.engine.durable.rows import KeptQuestion, KeptRun, kept_question, kept_run
from toolmd._skills.engine.durable.tables import Tables
from toolmd._skills.engine.durable.views import state_of
from toolmd._skills.engine.outcomes import unknown
from toolmd._types.plan import Plan
from toolmd._types.run import UNDOING, Clock, Order, RunQuery, RunState

SOME = 500
"""How many runs one statement names."""
RECENT = dt.timedelta(seconds=10)
"""What counts as recent: a transaction may take long."""


class RunReader:
    """The runs of a database as it stores them; blocking, and safe for threads."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._tables = Tables(engine)
        run = self._tables.run
        self._columns = (run.c.id, run.c.skill, run.c.inputs, run.c.began, run.c.segment,
                         run.c.parked, run.c.stuck, run.c.cancelled, run.c.result,
                         run.c.ended)  # fmt: skip
        self._unfinished = run.c.result.is_(None)

    def found(self, run_id: str) -> KeptRun:
        """Return a run; raises NotFoundError."""
        for row in self.some([run_id]):
            return row
        raise unknown(run_id)

    def some(self, ids: Iterable[str]) -> tuple[KeptRun, ...]:
        """Return the runs with these ids, without missing ones."""
        found = sa.select(*self._columns).where(self._tables.run.c.id.in_(list(ids)))
        with self._engine.connect() as connection:
            return tuple(kept_run(row) for row in connection.execute(found))

    def page(self, query: RunQuery) -> tuple[KeptRun, ...]:
        """Return the runs that match a query, the newest first."""
        run = self._tables.run
        newest = sa.select(*self._columns).order_by(run.c.began.desc(), run.c.id.desc())
        if query.user is not None:
            prefix = user_prefix(query.user)
            newest = newest.where(sa.func.substr(run.c.caller, 1, len(prefix)) == prefix)
        if query.after is not None:
            began, run_id = query.after
            same = sa.and_(run.c.began == began, run.c.id < run_id)
            newest = newest.where(sa.or_(run.c.began < began, same))
        newest = newest.limit(query.limit)
        with self._engine.connect() as connection:
            return tuple(kept_run(row) for row in connection.execute(newest))

    def order(self, run_id: str) -> Order:
        """Return the order of a run with its pinned plan; raises NotFoundError."""
        for order in self.orders([run_id]):
            return order
        raise unknown(run_id)

    def orders(self, ids: Iterable[str]) -> tuple[Order, ...]:
        """Return the orders of these runs with their pinned plans, without missing ones."""
        run, plan, wanted = self._tables.run, self._tables.plan, list(ids)
        rows: list[Any] = []
        with self._engine.connect() as connection:
            for first in range(0, len(wanted), SOME):
                some = run.c.id.in_(wanted[first : first + SOME])
                rows += connection.execute(sa.select(*run.c).where(some))
            hashes = {row.plan for row in rows}
            pinned = sa.select(plan.c.hash, plan.c.plan).where(plan.c.hash.in_(hashes))
            plans = {row.hash: plan_of(row.plan) for row in connection.execute(pinned)}
        return tuple(_order(row, plans[row.plan]) for row in rows)

    def unfinished(self) -> dict[RunState, int]:
        """Return the number of unfinished runs by state."""
        run = self._tables.run
        parked = (run.c.parked > 0, "waiting")
        scheduled = (sa.and_(run.c.parked > 0, run.c.segment == 0), "scheduled")
        state = sa.case((run.c.stuck > 0, "stuck"), scheduled, parked, else_="running")
        counted = sa.select(state, sa.func.count()).where(self._unfinished).group_by(state)
        with self._engine.connect() as connection:
            return {row[0]: row[1] for row in connection.execute(counted)}

    def cancelled(self) -> set[str]:
        """Return the ids of the cancelled runs that have not ended."""
        run = self._tables.run
        marked = sa.select(run.c.id).where(self._unfinished, run.c.cancelled > 0)
        with self._engine.connect() as connection:
            return set(connection.execute(marked).scalars())

    def executing(self, after: str, limit: int) -> tuple[tuple[str, int], ...]:
        """Return runs after this id that a process executes or will, with their attempt."""
        run = self._tables.run
        named = sa.select(run.c.id, run.c.segment).where(
            self._unfinished, run.c.stuck == 0, run.c.parked == 0, run.c.id > after
        )
        with self._engine.connect() as connection:
            rows = connection.execute(named.order_by(run.c.id).limit(limit))
            return tuple((row.id, row.segment) for row in rows)

    def changed(
        self, clock: Clock, ids: Iterable[str]
    ) -> tuple[tuple[str, str, RunState, str | None], ...]:
        """Return the runs that execute, and those that recently began, asked or ended, or of `ids`.

        Each comes with its skill, its state and its user.
        """
        run, question, since = self._tables.run, self._tables.question, clock() - RECENT
        executes = sa.and_(self._unfinished, run.c.stuck == 0, run.c.parked == 0)
        asked = sa.select(question.c.run).where(question.c.opened >= since.timestamp())
        moment, named = since.isoformat(), run.c.id.in_([*ids])
        recent = sa.or_(executes, run.c.began >= moment, run.c.ended >= moment)
        chosen = sa.select(*self._columns, run.c.caller).where(
            sa.or_(recent, named, run.c.id.in_(asked))
        )
        with self._engine.connect() as connection:
            rows = [(row, kept_run(row)) for row in connection.execute(chosen.limit(SOME))]
        return tuple(
            (row.id, row.skill, state_of(kept, waits=kept.parked > 0), caller_of(row.caller).user)
            for row, kept in rows
        )

    def expired(self, now: float) -> tuple[tuple[str, str], ...]:
        """Return the runs and keys of the questions whose time is up."""
        c = self._tables.question.c
        late = sa.select(c.run, c.key).where(c.answer.is_(None), c.expires <= now)
        with self._engine.connect() as connection:
            return tuple((row.run, row.key) for row in connection.execute(late))

    def asked(self, run_id: str) -> tuple[KeptQuestion, ...]:
        """Return all questions of a run, answered or not, in order."""
        with self._engine.connect() as connection:
            return asked_in(connection, self._tables, self._tables.question.c.run == run_id)

    def open(
        self,
        ids: Iterable[str] | None = None,
        after: tuple[float, str] | None = None,
        limit: int | None = None,
    ) -> tuple[KeptQuestion, ...]:
        """Return the open questions of all unfinished runs, or of these, the oldest first.

        `after` is the time and the id of the question after which to begin.
        """
        run, question = self._tables.run, self._tables.question
        going = sa.exists().where(run.c.id == question.c.run, self._unfinished)
        goes_on = going.where(run.c.cancelled == 0)
        goes_back = sa.and_(going, question.c.key.contains(UNDOING, autoescape=True))
        wanted = [question.c.answer.is_(None), sa.or_(goes_on, goes_back)]
        if ids is not None:
            wanted.append(question.c.run.in_(list(ids)))
        named = question.c.run + "/" + question.c.key
        if after is not None:
            later = sa.or_(question.c.opened > after[0], named > after[1])
            wanted += [question.c.opened >= after[0], later]
        chosen = sa.select(question).where(*wanted).order_by(question.c.opened, named).limit(limit)
        with self._engine.connect() as connection:
            return tuple(kept_question(row) for row in connection.execute(chosen))


def order_in(connection: sa.Connection, tables: Tables, row: Any) -> Order:
    """Return the order of a run, given its row, with its pinned plan."""
    plan = tables.plan
    pinned = sa.select(plan.c.plan).where(plan.c.hash == row.plan)
    text = connection.execute(pinned).scalar_one()
    return _order(row, plan_of(text))


def _order(row: Any, plan: Plan) -> Order:
    return Order(row.id, plan, json.loads(row.inputs), caller_of(row.caller), row.confidence)


def asked_in(connection: sa.Connection, tables: Tables, *where: Any) -> tuple[KeptQuestion, ...]:
    """Return the questions that meet these conditions, the oldest first."""
    question = tables.question
    chosen = sa.select(question).where(*where).order_by(question.c.opened, question.c.key)
    return tuple(kept_question(row) for row in connection.execute(chosen))
