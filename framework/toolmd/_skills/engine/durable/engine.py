"""The durable engine: every process that opens it executes runs and resumes orphaned ones."""

import asyncio
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from toolmd._skills.engine import ALL_RUNS, Ask, Play
from toolmd._skills.engine.durable.attempt import Attempts, RunWaiter, in_thread
from toolmd._skills.engine.durable.heartbeat import Heartbeat
from toolmd._skills.engine.durable.liveness import Locks
from toolmd._skills.engine.durable.loop_bridge import LoopBridge
from toolmd._skills.engine.durable.process import STORE_WAIT_S, Process, soon
from toolmd._skills.engine.durable.reclaimer import Reclaimer
from toolmd._skills.engine.durable.rows import KeptQuestion, KeptRun
from toolmd._skills.engine.durable.store import Store
from toolmd._skills.engine.durable.views import stuck, too_late, view
from toolmd._skills.engine.outcomes import taken, unknown, waiting
from toolmd._store.database import (
    address,
    is_postgres,
    open_database,
    outspoken,
)
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, Clock, Order, RunListener, RunQuery, RunView
from toolmd.errors import ToolmdError, UnreachableError

GRACE_S = 10.0
"""How long the ending process waits for calls in progress, in seconds."""
RECORD_S = 0.5
"""The same where it would block an event loop: long enough to record the end of a run."""


class DurableEngine:
    """Keeps runs in a database; any process can resume a run."""

    def __init__(
        self,
        play: Play,
        engine: str,
        state: Path,
        *,
        clock: Clock,
        store_wait_s: float = STORE_WAIT_S,
    ) -> None:
        """Open the engine of the setting `store` with the state folder `state`.

        `store` is `sqlite` or a Postgres URL. A caller waits for a run that can't be recorded for
        `store_wait_s` seconds. Raises ConfigError for an unusable setting, UnreachableError for a
        database that does not answer.
        """
        self._url = address(engine, state)
        self._database = open_database(self._url)
        told = outspoken(self._database)
        self._store = Store(told)
        try:
            self._store.create()
        except BaseException:
            self._database.dispose()
            raise
        self.code = self._store.code
        """The Python of the runs."""
        self._locks = Heartbeat(told) if is_postgres(engine) else Locks(state / "workers")
        self._clock, self._store_wait_s = clock, store_wait_s
        self._attempts = Attempts(play, self._store, clock)
        self._process: Process | None = None
        self._ended = threading.Event()
        self._starting = threading.Lock()
        self._reclaimer: Reclaimer | None = None

    async def run(
        self, order: Order, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Run an order; one with a known id is resumed.

        Raises ToolmdError where the id belongs to another run.
        """
        process = await in_thread(self.start)
        began = self._clock()
        if not await in_thread(lambda: self._store.begin(order, began)):
            known = await in_thread(lambda: self._store.order(order.id))
            if not order.is_of(known):
                raise ToolmdError(taken(order.id))
        self._attempts.waiters[order.id] = RunWaiter(LoopBridge.here(), watch)
        await soon(process.do(lambda: process.begin(order.id)), order.id)
        return await self._drive(order.id, ask, -1)

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
        row = await in_thread(lambda: self._found(run_id))
        asked = await in_thread(lambda: self._store.asked(run_id))
        now = self._clock()
        won = any(one.question.key == key and row.waits_for(one) for one in asked)
        if not won or not await in_thread(lambda: self._store.settle(run_id, key, answer, now)):
            raise await in_thread(lambda: too_late(row, key, self._store.asked(run_id)))
        return await self._go_on(row, ask, watch)

    async def resume(
        self, run_id: str, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Resume a run that stands still; an expired question is answered with a no."""
        row = await in_thread(lambda: self._found(run_id))
        process = await in_thread(self.start)
        self._attempts.waiters[run_id] = RunWaiter(LoopBridge.here(), watch)
        if row.stuck:
            await in_thread(
                lambda: self._store.change(
                    run_id, at=row.segment, stuck=0, attempts=0, segment=row.segment + 1
                )
            )
            await soon(process.do(lambda: process.follow(run_id, row.segment + 1, 0.0)), run_id)
        elif row.result is None and row.segment == 0 and not row.parked:
            await soon(process.do(lambda: process.begin(run_id)), run_id)
        now = self._clock().timestamp()
        asked = await in_thread(lambda: self._store.asked(run_id))
        if any(o.answer is None and o.expires is not None and o.expires <= now for o in asked):
            return await self._go_on(row, ask, watch)
        return await self._drive(run_id, ask, -1)

    async def cancel(self, run_id: str) -> SkillResult:
        """Stop a run before its next call, and undo its steps."""
        row = await in_thread(lambda: self._found(run_id))
        if row.result is not None:
            return row.result
        await in_thread(lambda: self._store.cancel(run_id))
        self._attempts.cancel(run_id)
        if row.stuck:
            return await self.resume(run_id)
        return await self._go_on(row, None, None)

    async def runs(self, query: RunQuery = ALL_RUNS) -> tuple[RunView, ...]:
        """Return the runs that match a query, the newest first."""
        return await in_thread(lambda: self.views(query))

    async def show(self, run_id: str) -> RunView:
        """Return one run with its steps; raises NotFoundError."""
        return await in_thread(lambda: self.view(run_id))

    def views(self, query: RunQuery = ALL_RUNS) -> tuple[RunView, ...]:
        """Return the runs without their steps, from the database alone."""
        waits: dict[str, list[KeptQuestion]] = {}
        for one in self._store.open():
            waits.setdefault(one.question.run_id, []).append(one)
        return tuple(view(row, waits.get(row.id, [])) for row in self._store.page(query))

    def view(self, run_id: str) -> RunView:
        """Return one run with its steps; raises NotFoundError."""
        row = self._found(run_id)
        entries, _ = self._store.steps(run_id, row.segment)
        return view(row, self._store.asked(run_id), entries)

    def order(self, run_id: str) -> Order:
        """Return the order of a run; raises NotFoundError."""
        self._found(run_id)
        return self._store.order(run_id)

    def waiting(self, run_id: str | None = None) -> tuple[KeptQuestion, ...]:
        """Return the open questions of all runs, or of one, the oldest first."""
        return self._store.open(run_id)

    def start(self) -> Process:
        """Start to execute runs; from now on this process reclaims orphaned ones."""
        with self._starting:
            if self._process is None:
                process = Process(self._url, self._locks.own, self._attempts.play)
                # Before the launch, which accepts work: other processes must see this one as alive.
                self._locks.live()
                self._attempts.process = process
                process.start(self._database)
                self._process = process
                self._reclaimer = Reclaimer(process, self._attempts, self._store, self._locks)
                self._reclaimer.start()
            return self._process

    def close(self) -> None:
        """Stop: calls in progress finish, and another process resumes the rest."""
        self._attempts.open = False
        self._ended.set()
        if (process := self._process) is not None:
            if self._reclaimer is not None:
                self._reclaimer.end()
            process.stop(GRACE_S if _may_block() else RECORD_S)
            self._process = None
        with suppress(OSError, sa.exc.SQLAlchemyError, UnreachableError):
            self._locks.end()
        self._database.dispose()

    async def _go_on(self, row: KeptRun, ask: Ask | None, watch: RunListener | None) -> SkillResult:
        """Wake a waiting run, and wait for its next result."""
        process = await in_thread(self.start)
        self._attempts.waiters[row.id] = RunWaiter(LoopBridge.here(), watch)
        if row.parked:
            await soon(process.do(lambda: process.wake(row.id, row.segment)), row.id)
        return await self._drive(row.id, ask, row.segment if row.parked else -1)

    async def _drive(self, run_id: str, ask: Ask | None, after: int) -> SkillResult:
        """Wait for a run to end, and ask its questions where a person is available."""
        assert self._process is not None
        process = self._process
        try:
            while True:
                row = await self._stopped(run_id, after)
                if row.result is not None:
                    return row.result
                if row.stuck:
                    return stuck(row)
                asked = await in_thread(lambda: self._store.asked(run_id))
                one = next(filter(row.waits_for, asked), None)
                if one is not None:
                    answer = None if ask is None else await self._asked(one, ask)
                    if answer is None:
                        return waiting(one.question)
                    await self._settle(one, answer)
                await soon(process.do(partial(process.wake, run_id, row.segment)), run_id)
                after = row.segment
        finally:
            self._attempts.waiters.pop(run_id, None)

    async def _stopped(self, run_id: str, after: int) -> KeptRun:
        """Wait until a run ended, or is parked in a later attempt than `after`."""
        pause, until = 0.01, time.monotonic() + STORE_WAIT_S
        while True:
            try:
                row = await in_thread(lambda: self._found(run_id))
                until = time.monotonic() + STORE_WAIT_S
            except UnreachableError:
                # The database may return soon, and the run then continues by itself.
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(1.0)
                continue
            if row.result is not None or row.stuck or (row.parked and row.segment > after):
                return row
            if self._ended.is_set():
                raise ToolmdError(
                    f"the workspace is closed; run {run_id} goes on at the next start"
                )
            # Another process may execute the run, whose events do not arrive here.
            waiter = self._attempts.waiters.get(run_id)
            if waiter is not None:
                waiter.check(self._store_wait_s)
            await (asyncio.sleep if waiter is None else waiter.wait)(pause)
            pause = min(pause * 1.5, 0.2)

    async def _asked(self, one: KeptQuestion, ask: Ask) -> Answer | None:
        """Return the person's answer, or the one that came from elsewhere or by expiry."""
        question = one.question
        asking = asyncio.ensure_future(ask(question))
        try:
            while not asking.done():
                await asyncio.wait({asking}, timeout=0.2)
                if asking.done():
                    break
                if one.expires is not None and one.expires <= self._clock().timestamp():
                    return Answer(approved=False, late=True)
                asked = await in_thread(lambda: self._store.asked(question.run_id))
                for now in asked:
                    if now.question.key == question.key and now.answer is not None:
                        return now.answer
            return asking.result()
        finally:
            asking.cancel()

    async def _settle(self, one: KeptQuestion, answer: Answer) -> None:
        question, now = one.question, self._clock()
        await in_thread(lambda: self._store.settle(question.run_id, question.key, answer, now))

    def _found(self, run_id: str) -> KeptRun:
        row = self._store.find(run_id)
        if row is None:
            raise unknown(run_id)
        return row


def _may_block() -> bool:
    """Return whether this thread may block: within a loop, calls in progress could not end."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False
