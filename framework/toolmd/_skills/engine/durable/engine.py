"""The durable engine: every process that opens it executes runs and resumes orphaned ones."""

import asyncio
import datetime as dt
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from toolmd._skills.engine import ALL_RUNS, Ask, Execute
from toolmd._skills.engine.durable.attempt import Attempts
from toolmd._skills.engine.durable.heartbeat import Heartbeat
from toolmd._skills.engine.durable.liveness import Locks
from toolmd._skills.engine.durable.loop_bridge import in_thread
from toolmd._skills.engine.durable.process import STORE_WAIT_S, ElsewhereError, Process, soon
from toolmd._skills.engine.durable.reclaimer import Reclaimer
from toolmd._skills.engine.durable.rows import KeptQuestion
from toolmd._skills.engine.durable.store import Store
from toolmd._skills.engine.durable.views import stuck, too_late, view
from toolmd._skills.engine.durable.waiters import LOOK_S, RunWaiter, Waiters
from toolmd._skills.engine.durable.workers import Workers
from toolmd._skills.engine.durable.workflows import Workflows
from toolmd._skills.engine.outcomes import taken, waiting
from toolmd._store import is_postgres
from toolmd._store.database import Pace, address, open_database, outspoken
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, Clock, Order, Question, RunListener, RunQuery, RunView
from toolmd.errors import ToolmdError, UnreachableError


class DurableEngine:
    """Keeps runs in a database; any process can resume a run."""

    def __init__(
        self,
        execute: Execute,
        store: str,
        state: Path,
        *,
        clock: Clock,
        store_wait_s: float = STORE_WAIT_S,
    ) -> None:
        """Open the engine of the setting `store` with the state folder `state`.

        A caller waits for a run that can't be recorded for `store_wait_s` seconds. Raises
        ConfigError for an unusable setting, UnreachableError for a database that does not answer.
        """
        self._url = address(store, state)
        self._database = open_database(self._url, Pace(shared=True))
        # Readers of a SQLite file wait for no writer, and writers for no reader.
        postgres = is_postgres(store)
        self._readers = self._database if postgres else open_database(self._url, Pace())
        told, readers = outspoken(self._database), outspoken(self._readers)
        self._workflows = Workflows(readers)
        self._store = Store(told, readers, self._workflows)
        try:
            self._store.create()
        except BaseException:
            self._database.dispose()
            raise
        self._reader, self.code = self._store.reader, self._store.code
        self.ticks = self._store.ticks
        self.orders = self._reader.orders
        self.unfinished = self._reader.unfinished
        self._locks = Heartbeat(told) if postgres else Locks(state / "workers")
        self.workers = Workers(self._workflows, self._locks)
        self._clock: Clock = lambda: clock() + self._locks.ahead
        self.changed = partial(self._reader.changed, self._clock)
        self._waiters = Waiters(
            self._reader, lambda: self._process.runs() if self._process else set(), store_wait_s
        )
        lives = self._locks.lives
        self._attempts = Attempts(execute, self._store, self._waiters, lives, self._clock)
        self._process: Process | None = None
        self._starting = threading.Lock()
        self._reclaimer: Reclaimer | None = None

    async def run(
        self, order: Order, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Run an order; one with a known id is resumed.

        Raises ToolmdError where the id belongs to another run.
        """
        process = await self._started()
        began = self._clock()
        row = await in_thread(lambda: self._store.new(order, began))
        self._attempts.orders[order.id] = order
        with self._waiters.wait(order.id, -1, watch) as waiter:
            try:
                if process is None:
                    new = await in_thread(lambda: self._workflows.order(row))
                else:
                    new = await soon(process.do(lambda: process.begin(row)), order.id)
                known = partial(self._is_known, order)
                while not (new or await in_thread(known)):  # noqa: ASYNC110 - a row tells it
                    # Another process has yet to begin it.
                    await asyncio.sleep(LOOK_S)
                return await self._drive(waiter, ask)
            finally:
                self._attempts.orders.pop(order.id, None)

    async def schedule(self, order: Order, at: dt.datetime) -> SkillResult:
        """Keep an order that starts at a time; a known one stays as it is."""
        await self._started()
        start, now = Question.start(order, at), self._clock().timestamp()
        row = await in_thread(lambda: self._store.new(order, at))
        if not await in_thread(lambda: self._store.schedule(row, start, now)):
            await in_thread(lambda: self._is_known(order))
        return waiting(start)

    async def answer(
        self,
        run_id: str,
        key: str,
        answer: Answer,
        *,
        ask: Ask | None = None,
        watch: RunListener | None = None,
    ) -> SkillResult:
        """Answer an open question and continue the run; the first answer counts.

        Raises NotFoundError, which names the earlier answer or the time of expiry.
        """
        row = await in_thread(lambda: self._reader.found(run_id))
        asked = await in_thread(lambda: self._reader.asked(run_id))
        now = self._clock()
        with self._waiters.wait(run_id, row.segment, watch) as waiter:
            if not row.asks(key, asked) or not await in_thread(
                lambda: self._store.settle(run_id, key, answer, now)
            ):
                raise await in_thread(lambda: too_late(row, key, self._reader.asked(run_id)))
            await self._started()
            return await self._drive(waiter, ask)

    async def resume(
        self, run_id: str, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Resume a run that stands still; an expired question is answered with a no."""
        row = await in_thread(lambda: self._reader.found(run_id))
        asked = await in_thread(lambda: self._reader.asked(run_id))
        over = [one for one in asked if row.waits_for(one) and one.is_over(self._clock())]
        after = row.segment + row.stuck if row.stuck or over else -1
        with self._waiters.wait(run_id, after, watch) as waiter:
            if row.stuck:
                await in_thread(lambda: self._store.begin_anew(run_id, row.segment))
            for one in over:
                await self._settle(one, Answer(approved=False, late=True))
            await self._started()
            return await self._drive(waiter, ask)

    async def cancel(self, run_id: str) -> SkillResult:
        """Stop a run before its next call, and undo its steps."""
        row = await in_thread(lambda: self._reader.found(run_id))
        if row.result is not None:
            return row.result
        after = -1 if row.cancelled else row.segment + row.stuck
        with self._waiters.wait(run_id, after, None) as waiter:
            await in_thread(lambda: self._store.cancel(run_id))
            self._waiters.cancelled.add(run_id)
            if row.stuck:
                await in_thread(lambda: self._store.begin_anew(run_id, row.segment))
            await self._started()
            return await self._drive(waiter, None)

    async def runs(self, query: RunQuery = ALL_RUNS) -> tuple[RunView, ...]:
        """Return the runs that match a query, the newest first."""
        return await in_thread(lambda: self.views(query))

    async def show(self, run_id: str) -> RunView:
        """Return one run with its steps; raises NotFoundError."""
        return await in_thread(lambda: self.view(run_id))

    def views(self, query: RunQuery = ALL_RUNS) -> tuple[RunView, ...]:
        """Return the runs without their steps, from the database alone."""
        rows = self._reader.page(query)
        waits: dict[str, list[KeptQuestion]] = {}
        for one in self._reader.open([row.id for row in rows if row.parked]):
            waits.setdefault(one.question.run_id, []).append(one)
        return tuple(view(row, waits.get(row.id, [])) for row in rows)

    def view(self, run_id: str) -> RunView:
        """Return one run with its steps; raises NotFoundError."""
        row = self._reader.found(run_id)
        entries, _ = self._store.steps(run_id, row.segment)
        return view(row, self._reader.asked(run_id), entries)

    def waiting(
        self, run_id: str | None = None, after: tuple[float, str] | None = None,
        limit: int | None = None,
    ) -> tuple[KeptQuestion, ...]:  # fmt: skip
        """Return the open questions of all runs, or of one, the oldest first."""
        return self._reader.open(None if run_id is None else [run_id], after, limit)

    def start(self) -> Process:
        """Start to execute runs; from now on this process reclaims orphaned ones.

        Raises ElsewhereError where this process executes the runs of another store.
        """
        with self._starting:
            if self._process is None:
                own, execute = self._locks.own, self._attempts.execute
                process = Process(self._url, own, execute, self._workflows)
                # Before the launch, which accepts work: other processes must see this one as alive.
                self._locks.live()
                process.start(self._database)
                self._process = process
                self._reclaimer = Reclaimer(
                    process, self._store, self._workflows, self._locks, self._clock
                )
                self._reclaimer.start()
                self._waiters.start()
            return self._process

    def hold(self) -> None:
        """Begin no more effects in this process."""
        self._attempts.open = False

    def close(self, grace_s: float | None = None) -> None:
        """Stop: calls in progress finish within `grace_s`; other processes resume the rest."""
        self.hold()
        if (process := self._process) is not None:
            if self._reclaimer is not None:
                self._reclaimer.end()
            process.stop(grace_s)
            self._process = None
        self._waiters.end(ToolmdError("the workspace is closed; its runs go on at the next start"))
        with suppress(OSError, sa.exc.SQLAlchemyError, UnreachableError):
            self._locks.end()
        self._workflows.close()
        self._database.dispose()
        self._readers.dispose()

    async def _started(self) -> Process | None:
        """Execute runs, or return None where others do; raises ElsewhereError where none does."""
        if self._process is not None:
            return self._process
        try:
            return await in_thread(self.start)
        except ElsewhereError:
            if not await in_thread(self._others):
                raise
            self._waiters.start()
            return None

    def _others(self) -> bool:
        """Return whether another process executes the runs of this store."""
        return bool(self._locks.known() - {self._locks.own} - set(self._locks.dead()))

    def _is_known(self, order: Order) -> bool:
        """Return a known run to its callers; raise ToolmdError where it is of another order."""
        for row in self._reader.some([order.id]):
            if not order.is_of(self._reader.order(order.id)):
                raise ToolmdError(taken(order.id))
            self._waiters.come(row)
            return True
        return False

    async def _drive(self, waiter: RunWaiter, ask: Ask | None) -> SkillResult:
        """Wait for a run to end, and ask its questions where a person is available."""
        while True:
            row = await waiter.stopped()
            if row.result is not None:
                return row.result
            if row.stuck:
                return stuck(row)
            asked = await in_thread(lambda: self._reader.asked(waiter.run_id))
            one = row.first_of(asked)
            answer = None if one is None or ask is None else await self._asked(one, ask)
            if one is not None and answer is None:
                return waiting(one.question)
            waiter.wait_on(row)
            if one is not None and answer is not None:
                await self._settle(one, answer)

    async def _asked(self, one: KeptQuestion, ask: Ask) -> Answer | None:
        """Return the person's answer, or one from elsewhere or by expiry; None for a wait."""
        if not (question := one.question).asks:
            return None
        asking = asyncio.ensure_future(ask(question))
        try:
            while not asking.done():
                await asyncio.wait({asking}, timeout=0.2)
                if asking.done():
                    break
                if one.is_over(self._clock()):
                    return Answer(approved=False, late=True)
                asked = await in_thread(lambda: self._reader.asked(question.run_id))
                for now in asked:
                    if now.question.key == question.key and now.answer is not None:
                        return now.answer
            return asking.result()
        finally:
            asking.cancel()

    async def _settle(self, one: KeptQuestion, answer: Answer) -> None:
        question, now = one.question, self._clock()
        await in_thread(lambda: self._store.settle(question.run_id, question.key, answer, now))
