"""Poll the database for what other processes do: runs that they end, park or cancel."""

import itertools
import threading
import time
from collections.abc import Callable

from toolmd._skills.engine.durable.reader import RunReader
from toolmd._skills.engine.durable.waiters import Waiters
from toolmd.errors import UnreachableError

LOOK_S = 0.05
"""How often the cancelled runs are read while a run executes here, in seconds."""
EVERY = 4
"""How many rounds pass between two reads of runs that execute elsewhere."""


class Poller:
    """A thread that reads for all runs of this process at once."""

    def __init__(
        self, reader: RunReader, waiters: Waiters, here: Callable[[], set[str]], store_wait_s: float
    ) -> None:
        """Prepare it; `here` returns the runs that execute here.

        Callers get an error if the database can't be read for `store_wait_s` seconds.
        """
        self._reader = reader
        self._waiters = waiters
        self._here = here
        self._store_wait_s = store_wait_s
        self.cancelled: set[str] = set()
        """The runs of this process that were cancelled."""
        self._read = time.monotonic()
        """When the database was last read."""
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._poll, name="toolmd-poll", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Finish the current round and stop."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _poll(self) -> None:
        for count in itertools.count():
            if self._ended.wait(LOOK_S):
                return
            try:
                self._round(elsewhere=count % EVERY == 0)
                self._read = time.monotonic()
            except UnreachableError as error:
                # The database may return soon, and the runs then continue by themselves.
                if time.monotonic() - self._read > self._store_wait_s:
                    self._waiters.fail(error)

    def _round(self, *, elsewhere: bool) -> None:
        if here := self._here():
            self.cancelled |= self._reader.cancelled() & here
        if not elsewhere:
            return
        self._waiters.check()
        if ids := self._waiters.runs() - here:
            for row in self._reader.some(ids):
                self._waiters.come(row)
