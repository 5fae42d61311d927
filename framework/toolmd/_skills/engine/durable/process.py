"""The one DBOS of this process, in its own thread and event loop."""

import asyncio
import contextvars
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

import sqlalchemy as sa
from dbos import DBOS, SetEnqueueOptions, SetWorkflowID

from toolmd._skills.engine.durable.journal import LostRunError
from toolmd._skills.engine.durable.serializer import JsonSerializer, reject_pickles
from toolmd._skills.engine.durable.store import workflow_id
from toolmd._store.database import SCHEMA, shown
from toolmd.errors import ToolmdError, UnreachableError

T = TypeVar("T")
VERSION = "toolmd-1"
"""A constant, so that later releases find waiting runs that they can execute."""
QUEUE = "toolmd-runs"
POLL_S = 0.2
"""How often a process polls the queue, in seconds."""
LOOK_S = 0.05
"""How often DBOS polls for messages, in seconds: none are sent, but shutdown waits for a poll."""
AT_ONCE = 64
"""How many runs from the queue one process executes at once; the rest is left to others."""
LAUNCH_S = 60.0
"""How long the launch may take, including a migration of the tables, in seconds."""
STORE_WAIT_S = 15.0
"""How long a caller waits for a database that does not answer, in seconds."""
FOR_EVER_S = 10 * 365 * 24 * 3600.0
Player = Callable[[str, int], Awaitable[str]]
_lock = threading.Lock()
_running: "Process | None" = None
logger = logging.getLogger(__name__)


async def soon(work: Awaitable[None], run_id: str) -> None:
    """Await a short operation with a timeout; DBOS itself would retry for ever."""
    try:
        await asyncio.wait_for(work, STORE_WAIT_S)
    except TimeoutError:
        message = (
            f"the run store was locked for {STORE_WAIT_S:.0f} s; run {run_id} is kept as far as it "
            f"came. To go on later: toolmd runs resume {run_id}"
        )
        raise UnreachableError(message) from None


class Process:
    """DBOS on one database; a process can have only one."""

    def __init__(self, url: str, name: str, player: Player) -> None:
        """Prepare it; `name` is this process's own, and `player` executes one attempt of a run."""
        self.url = url
        self._name = name
        self._player = player
        self.playing: set[str] = set()
        """The workflows that execute here now."""
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=self._serve, name="toolmd-runs", daemon=True)

    def start(self, engine: sa.Engine) -> None:
        """Launch DBOS; raises ToolmdError where this process keeps its runs elsewhere."""
        global _running  # noqa: PLW0603 - DBOS itself is one per process
        with _lock:
            if _running is not None:
                message = (
                    f"this process keeps its runs in {shown(_running.url)} and can't also use "
                    f"{shown(self.url)}: close the other workspace first, or use engine "
                    f'"memory" in one of them'
                )
                raise ToolmdError(message)
            self._loop = asyncio.new_event_loop()
            self._thread.start()
            # Before the launch, which accepts work already.
            _running = self
            future = asyncio.run_coroutine_threadsafe(self._launch(engine), self._loop)
            try:
                future.result(LAUNCH_S)
            except TimeoutError:
                _running = None
                # DBOS retries for ever; its thread can't be ended from here.
                message = f"{shown(self.url)} did not answer for {LAUNCH_S:.0f} s; try again"
                raise UnreachableError(message) from None
            except BaseException:
                _running = None
                self._end()
                raise

    async def _launch(self, engine: sa.Engine) -> None:
        reject_pickles()
        # Launched within this loop, so that resumed runs execute in it too.
        self._dbos: Any = DBOS(
            config={
                "name": "toolmd",
                "system_database_url": self.url.replace("+psycopg", ""),
                "system_database_engine": engine,
                "dbos_system_schema": SCHEMA,
                "application_version": VERSION,
                "executor_id": self._name,
                "serializer": JsonSerializer(),
                "log_level": "ERROR",
                "notification_listener_polling_interval_sec": LOOK_S,
            }
        )
        DBOS.launch()
        await DBOS.register_queue_async(
            QUEUE, polling_interval_sec=POLL_S, worker_concurrency=AT_ONCE
        )

    async def do(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await work in the loop of the runs, without the caller's context variables."""
        coroutine = work()
        future = contextvars.Context().run(asyncio.run_coroutine_threadsafe, coroutine, self._loop)
        return await asyncio.wrap_future(future)

    async def begin(self, run_id: str) -> None:
        """Start to execute a run here, from its first attempt."""
        with SetWorkflowID(workflow_id(run_id, 0)):
            await DBOS.start_workflow_async(_play, run_id, 0)

    async def follow(self, run_id: str, segment: int, delay_s: float | None) -> None:
        """Queue an attempt, to be executed after a delay, or when it is woken."""
        with (
            SetWorkflowID(workflow_id(run_id, segment)),
            SetEnqueueOptions(delay_seconds=FOR_EVER_S if delay_s is None else delay_s),
        ):
            await DBOS.enqueue_workflow_async(QUEUE, _play, run_id, segment)

    async def exists(self, run_id: str, segment: int) -> bool:
        """Return whether an attempt was queued."""
        return bool(await self._database().get_workflow_status(workflow_id(run_id, segment)))

    async def wake(self, run_id: str, segment: int) -> None:
        """Execute a waiting attempt now; no effect if it executes already."""
        database = self._database()
        await database.set_workflow_delay(workflow_id(run_id, segment), delay_seconds=0)
        await database.transition_delayed_workflows()

    async def take_over(self, name: str) -> None:
        """Put the workflows of a dead process back into the queue."""
        await asyncio.to_thread(DBOS._recover_pending_workflows, [name])  # noqa: SLF001 - its only way

    async def orphans(self) -> set[str]:
        """Return workflows under this process's name that do not execute here."""
        pending = await self._database().get_pending_workflows(self._name, VERSION)
        # Workflows that DBOS has begun but that have not reached `play` are running, too.
        return {one.workflow_id for one in pending} - self.playing - self._begun()

    async def hand_back(self, name: str) -> None:
        """Put an orphaned workflow back into the queue."""
        await self._database().reenqueue_for_recovery(name, [self._name], QUEUE)

    async def delete(self, names: list[str]) -> None:
        """Delete workflows with their steps."""
        if names:
            await self._database().delete_workflows(names)

    async def play(self, run_id: str, segment: int) -> str:
        """Execute an attempt; DBOS calls this."""
        name = workflow_id(run_id, segment)
        self.playing.add(name)
        try:
            return await self._player(run_id, segment)
        except Exception as error:
            # DBOS would record the exception as the outcome, and the run would never end.
            logger.exception("run %s could not be played; it is tried again", run_id)
            raise LostRunError(str(error)) from error
        finally:
            self.playing.discard(name)

    def wait_for(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run `do` from a thread that can't await."""
        return asyncio.run_coroutine_threadsafe(work(), self._loop).result()

    def stop(self, grace_s: float) -> None:
        """Stop when running work ends, or after the grace period; the rest stays as recorded."""
        global _running  # noqa: PLW0603 - as in `start`
        until = time.monotonic() + grace_s
        # The end of workflows that executed here is not recorded yet.
        while (self.playing or self._begun()) and time.monotonic() < until:
            time.sleep(0.01)
        with _lock:
            if _running is self:
                _running = None
                DBOS.destroy()
                self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        finally:
            self._loop.close()

    def _begun(self) -> set[str]:
        return set(self._dbos._active_workflows_set.activeList())  # noqa: SLF001 - as below

    def _database(self) -> "_Threaded":
        return _Threaded(self._dbos)


class _Threaded:
    """The blocking calls of DBOS's database, each in a thread."""

    def __init__(self, dbos: Any) -> None:
        self._database = dbos._sys_db  # noqa: SLF001 - pinned, and covered by tests

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        function = getattr(self._database, name)

        async def called(*values: Any, **named: Any) -> Any:
            # `to_thread` would also copy DBOS's context of the current step.
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(None, lambda: function(*values, **named))

        return called


# Unlimited: `attempt.MAX_ATTEMPTS` limits the attempts of a run that makes no progress.
@DBOS.workflow(name="toolmd.play", max_recovery_attempts=None)
async def _play(run_id: str, segment: int) -> str:
    if _running is None:
        # A ToolmdError would be recorded by DBOS as the run's outcome.
        raise LostRunError("no runs are kept in this process any more")
    return await _running.play(run_id, segment)
