"""The one DBOS of this process, in its own thread and event loop."""

import asyncio
import contextvars
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

import sqlalchemy as sa
from dbos import DBOS, SetWorkflowID
from dbos import error as dbos_error

from toolmd._skills.engine.durable.journal import LostRunError
from toolmd._skills.engine.durable.serializer import JsonSerializer
from toolmd._skills.engine.durable.workflows import (
    APPLICATION,
    QUEUE,
    VERSION,
    WORKFLOW,
    Workflows,
    workflow_id,
)
from toolmd._store.database import SCHEMA, shown
from toolmd.errors import ToolmdError, UnreachableError

T = TypeVar("T")
POLL_S = 0.2
"""How often a process polls the queue, in seconds."""
LOOK_S = 0.05
"""How often DBOS polls for messages, in seconds: none are sent, but shutdown waits for a poll."""
AT_ONCE = 64
"""How many runs from the queue one process executes at once; the rest is left to others."""
LAUNCH_S = 60.0
"""How long the launch may take, including a migration of the tables, in seconds."""
GRACE_S = 10.0
"""How long the ending process waits for calls in progress, in seconds."""
RECORD_S = 0.5
"""How long the ending process waits until DBOS recorded the end of runs, in seconds."""
STORE_WAIT_S = 15.0
"""How long a caller waits for a database that does not answer, in seconds."""
ExecuteAttempt = Callable[[str, int, dict[str, Any] | None], Awaitable[str]]
"""Executes an attempt; the first one gets the row of its order."""
_lock = threading.Lock()
_running: "Process | None" = None
logger = logging.getLogger(__name__)


async def soon(work: Awaitable[T], run_id: str) -> T:
    """Await a short operation with a timeout; DBOS itself would retry for ever."""
    try:
        return await asyncio.wait_for(work, STORE_WAIT_S)
    except TimeoutError:
        message = (
            f"the run store was locked for {STORE_WAIT_S:.0f} s; run {run_id} is kept as far as it "
            f"came. To go on later: toolmd runs resume {run_id}"
        )
        raise UnreachableError(message) from None


class ElsewhereError(ToolmdError):
    """This process executes the runs of another store."""


class Process:
    """DBOS on one database; a process can have only one."""

    def __init__(self, url: str, name: str, attempt: ExecuteAttempt, workflows: Workflows) -> None:
        """Prepare it; `name` is this process's own, and `attempt` executes one attempt of a run."""
        self.url = url
        self._name = name
        self._attempt = attempt
        self._workflows = workflows
        self.executing: set[str] = set()
        """The workflows that execute here now."""
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=self._serve, name="toolmd-runs", daemon=True)

    def start(self, engine: sa.Engine) -> None:
        """Launch DBOS; raises ToolmdError where this process keeps its runs elsewhere."""
        global _running  # noqa: PLW0603 - DBOS itself is one per process
        with _lock:
            if _running is not None:
                message = (
                    f"this process executes the runs in {shown(_running.url)} and can't also "
                    f"execute those in {shown(self.url)}: start `toolmd worker` for them, close "
                    f'the other workspace first, or use store "memory" in one of them'
                )
                raise ElsewhereError(message)
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
        # Launched within this loop, so that resumed runs execute in it too.
        self._dbos: Any = DBOS(
            config={
                "name": APPLICATION,
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

    async def begin(self, row: dict[str, Any]) -> bool:
        """Start to execute a run here; return False for a known id."""
        try:
            with SetWorkflowID(workflow_id(row["id"], 0), workflow_id_reuse_policy="reject"):
                await DBOS.start_workflow_async(_execute, row["id"], 0, row)
        except dbos_error.DBOSWorkflowIDInUseError:
            return False
        return True

    def runs(self) -> set[str]:
        """Return the runs that execute here now."""
        return {name.rpartition(":")[0] for name in self.executing.copy()}

    async def execute(self, run_id: str, segment: int, begun: dict[str, Any] | None) -> str:
        """Execute an attempt; DBOS calls this."""
        name = workflow_id(run_id, segment)
        self.executing.add(name)
        try:
            return await self._attempt(run_id, segment, begun)
        except Exception as error:
            # DBOS would record the exception as the outcome, and the run would never end.
            logger.exception("run %s could not be executed; it is tried again", run_id)
            raise LostRunError(str(error)) from error
        finally:
            self.executing.discard(name)

    def stop(self, grace_s: float | None) -> None:
        """Stop when running work ends, or after the grace period; the rest stays as recorded."""
        grace_s = grace_s or (GRACE_S if _may_block() else RECORD_S)
        global _running  # noqa: PLW0603 - as in `start`
        until = time.monotonic() + grace_s
        while self.executing and time.monotonic() < until:
            time.sleep(0.01)
        until = time.monotonic() + RECORD_S
        with suppress(UnreachableError):
            while self._workflows.executing(self._name) and time.monotonic() < until:
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


def _may_block() -> bool:
    """Return whether this thread may block: within a loop, calls in progress could not end."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return True
    return False


# Unlimited: the store limits the attempts of a run that makes no progress.
@DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)
async def _execute(run_id: str, segment: int, begun: dict[str, Any] | None = None) -> str:
    if _running is None:
        # A ToolmdError would be recorded by DBOS as the run's outcome.
        raise LostRunError("no runs are kept in this process any more")
    return await _running.execute(run_id, segment, begun)
