"""The store of a project: one database, and a part for the records of each subject."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING

from toolmd._store import MEMORY, STORE_FILE
from toolmd._store.confirmations import ConfirmationStore
from toolmd._store.limits import LimitStore
from toolmd._store.records import (
    ChangeStore,
    CrisisStore,
    HeadStore,
    KeyedCallStore,
    PinStore,
    ResultStore,
    WordStore,
)
from toolmd._types.stored import KeptResult
from toolmd.errors import ToolmdError, UnreachableError, logged

if TYPE_CHECKING:
    from toolmd._store.database import Database

LOOK_S = 1.0
"""How often results that other processes keep are looked for, in seconds."""


class Store:
    """The store of a project; a project that records nothing opens nothing."""

    def __init__(
        self,
        setting: str,
        state: Path,
        *,
        epoch: Callable[[], float] = time.time,
        wait_s: float | None = None,
    ) -> None:
        """Keep the setting `store` and the state folder.

        `epoch` returns this machine's seconds since the epoch. `wait_s` is how long a locked
        database is waited for, in seconds, in place of the default of each part.
        """
        self.setting = setting
        """The setting `store`."""
        self.state = state
        self.epoch = epoch
        self.wait_s = wait_s
        self._lock = Lock()
        self.is_closed = False
        self._opened: Database | None = None
        self._results_until = 0.0
        self._looked = -LOOK_S
        """When results of other processes were looked for last, by the monotonic clock."""
        self.confirmations = ConfirmationStore(self)
        self.limits = LimitStore(self)
        self.crises = CrisisStore(self)
        self.audit_heads = HeadStore(self)
        self.changes = ChangeStore(self)
        self.keyed_calls = KeyedCallStore(self)
        self.results = ResultStore(self)
        self.pins = PinStore(self)
        self.words = WordStore(self)

    @property
    def database(self) -> "Database":
        """The database, which opens with its first transaction.

        Raises UnreachableError where the store is closed, and ConfigError for an unusable setting.
        """
        if self._opened is not None:
            return self._opened
        # Only here: a project that records nothing does not import sqlite3.
        from toolmd._store.database import open_database

        with self._lock:
            if self.is_closed:
                raise UnreachableError("the store is closed: open the workspace again")
            if self._opened is None:
                self._opened = open_database(self.setting, self.state)
            return self._opened

    @property
    def is_shared(self) -> bool:
        """Return whether other processes may use the store, too."""
        return self.setting != MEMORY

    def keep_result(self, kept: KeptResult, now: float) -> None:
        """Keep a result; `now` is seconds since the epoch."""
        self.results.keep(kept, now)
        self._results_until = max(self._results_until, kept.until)

    def holds_results(self, now: float) -> bool:
        """Return whether a result is known to be kept; it never waits.

        A thread looks for results of other processes, at most once a second while none is known.
        `now` is seconds since the epoch.
        """
        is_due = time.monotonic() - self._looked >= LOOK_S
        if self._results_until <= now and is_due and self.may_hold_records and not self.is_closed:
            self._looked = time.monotonic()
            Thread(target=self._look, name="toolmd-results", daemon=True).start()
        return self._results_until > now

    def _look(self) -> None:
        try:
            self._results_until = max(self._results_until, self.results.open_until())
        except ToolmdError as error:
            if not self.is_closed:
                logged(error, "the kept results could not be looked up")

    @property
    def may_hold_records(self) -> bool:
        """Return whether there may be records: a file that is not there yet holds none."""
        if self.setting == "sqlite":
            return (self.state / STORE_FILE).exists()
        return self.is_shared

    def close(self) -> None:
        """Close what was opened, for good."""
        with self._lock:
            self.is_closed = True
            opened = self._opened
        if opened is not None:
            opened.close()


def shared_secret(setting: str, state: Path) -> str:
    """Return the secret of a store, 32 bytes in hex; the first server that asks makes it.

    It blocks. Raises UnreachableError where the store can't be used, and ConfigError.
    """
    from secrets import token_hex

    store = Store(setting, state)
    try:
        with store.database.write() as tx:
            tx.execute("INSERT INTO secret VALUES (1, ?) ON CONFLICT DO NOTHING", token_hex(32))
            ((secret,),) = tx.execute("SELECT secret FROM secret")
    finally:
        store.close()
    return str(secret)
