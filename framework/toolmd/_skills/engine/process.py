"""A process that executes runs: its name, its clock, and its threads on the store."""

import asyncio
import datetime as dt
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from toolmd._skills.engine.store import RunStore
from toolmd._store.database import Database
from toolmd._types.run import Clock
from toolmd.errors import ToolmdError

CLOSED = "the workspace is closed; its runs go on at the next start"
T = TypeVar("T")
_NONE = dt.timedelta()


def utc_now() -> dt.datetime:
    """Return the time in UTC."""
    return dt.datetime.now(dt.UTC)


class Process:
    """This process as the owner of the runs that it executes, with its access to their records."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._workers = database.workers()
        self._threads: ThreadPoolExecutor | None = None
        self._thread: threading.Thread | None = None
        """The thread that looks for work, once it has started."""
        self._is_local = not database.spans_machines
        self._is_open = True
        self.store = RunStore(database)
        """The records."""
        self.keeps = self._workers is not None
        """Whether the runs outlive this process."""
        self.own = "memory" if self._workers is None else self._workers.own
        """The name of this process, never reused."""
        self.clock: Clock = lambda: clock() + (self._workers.ahead if self._workers else _NONE)
        """The store's time."""

    def hold(self) -> None:
        """Begin no more steps in this process."""
        self._is_open = False

    def may_go_on(self) -> bool:
        """Return whether a new step may begin: others may have taken over a frozen process."""
        return self._is_open and (self._workers is None or self._workers.lives())

    async def do(self, work: Callable[[], T]) -> T:
        """Do work on the store, in another thread where it may wait for a disk or a server.

        The thread that looks for work waits for the disk itself: its loop is no server's.
        """
        is_own = threading.current_thread() is self._thread and self._is_local
        if is_own or not self.keeps:
            return work()
        if self._threads is None:
            # One writes to a file at a time, and one reads meanwhile.
            most = 2 if self._is_local else None
            self._threads = ThreadPoolExecutor(most, thread_name_prefix="toolmd-store")
        try:
            doing = asyncio.get_running_loop().run_in_executor(self._threads, work)
        except RuntimeError as error:
            raise ToolmdError(CLOSED) from error
        return await doing

    async def look(self, work: Callable[[], T]) -> T:
        """Do work on the store that only reads."""
        return work() if self._is_local else await self.do(work)

    def progress(self, run_id: str) -> None:
        """Note that an attempt recorded a step."""
        raise NotImplementedError
