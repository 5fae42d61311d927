"""Store runs besides their steps: orders, questions with answers, and results.

Each change of a run is one transaction, with the workflow that it queues.
"""

import datetime as dt
import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from toolmd._skills.engine.durable.code import FRESH_S, SPARE_S, PinnedCode
from toolmd._skills.engine.durable.reader import RunReader, asked_in, order_in
from toolmd._skills.engine.durable.record import plan_of, plan_text, written
from toolmd._skills.engine.durable.rows import KeptQuestion, KeptRun, kept_run
from toolmd._skills.engine.durable.tables import Tables
from toolmd._skills.engine.durable.ticks import Ticks
from toolmd._skills.engine.durable.workflows import Workflows, workflow_id
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, Order, Question

MAX_TRIES = 10
"""How many attempts may end within the same effect before the run waits for a person."""
MAX_ATTEMPTS = 50
"""How many attempts may end without any progress, wherever they end."""
_NEW = {"segment": 0, "parked": 0.0, "held": 0, "attempts": 1, "tried": 0, "stuck": 0,
        "cancelled": 0}  # fmt: skip
_ANEW = {"held": -1, "attempts": 0, "tried": 0}
"""No attempt was made from the place of a run."""


class Head(NamedTuple):
    """What an attempt begins with."""

    row: KeptRun
    order: Order
    asked: tuple[KeptQuestion, ...] = ()
    again: bool = False
    """Whether an earlier attempt began at the same place or before it, and did not end."""
    tried: int = 0
    """How many such attempts began the next effect again."""


class Store:
    """The records of all runs of a database; blocking, and safe for threads and processes."""

    def __init__(self, engine: sa.Engine, readers: sa.Engine, workflows: Workflows) -> None:
        """Open the tables; `readers` is the same database for all that only reads."""
        self._engine = engine
        self._tables = tables = Tables(engine)
        self._workflows = workflows
        insert = sqlite.insert if engine.dialect.name == "sqlite" else postgresql.insert
        self._insert: Any = insert
        self.code = PinnedCode(engine, tables, insert)
        self.ticks = Ticks(engine, tables, insert)
        self.reader = RunReader(readers)
        self.steps = workflows.steps
        self._plans: dict[str, float] = {}
        """When this process stored which plans."""
        self._unfinished = tables.run.c.result.is_(None)

    def create(self) -> None:
        """Create missing tables."""
        self._tables.create()

    def new(self, order: Order, began: dt.datetime) -> dict[str, Any]:
        """Store the plan of an order, and return the order as a row, which is JSON."""
        text, digest = plan_text(order.plan)
        plan, now = self._tables.plan, time.time()
        if self._plans.get(digest, 0.0) < now - FRESH_S:
            insert = self._insert(plan).values(hash=digest, plan=text, kept=now)
            with self._engine.begin() as connection:
                connection.execute(
                    insert.on_conflict_do_update(index_elements=["hash"], set_={"kept": now})
                )
            self._plans[digest] = now
        return {
            "id": order.id, "skill": order.plan.skill.name, "plan": digest,
            "inputs": json.dumps(order.inputs), "caller": written(order.caller),
            "confidence": order.confidence, "began": began.isoformat(),
        }  # fmt: skip

    def begin(self, row: dict[str, Any]) -> bool:
        """Store a run whose first attempt begins; return False for a known one."""
        run = self._tables.run
        insert = self._insert(run).values({**row, **_NEW}).on_conflict_do_nothing()
        with self._engine.begin() as connection:
            # The row count of an insert is not available on every database.
            return connection.execute(insert.returning(run.c.id)).first() is not None

    def schedule(self, row: dict[str, Any], start: Question, now: float) -> bool:
        """Store a run that waits for its start; return False for a known one."""
        waits = {**row, **_NEW, **_ANEW, "parked": now}
        insert = self._insert(self._tables.run).values(waits).on_conflict_do_nothing()
        with self._engine.begin() as connection:
            if connection.execute(insert.returning(self._tables.run.c.id)).first() is None:
                return False
            connection.execute(sa.insert(self._tables.question).values(_question_row(start, now)))
        return True

    def head(self, run_id: str, segment: int, held: int) -> Head | None:
        """Begin an attempt that found `held` effects; None where it has nothing to execute."""
        run, question = self._tables.run, self._tables.question
        going = (run.c.id == run_id, run.c.segment == segment, self._unfinished)
        wake = sa.update(run).where(*going, run.c.stuck == 0).values(parked=0.0)
        with self._engine.begin() as connection:
            row = connection.execute(wake.returning(*run.c)).first()
            if row is None:
                return None
            same = row.held == held
            attempts, tried = (row.attempts + 1, row.tried) if same else (1, 0)
            counted = {"held": held, "attempts": attempts, "tried": tried}
            counted["stuck"] = int(attempts > MAX_ATTEMPTS)
            connection.execute(sa.update(run).where(run.c.id == run_id).values(counted))
            order = order_in(connection, self._tables, row)
            asked = asked_in(connection, self._tables, question.c.run == run_id)
        kept = kept_run(row)._replace(stuck=bool(counted["stuck"]))
        return Head(kept, order, asked, again=row.attempts > 0, tried=tried)

    def is_tried(self, run_id: str) -> bool:
        """Count that an attempt begins an effect again; return False where the run is stuck now."""
        run = self._tables.run
        stuck = sa.case((run.c.tried >= MAX_TRIES, 1), else_=run.c.stuck)
        update = sa.update(run).where(run.c.id == run_id).values(tried=run.c.tried + 1, stuck=stuck)
        with self._engine.begin() as connection:
            now_stuck: int = connection.execute(update.returning(run.c.stuck)).scalar_one()
        return not now_stuck

    def park(
        self, row: KeptRun, questions: Sequence[Question], now: float, *, heard: bool
    ) -> KeptRun | None:
        """End an attempt at questions; return None where another process was first.

        The next attempt begins at once where an answer or a cancellation came meanwhile; `heard`
        means that the attempt knew of the cancellation.
        """
        run, question = self._tables.run, self._tables.question
        here = (run.c.id == row.id, run.c.segment == row.segment, self._unfinished)
        after = row.segment + 1
        end = sa.update(run).where(*here).values(segment=after, parked=now, **_ANEW)
        keys = [one.key for one in questions]
        answered = sa.select(question.c.key).where(
            question.c.run == row.id, question.c.key.in_(keys), question.c.answer.is_not(None)
        )
        with self._engine.begin() as connection:
            cancelled = connection.execute(end.returning(run.c.cancelled)).scalar()
            if cancelled is None:
                return None
            if cancelled and not heard:
                self._wake(connection, row.id)
                return row._replace(segment=after, cancelled=True)
            insert = self._insert(question).on_conflict_do_nothing()
            connection.execute(insert, [_question_row(one, now) for one in questions])
            if connection.execute(answered).first() is not None:
                self._wake(connection, row.id)
                now = 0.0
        return row._replace(segment=after, parked=now, cancelled=bool(cancelled))

    def settle(self, run_id: str, key: str, answer: Answer, now: dt.datetime) -> bool:
        """Answer a question and queue its run.

        Return True only for the first answer, and not after its expiry.
        """
        question = self._tables.question
        still = sa.true() if answer.late else sa.or_(
            question.c.expires.is_(None), question.c.expires > now.timestamp()
        )  # fmt: skip
        update = (
            sa.update(question)
            .where(question.c.run == run_id, question.c.key == key)
            .where(question.c.answer.is_(None), still)
            .values(answer=written(answer), answered=now.isoformat())
        )
        with self._engine.begin() as connection:
            first = connection.execute(update).rowcount == 1
            if first:
                self._wake(connection, run_id)
        return first

    def cancel(self, run_id: str) -> bool:
        """Mark a run as cancelled and queue it if it waits; return False where it is marked."""
        run = self._tables.run
        here = (run.c.id == run_id, self._unfinished, run.c.cancelled == 0)
        with self._engine.begin() as connection:
            new = connection.execute(sa.update(run).where(*here).values(cancelled=1)).rowcount == 1
            if new:
                self._close(connection, run_id)
                self._wake(connection, run_id)
        return new

    def begin_anew(self, run_id: str, segment: int) -> None:
        """Queue another attempt of a run whose attempt `segment` no process executes."""
        run = self._tables.run
        here = (run.c.id == run_id, run.c.segment == segment, run.c.parked == 0, self._unfinished)
        again = sa.update(run).where(*here).values(segment=segment + 1, stuck=0)
        # A person resumes a stuck run, which then has all its attempts.
        again = again.values({name: sa.case((run.c.stuck > 0, value), else_=run.c[name])
                              for name, value in _ANEW.items()})  # fmt: skip
        with self._engine.begin() as connection:
            if connection.execute(again).rowcount == 1:
                self._workflows.follow(connection, run_id, segment + 1)

    def finish(self, row: KeptRun, result: SkillResult, now: dt.datetime) -> None:
        """Store the result; the first one stays."""
        run = self._tables.run
        end = sa.update(run).where(run.c.id == row.id, self._unfinished)
        with self._engine.begin() as connection:
            connection.execute(end.values(result=written(result), ended=now.isoformat()))
            if row.segment:
                self._close(connection, row.id)

    def forget(self, before: dt.datetime) -> tuple[str, ...]:
        """Delete the runs that ended before a time, and return the names of their workflows."""
        run, question, plan = self._tables.run, self._tables.question, self._tables.plan
        spare = time.time() - SPARE_S
        with self._engine.begin() as connection:
            old = connection.execute(
                sa.delete(run)
                .where(run.c.ended < before.isoformat())
                .returning(run.c.id, run.c.segment)
            ).all()
            ids = [row.id for row in old]
            connection.execute(sa.delete(question).where(question.c.run.in_(ids)))
            unused = plan.c.hash.not_in(sa.select(run.c.plan))
            connection.execute(sa.delete(plan).where(unused, plan.c.kept < spare))
            plans = connection.execute(sa.select(plan.c.plan)).scalars().all()
        self.code.forget({plan_of(text).code for text in plans})
        return tuple(workflow_id(row.id, n) for row in old for n in range(row.segment + 1))

    def _wake(self, connection: sa.Connection, run_id: str) -> None:
        """Queue the next attempt of a run that waits."""
        run = self._tables.run
        waits = sa.update(run).where(run.c.id == run_id, run.c.parked > 0, self._unfinished)
        segment = connection.execute(waits.values(parked=0.0).returning(run.c.segment)).scalar()
        if segment is not None:
            self._workflows.follow(connection, run_id, segment)

    def _close(self, connection: sa.Connection, run_id: str) -> None:
        """Let the open questions of a run expire no more."""
        c = self._tables.question.c
        still = sa.update(self._tables.question).where(c.run == run_id, c.answer.is_(None))
        connection.execute(still.values(expires=None))


def _question_row(one: Question, now: float) -> dict[str, Any]:
    ends = one.ends(dt.datetime.fromtimestamp(now, dt.UTC))
    expires = None if ends is None else ends.timestamp()
    return {"run": one.run_id, "key": one.key, "question": written(one), "opened": now,
            "expires": expires}  # fmt: skip
