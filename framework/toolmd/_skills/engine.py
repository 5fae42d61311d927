"""The engine: executes runs over one store, and takes over the runs of processes that ended.

A run executes in the loop of the caller that waits for it, else in the thread of this process
that looks for work: runs of dead processes, waits that are over, and ticks of schedules.
"""

import asyncio
import datetime as dt
import logging
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

from toolmd._skills.journal import (
    CLOSED,
    Journal,
    LostRunError,
    ParkedError,
    Process,
    Record,
    RunJournal,
    utc_now,
)
from toolmd._skills.store import (
    ALL,
    ALL_RUNS,
    MAX_TRIES,
    PARKED,
    StoredQuestion,
    StoredRun,
    ended,
    unknown,
)
from toolmd._store.database import Database
from toolmd._types.result import SkillResult
from toolmd._types.run import (
    Answer,
    Clock,
    Order,
    Question,
    RunEvent,
    RunListener,
    RunQuery,
    RunState,
    RunView,
)
from toolmd.errors import ToolmdError, UnreachableError, logged

Execute = Callable[[Order, Journal], Awaitable[SkillResult]]
"""Interprets an order over its journal; raises ParkedError."""
Ask = Callable[[Question], Awaitable[Answer | None]]
"""Asks an available person; None means that nobody is available, and the run waits."""
Tell = Callable[[Literal["run", "run-step"], dict[str, Any], str | None], None]
"""Receives a run's new state or its event as JSON, and the run's user."""
LOOK_S = 0.05
"""How often a caller looks at a run that others execute, in seconds."""
ROUND_S = 0.5
"""The pause between two looks for work, in seconds."""
AT_ONCE = 64
"""How many runs a process takes up at once; the rest is left to others."""
SUSPECT = 2
"""After how many ends of a process without a further step a run goes on alone among such runs."""
KEEP = dt.timedelta(days=30)
"""How long a run that ended is kept."""
FORGET_EVERY = 7200
"""How many looks for work pass between two deletions of old runs."""
MAX_RUNS = 1000
"""How many runs that ended are kept in memory."""
STORE_WAIT_S = 15.0
"""How long a caller waits for a store that does not answer, in seconds."""
GRACE_S = 10.0
"""How long closing waits for steps in progress, in seconds."""
LATE = Answer(approved=False, late=True)
LATER = "the run resumes from its record when the store can be reached"
T = TypeVar("T")
logger = logging.getLogger(__name__)


class Engine(Process):
    """Executes orders, keeps their records, and waits for answers.

    A waiting run returns a SkillResult with the code `waiting`; an answer continues it. Methods
    that are no coroutine functions block.
    """

    def __init__(
        self,
        execute: Execute,
        database: Database,
        *,
        clock: Clock = utc_now,
        store_wait_s: float = STORE_WAIT_S,
        tell: Tell = lambda *_told: None,
    ) -> None:
        """Prepare it; `execute` interprets an order over its journal."""
        self._execute = execute
        self._tell = tell
        super().__init__(database, clock)
        self._store_wait_s = store_wait_s
        self.each_second: Callable[[], Awaitable[None]] | None = None
        """Work that is done once a second while this process looks for work."""
        self._executing: Counter[str] = Counter()
        """The runs that this process executes or may be about to, by how many tasks."""
        self._marking = threading.Lock()
        self._attempts: set[asyncio.Task[SkillResult | None]] = set()
        self._suspect: str | None = None
        """The run that this process executes alone, as several processes ended within it."""
        self._unrecorded: dict[str, tuple[float, UnreachableError]] = {}
        """Since when which runs can't be recorded, by the monotonic clock, and why."""
        self._told: dict[str, set[tuple[str, str, str]]] = {}
        """The events of runs that were reported; of the latest runs only."""
        self._added = 0
        self._alarm: asyncio.TimerHandle | None = None
        self._catching_up: set[asyncio.Task[None]] = set()
        self._ended = threading.Event()
        self._starting = threading.Lock()

    # What callers do.

    async def run(
        self, order: Order, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Run an order to its end, or until it needs a person whom `ask` does not reach.

        An order with a known id is resumed. Raises ToolmdError where the id belongs to another run.
        """
        await self._prepare()
        began = self.clock()
        self._enter(order.id)
        add = partial(self.store.add, order, began, self.own)
        if not await self._claim(order.id, add):
            await self.do(partial(self._check_same, order))
            return await self._drive(order.id, ask, watch)
        self._added += 1
        first = await self._attempt(order.id, began, watch, order)
        return first or await self._drive(order.id, ask, watch)

    async def schedule(self, order: Order, at: dt.datetime) -> SkillResult:
        """Keep an order that starts at a time, in UTC; a known one stays as it is.

        Raises ToolmdError where the id belongs to another run.
        """
        await self._prepare()
        start, now = Question.start(order, at), self.clock().timestamp()
        if not await self.do(partial(self.store.add, order, at, None, start, now)):
            await self.do(partial(self._check_same, order))
        self._tell_state(order, "scheduled")
        await self._catch_up()
        return start.as_result()

    async def answer(self, run_id: str, key: str, answer: Answer) -> SkillResult:
        """Answer an open question and continue the run; the first answer counts.

        Raises NotFoundError, which names the earlier answer or the time of expiry.
        """
        run = await self.do(partial(self.store.run, run_id))
        await self._prepare()
        asked = await self.do(partial(self.store.open, run_id))
        if not any(one.question.key == key and one.question.asks for one in asked):
            raise await self.do(partial(self.store.closed, run, key))
        settled, result = await self._settle(run, key, answer, None)
        if not settled:
            raise await self.do(partial(self.store.closed, run, key))
        return result or await self._drive(run_id, None, None)

    async def resume(
        self, run_id: str, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Resume a run that stands still; an expired question is answered with a no."""
        await self.do(partial(self.store.run, run_id))
        await self._prepare()
        await self.do(partial(self.store.wake, run_id))
        await self.do(self._expire)
        await self.do(self._inherit)
        return await self._drive(run_id, ask, watch)

    async def cancel(self, run_id: str) -> SkillResult:
        """Stop a run before its next call, and undo its steps."""
        await self.do(partial(self.store.run, run_id))
        await self._prepare()
        await self.do(partial(self.store.cancel, run_id))
        return await self._drive(run_id, None, None)

    async def runs(self, query: RunQuery = ALL_RUNS) -> tuple[RunView, ...]:
        """Return the runs that match a query, the newest first, without their steps."""
        await self._catch_up()
        return await self.do(partial(self.store.views, query))

    async def show(self, run_id: str) -> RunView:
        """Return one run with its steps; raises NotFoundError."""
        await self._catch_up()
        return await self.do(partial(self.store.view, run_id))

    # The life of this process.

    def start(self) -> None:
        """Start the thread that looks for work: orphaned runs, and those that are due."""
        with self._starting:
            if self._workers is not None and self._thread is None and self._is_open:
                self._workers.live()
                self._thread = threading.Thread(
                    target=lambda: asyncio.run(self._look_for_work()),
                    name="toolmd-runs",
                    daemon=True,
                )
                self._thread.start()

    def close(self, grace_s: float | None = None) -> None:
        """Stop: steps in progress finish within `grace_s`; other processes resume the rest."""
        self.hold()
        ends = time.monotonic() + (GRACE_S if grace_s is None else grace_s)
        self._ended.set()
        if self._alarm is not None:
            self._alarm.cancel()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(max(ends - time.monotonic(), 0.0))
        while self._executing and not _in_loop() and time.monotonic() < ends:
            time.sleep(LOOK_S)
        if self._workers is not None:
            with suppress(OSError, UnreachableError):
                if self._thread is not None:
                    self.store.inherit(self.own)
                self._workers.end()
        if self._threads is not None:
            self._threads.shutdown(wait=False)

    def progress(self, run_id: str) -> None:
        """Note that an attempt recorded a step, so that its run is no suspect any more."""
        self._unrecorded.pop(run_id, None)
        if self._suspect == run_id:
            self._suspect = None

    # How a run executes.

    async def _drive(self, run_id: str, ask: Ask | None, watch: RunListener | None) -> SkillResult:
        """Execute a run until it ends, or waits for somebody who is not available."""
        began = time.monotonic()
        while True:
            run = await self._read(run_id)
            since, error = self._unrecorded.get(run_id, (began, None))
            if error is not None and time.monotonic() - max(since, began) > self._store_wait_s:
                raise UnreachableError(f"{error}; {LATER}")
            result: SkillResult | None = None
            if run.result is not None:
                return run.result
            if run.state == "stuck":
                return stuck_result(run_id)
            if run.state in PARKED:
                result = await self._wait_for(run, ask, watch)
            elif run.state == "ready" and self._is_open:
                result = await self._take_up(run, watch)
            elif not self._is_open:
                raise ToolmdError(CLOSED)
            else:
                await asyncio.sleep(LOOK_S)  # Another process or task executes it.
            if result is not None:
                return result

    async def _read(self, run_id: str) -> StoredRun:
        """Return a run; wait for a store that does not answer, but not for long."""
        ends = time.monotonic() + self._store_wait_s
        while True:
            try:
                return await self.do(partial(self.store.run, run_id))
            except UnreachableError as error:
                if time.monotonic() > ends:
                    raise UnreachableError(f"{error}; {LATER}") from error
                await asyncio.sleep(ROUND_S)

    async def _wait_for(
        self, run: StoredRun, ask: Ask | None, watch: RunListener | None
    ) -> SkillResult | None:
        """Ask a question of a waiting run; return the run's result where nobody answers."""
        asked = await self.do(partial(self.store.open, run.id))
        one = min(asked, key=lambda one: not one.question.asks, default=None)
        if one is None:
            await asyncio.sleep(LOOK_S)  # It was answered in between.
            return None
        answer = None if ask is None or not one.question.asks else await self._ask_person(one, ask)
        if answer is not None:
            return (await self._settle(run, one.question.key, answer, watch))[1]
        still = await self._read(run.id)
        self._set_alarm()
        return one.question.as_result() if still.state in PARKED else None

    async def _ask_person(self, one: StoredQuestion, ask: Ask) -> Answer | None:
        """Return the person's answer, or that time is up; None where an answer came elsewhere."""
        question = one.question
        asking = asyncio.ensure_future(ask(question))
        try:
            while not (await asyncio.wait({asking}, timeout=0.2))[0]:
                if one.is_over(self.clock()):
                    return LATE
                still = await self.do(partial(self.store.open, question.run_id))
                if all(other.question.key != question.key for other in still):
                    return None
            return asking.result()
        finally:
            asking.cancel()

    async def _settle(
        self, run: StoredRun, key: str, answer: Answer, watch: RunListener | None
    ) -> tuple[bool, SkillResult | None]:
        """Answer a question, and execute its run where it waited for the answer.

        Returns:
            Whether the answer counts, and the run's result where it ended.
        """
        owner = self.own if self._is_open else None
        settle = partial(self.store.settle, run.id, key, answer, self.clock(), owner)
        self._enter(run.id)
        first, claimed = await self._claim(run.id, settle)
        return first, await self._attempt(run.id, run.began, watch) if claimed else None

    async def _take_up(self, run: StoredRun, watch: RunListener | None) -> SkillResult | None:
        """Execute a ready run unless another process was first; return its result if it ended."""
        if not self._begin(run):
            await asyncio.sleep(LOOK_S)
            return None
        claim = partial(self.store.claim, run.id, self.own)
        claimed = await self._claim(run.id, claim)
        return await self._attempt(run.id, run.began, watch) if claimed else None

    async def _claim(self, run_id: str, claim: Callable[[], T]) -> T:
        """Claim a run that `_executing` has; take it out where this process does not get it.

        `claim` returns whether this process has it, or several values with that as the last one.
        """
        mine: Any = False
        try:
            value = await self.do(claim)
            mine = value[-1] if isinstance(value, tuple) else value
        finally:
            if not mine:
                self._leave(run_id)
        return value

    def _begin(self, run: StoredRun) -> bool:
        """Note that this process executes a run; return False where the run must wait.

        A suspect waits for another one: its step may end this process, and so may the other's.
        """
        with self._marking:
            is_suspect = run.tried >= SUSPECT
            if run.id in self._executing or (is_suspect and self._suspect is not None):
                return False
            self._executing[run.id] += 1
            if is_suspect:
                self._suspect = run.id
        return True

    def _enter(self, run_id: str) -> None:
        with self._marking:
            self._executing[run_id] += 1

    def _leave(self, run_id: str) -> None:
        with self._marking:
            self._executing[run_id] -= 1
            if not self._executing[run_id]:
                del self._executing[run_id]
                self._suspect = None if self._suspect == run_id else self._suspect

    async def _attempt(self, *claimed: Any) -> SkillResult | None:
        """Execute a claimed run to its end, even if its caller is cancelled; see `_execute_run`."""
        attempt = asyncio.ensure_future(self._execute_run(*claimed))
        self._attempts.add(attempt)
        attempt.add_done_callback(self._attempts.discard)
        return await asyncio.shield(attempt)

    async def _execute_run(
        self,
        run_id: str,
        began: dt.datetime,
        watch: RunListener | None,
        order: Order | None = None,
    ) -> SkillResult | None:
        """Execute a run over its record; return its result if it ended.

        A new run has its `order`, and no record.
        """
        try:
            record = Record(order, (), ()) if order is not None else await self.do(
                partial(self._record_of, run_id)
            )  # fmt: skip
            order = record.order
            tell = partial(self._tell_event, order, watch)
            journal = RunJournal(self, run_id, began, record, tell)
            self._tell_state(order, "running")
            result = await self._interpret(run_id, order, journal)
            if isinstance(result, ParkedError):
                await self._park(order, result, journal)
                return None
            if result is not None:
                end = partial(self.store.finish, run_id, self.own, result, self.clock())
                if await self.do(end):
                    self._told.pop(run_id, None)
                    self.progress(run_id)
                    self._tell_state(order, ended(result))
                    return result
            if isinstance(journal.lost, UnreachableError):
                self._unrecorded.setdefault(run_id, (time.monotonic(), journal.lost))
            await self.do(partial(self.store.release, run_id, self.own))
        except UnreachableError as error:
            # The thread that looks for work releases the run when the store answers again.
            self._unrecorded.setdefault(run_id, (time.monotonic(), error))
            await asyncio.sleep(ROUND_S)
        except asyncio.CancelledError:
            # The loop ends, and with it the step in progress.
            with suppress(ToolmdError):
                self.store.release(run_id, self.own)
            raise
        finally:
            self._leave(run_id)
        await asyncio.sleep(LOOK_S)
        return None

    def _record_of(self, run_id: str) -> Record:
        for order in self.store.orders([run_id]):
            return Record(order, self.store.steps(run_id), self.store.asked(run_id))
        raise unknown(run_id)

    async def _interpret(
        self, run_id: str, order: Order, journal: RunJournal
    ) -> SkillResult | ParkedError | None:
        """Return the run's result or its questions; None where this process lost the run.

        A step in memory that can't be recorded fails its run: no later attempt could know of it.
        """
        result: SkillResult | ParkedError | None = None
        try:
            result = await self._execute(order, journal)
        except ParkedError as parked:
            result = parked
        except (LostRunError, UnreachableError) as error:
            # A store that does not answer is no failure of the run.
            journal.lost = journal.lost or error
        except Exception as error:  # noqa: BLE001 - the run's result reports it
            if journal.lost is None:
                return _broken_result(run_id, error)
        if journal.lost is None:
            return result
        if self.keeps or isinstance(journal.lost, LostRunError):
            return None
        return _broken_result(run_id, journal.lost)

    async def _park(self, order: Order, parked: ParkedError, journal: RunJournal) -> None:
        for question in parked.questions:
            journal.tell(RunEvent.waiting(question))
        now = self.clock().timestamp()
        park = partial(self.store.park, order.id, self.own, parked.questions, now)
        await self.do(partial(park, heard=journal.heard))
        self._tell_state(order, "waiting")

    def _tell_state(self, order: Order, state: RunState) -> None:
        told = {"run_id": order.id, "skill": order.plan.skill.name, "state": state}
        self._tell("run", told, order.caller.user)

    def _tell_event(self, order: Order, watch: RunListener | None, event: RunEvent) -> None:
        """Report an event of a run unless an earlier attempt has."""
        told = self._told.setdefault(order.id, set())
        while len(self._told) > MAX_RUNS:
            del self._told[next(iter(self._told))]
        if event.mark not in told:
            told.add(event.mark)
            self._tell("run-step", event.to_dict(), order.caller.user)
            if watch is not None:
                watch(event)

    # Looking for work.

    async def _look_for_work(self) -> None:
        outage = Outage(logger, "runs can't be reclaimed now", "runs are reclaimed again")
        tasks: set[asyncio.Task[SkillResult | None]] = set()
        stale: set[str] = set()
        count = 0
        while not self._ended.is_set():
            try:
                stale = await self._look_round(tasks, stale, count)
                outage.over()
            except UnreachableError as error:
                outage.met(error)
            except Exception as error:  # noqa: BLE001 - the next round may succeed
                if not self._ended.is_set():
                    outage.met(error, crash=True)
            count += 1
            await asyncio.sleep(ROUND_S)
        if tasks:
            await asyncio.wait(tasks)

    async def _look_round(
        self, tasks: set[asyncio.Task[SkillResult | None]], stale: set[str], count: int
    ) -> set[str]:
        """Reclaim orphans, end waits, execute ready runs, and delete old ones."""
        assert self._workers is not None
        await self.do(self._workers.live)
        # First, since on an overloaded machine all else takes long.
        await self.do(self._inherit)
        # Runs of this process that two rounds in a row nothing executes.
        owned = await self.do(partial(self.store.owned, self.own)) - self._executing.keys()
        for run_id in owned & stale:
            await self.do(partial(self.store.release, run_id, self.own))
        stale = owned - stale
        await self.do(self._expire)
        room = AT_ONCE - len(tasks)
        for run in await self.do(partial(self.store.ready, max(room, 0))):
            if self._is_open and run.id not in self._executing:
                task = asyncio.ensure_future(self._take_up(run, None))
                tasks.add(task)
                task.add_done_callback(partial(_end_task, tasks))
        if self.each_second is not None and count % 2 == 0 and self._is_open:
            await self.each_second()
        if count % FORGET_EVERY == 0:
            await self.do(partial(self.store.forget, self.clock() - KEEP))
        return stale

    def _inherit(self) -> None:
        """Make the runs of processes that ended ready."""
        if self._workers is None:
            return
        for name in self._workers.dead():
            if not self._workers.lives():
                return  # Frozen meanwhile: another process may have taken over.
            self.store.inherit(name)
            self._workers.evict(name)

    def _expire(self) -> None:
        """Answer the questions whose time is up."""
        now = self.clock()
        for run_id, key in self.store.expired(now.timestamp()):
            self.store.settle(run_id, key, LATE, now)

    async def _prepare(self) -> None:
        """Start to look for work, and drop the oldest of many runs in memory."""
        if self._thread is None and self.keeps:
            await self.do(self.start)
        elif not self.keeps and self._added > MAX_RUNS // 10:
            self._added = 0
            self.store.forget(dt.datetime.fromtimestamp(0, dt.UTC), MAX_RUNS)

    async def _catch_up(self) -> None:
        """Continue runs in memory whose time has come; others have a thread for that."""
        if self.keeps:
            return
        self._expire()
        for run in self.store.ready(ALL):
            await self._take_up(run, None)
        self._set_alarm()

    def _set_alarm(self) -> None:
        """Wake this loop when the next wait in memory ends."""
        if self.keeps:
            return
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

        def wake_up() -> None:
            task = asyncio.ensure_future(self._catch_up())
            self._catching_up.add(task)
            task.add_done_callback(self._catching_up.discard)

        if (ends := self.store.next_expiry()) is not None and self._is_open:
            left = max(ends - self.clock().timestamp(), 0.2)
            self._alarm = asyncio.get_running_loop().call_later(left, wake_up)

    def _check_same(self, order: Order) -> None:
        for known in self.store.orders([order.id]):
            if not order.is_of(known):
                raise ToolmdError(
                    f"{order.id} is the id of another run: of another skill, other inputs, or "
                    "another user"
                )


def stuck_result(run_id: str) -> SkillResult:
    """Return the result of a run that resumes only on request."""
    message = (
        f"the process of run {run_id} ended {MAX_TRIES} times without a further step; see what ends"
        f" it, then: toolmd runs resume {run_id}"
    )
    return replace(SkillResult.failed("stuck", message), run_id=run_id)


def _broken_result(run_id: str, error: BaseException) -> SkillResult:
    """Return the result of a run that raised an error, which is logged."""
    reference = logged(error, "run %s broke", run_id)
    message = f"the run raised an error; its log reference is {reference}."
    return SkillResult(success=False, message=message, error=message, run_id=run_id,
                       code="internal_error")  # fmt: skip


def _end_task(tasks: set[asyncio.Task[T]], task: asyncio.Task[T]) -> None:
    tasks.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.warning("a run can't be taken up now: %s", error)


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class Outage:
    """An operation that fails at the moment and is repeated: logged when it begins and ends."""

    def __init__(self, logger: logging.Logger, what: str, again: str) -> None:
        """Set the log messages: `what` for the begin, with the reason, and `again` for the end."""
        self._logger = logger
        self._what = what
        self._again = again
        self._kind: type[Exception] | None = None

    def met(self, error: Exception, *, crash: bool = False) -> None:
        """Log an error unless the last try had the same one; a `crash` with its traceback."""
        if type(error) is not self._kind:
            self._logger.warning("%s: %s", self._what, error, exc_info=error if crash else None)
        self._kind = type(error)

    def over(self) -> None:
        """Log that the operation works again, if it failed before."""
        if self._kind is not None:
            self._logger.warning("%s", self._again)
        self._kind = None
