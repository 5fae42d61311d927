"""Store runs besides their steps: orders, questions with answers, and results."""

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from toolmd._skills.engine.durable.code import PinnedCode
from toolmd._skills.engine.durable.record import (
    caller_of,
    plan_of,
    plan_text,
    user_prefix,
    value_of,
    written,
)
from toolmd._skills.engine.durable.rows import KeptQuestion, KeptRun, kept_question, kept_run
from toolmd._skills.engine.durable.tables import Tables
from toolmd._types.result import SkillResult
from toolmd._types.run import UNDOING, Answer, JournalEntry, Order, Question, RunQuery

_GOING = ("PENDING", "ENQUEUED", "DELAYED")
"""The states in DBOS of workflows that execute, or will."""
_UNHEARD, _HEARD = 1, 2
"""The states of a cancelled run: whether an attempt that knew of it has executed."""


def workflow_id(run_id: str, segment: int) -> str:
    """Return the name of the workflow for one attempt of a run."""
    return f"{run_id}:{segment}"


class Store:
    """The records of all runs of a database; blocking, and safe for threads and processes."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._tables = tables = Tables(engine)
        insert = sqlite.insert if engine.dialect.name == "sqlite" else postgresql.insert
        self._insert: Any = insert
        self.code = PinnedCode(engine, tables, insert)
        run = tables.run
        self._head = (run.c.id, run.c.skill, run.c.inputs, run.c.began, run.c.segment,
                      run.c.parked, run.c.stuck, run.c.cancelled, run.c.result,
                      run.c.ended)  # fmt: skip

    def create(self) -> None:
        """Create missing tables."""
        self._tables.create()

    def begin(self, order: Order, began: dt.datetime) -> bool:
        """Store a new run; return False where its id is in use."""
        text, digest = plan_text(order.plan)
        plan = {"hash": digest, "plan": text}
        row = {
            "id": order.id, "skill": order.plan.skill.name, "plan": digest,
            "inputs": json.dumps(order.inputs), "caller": written(order.caller),
            "confidence": order.confidence, "began": began.isoformat(), "segment": 0,
            "parked": 0.0, "held": 0, "attempts": 0, "stuck": 0, "cancelled": 0,
        }  # fmt: skip
        with self._engine.begin() as connection:
            made = self._insert(self._tables.run).values(row).on_conflict_do_nothing()
            # The row count of an insert is not available on every database.
            new = connection.execute(made.returning(self._tables.run.c.id)).first()
            fresh = new is not None
            if fresh:
                keep = self._insert(self._tables.plan).values(plan).on_conflict_do_nothing()
                connection.execute(keep)
        return fresh

    def find(self, run_id: str) -> KeptRun | None:
        """Return a run, or None."""
        run = self._tables.run
        with self._engine.connect() as connection:
            row = connection.execute(sa.select(*self._head).where(run.c.id == run_id)).first()
        return None if row is None else kept_run(row)

    def page(self, query: RunQuery) -> tuple[KeptRun, ...]:
        """Return the runs that match a query, the newest first."""
        run = self._tables.run
        newest = sa.select(*self._head).order_by(run.c.began.desc(), run.c.id.desc())
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
        """Return the order of a run, with its pinned plan."""
        run, plan = self._tables.run, self._tables.plan
        columns = (plan.c.plan, run.c.inputs, run.c.caller, run.c.confidence)
        joined = sa.select(*columns).where(run.c.id == run_id, plan.c.hash == run.c.plan)
        with self._engine.connect() as connection:
            pinned, inputs, caller, confidence = connection.execute(joined).one()
        return Order(run_id, plan_of(pinned), json.loads(inputs), caller_of(caller), confidence)

    def attempt(self, run_id: str, held: int) -> int:
        """Count a try from `held` steps; return how many tries made no progress."""
        run = self._tables.run
        tries = sa.case((run.c.held == held, run.c.attempts + 1), else_=1)
        update = sa.update(run).where(run.c.id == run_id).values(held=held, attempts=tries)
        with self._engine.begin() as connection:
            counted: int = connection.execute(update.returning(run.c.attempts)).scalar_one()
        return counted

    def change(self, run_id: str, *, at: int | None = None, **values: Any) -> bool:
        """Set columns of a run that has not ended; with `at`, only in this attempt.

        The number of the attempt only grows.
        """
        run = self._tables.run
        update = sa.update(run).where(run.c.id == run_id, run.c.result.is_(None)).values(**values)
        if "segment" in values:
            # A process that was stopped may wake after others have continued the run.
            update = update.where(run.c.segment <= values["segment"])
        if at is not None:
            update = update.where(run.c.segment == at)
        with self._engine.begin() as connection:
            return connection.execute(update).rowcount == 1

    def due(self) -> tuple[tuple[str, int], ...]:
        """Return waiting runs that were answered or cancelled, with the attempt to wake."""
        run, question = self._tables.run, self._tables.question
        answered = sa.exists().where(question.c.run == run.c.id, question.c.woke > 0)
        waiting = sa.select(run.c.id, run.c.segment).where(
            run.c.parked > 0, run.c.result.is_(None), sa.or_(run.c.cancelled == _UNHEARD, answered)
        )
        with self._engine.connect() as connection:
            return tuple((row.id, row.segment) for row in connection.execute(waiting))

    def left(self) -> tuple[tuple[str, int], ...]:
        """Return the unfinished runs, with their attempt, that no process will execute.

        A process that dies between two writes leaves such runs.
        """
        run, workflow = self._tables.run, self._tables.workflows
        name = run.c.id + ":" + sa.cast(run.c.segment, sa.Text)
        played = sa.exists().where(workflow.c.workflow_uuid == name, workflow.c.status.in_(_GOING))
        nobodys = sa.select(run.c.id, run.c.segment).where(
            run.c.result.is_(None), run.c.stuck == 0, ~played
        )
        with self._engine.connect() as connection:
            return tuple((row.id, row.segment) for row in connection.execute(nobodys))

    def owners(self, version: str) -> set[str]:
        """Return the names of the processes whose workflows are marked as executing."""
        own = self._tables.workflows.c
        named = sa.select(own.executor_id).distinct()
        playing = named.where(own.status == "PENDING", own.application_version == version)
        with self._engine.connect() as connection:
            return set(connection.execute(playing).scalars())

    def cancel(self, run_id: str) -> None:
        """Mark a run as cancelled."""
        self.change(run_id, cancelled=_UNHEARD)

    def hear(self, run_id: str) -> None:
        """Record that an attempt knows of the cancellation, so it need not wake for it."""
        self.change(run_id, cancelled=_HEARD)

    def finish(self, run_id: str, result: SkillResult, now: dt.datetime) -> None:
        """Store the result; the first one stays."""
        self.change(run_id, result=written(result), ended=now.isoformat(), stuck=0)

    def steps(self, run_id: str, segments: int) -> tuple[tuple[JournalEntry, ...], int]:
        """Return the recorded effects in order, and the last step number of the latest attempt.

        Raises ValueError for a row that is not ours.
        """
        steps = self._tables.steps
        names = {workflow_id(run_id, number): number for number in range(segments + 1)}
        chosen = sa.select(steps).where(steps.c.workflow_uuid.in_(names))
        with self._engine.connect() as connection:
            rows = connection.execute(chosen).all()
        entries, last = [], 0
        for row in sorted(rows, key=lambda row: (names[row.workflow_uuid], row.function_id)):
            if names[row.workflow_uuid] == segments:
                last = row.function_id
            if row.child_workflow_id is None and row.output is not None:
                kept = value_of(row.output, row.serialization)
                entries.append(JournalEntry(row.function_name, kept["value"], kept["at"]))
        return tuple(entries), last

    def ask(self, questions: Sequence[Question], now: float) -> None:
        """Open questions; an open or answered one stays unchanged."""
        rows = [
            {
                "run": question.run_id, "key": question.key, "question": written(question),
                "opened": now,
                "expires": None if question.timeout_s is None else now + question.timeout_s,
            }
            for question in questions
        ]  # fmt: skip
        with self._engine.begin() as connection:
            insert = self._insert(self._tables.question).on_conflict_do_nothing()
            connection.execute(insert, rows)

    def asked(self, run_id: str) -> tuple[KeptQuestion, ...]:
        """Return all questions of a run, answered or not, in order."""
        return self._asked(self._tables.question.c.run == run_id)

    def open(self, run_id: str | None = None) -> tuple[KeptQuestion, ...]:
        """Return the open questions of all unfinished runs, or of one."""
        run, question = self._tables.run, self._tables.question
        going = sa.exists().where(run.c.id == question.c.run, run.c.result.is_(None))
        goes_on = going.where(run.c.cancelled == 0)
        goes_back = sa.and_(going, question.c.key.contains(UNDOING, autoescape=True))
        here = sa.true() if run_id is None else question.c.run == run_id
        return self._asked(question.c.answer.is_(None), here, sa.or_(goes_on, goes_back))

    def _asked(self, *where: Any) -> tuple[KeptQuestion, ...]:
        question = self._tables.question
        chosen = sa.select(question).where(*where).order_by(question.c.opened, question.c.key)
        with self._engine.connect() as connection:
            return tuple(kept_question(row) for row in connection.execute(chosen))

    def settle(self, run_id: str, key: str, answer: Answer, now: dt.datetime) -> bool:
        """Answer a question; return True only for the first answer, and not after its expiry."""
        question = self._tables.question
        still = sa.true() if answer.late else sa.or_(
            question.c.expires.is_(None), question.c.expires > now.timestamp()
        )  # fmt: skip
        update = (
            sa.update(question)
            .where(question.c.run == run_id, question.c.key == key)
            .where(question.c.answer.is_(None), still)
            .values(answer=written(answer), answered=now.isoformat(), woke=1.0)
        )
        with self._engine.begin() as connection:
            return connection.execute(update).rowcount == 1

    def heed(self, run_id: str, segment: int) -> tuple[KeptQuestion, ...]:
        """Return all questions of a run for its attempt; their answers wake no other attempt.

        No clock decides which answer is new: clocks of two machines differ, and each may jump.
        """
        asked, run, question = self.asked(run_id), self._tables.run, self._tables.question
        answered = [one.question.key for one in asked if one.answer is not None]
        playing = sa.exists().where(run.c.id == run_id, run.c.segment == segment)
        known = sa.update(question).where(
            question.c.run == run_id, question.c.key.in_(answered), question.c.woke > 0, playing
        )
        if answered:
            with self._engine.begin() as connection:
                connection.execute(known.values(woke=0.0))
        return asked

    def forget(self, before: dt.datetime) -> tuple[str, ...]:
        """Delete the runs that ended before a time, and return the names of their workflows."""
        run, question, plan = self._tables.run, self._tables.question, self._tables.plan
        with self._engine.begin() as connection:
            old = connection.execute(
                sa.delete(run)
                .where(run.c.ended < before.isoformat())
                .returning(run.c.id, run.c.segment)
            ).all()
            ids = [row.id for row in old]
            connection.execute(sa.delete(question).where(question.c.run.in_(ids)))
            connection.execute(sa.delete(plan).where(plan.c.hash.not_in(sa.select(run.c.plan))))
            plans = connection.execute(sa.select(plan.c.plan)).scalars().all()
        self.code.forget({plan_of(text).code for text in plans})
        return tuple(workflow_id(row.id, n) for row in old for n in range(row.segment + 1))
