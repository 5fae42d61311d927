"""The store: what the processes of a project share, on a SQLite file or on Postgres."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from toolmd._store.database import Row, Transaction
    from toolmd._store.store import Store

MEMORY = "memory"
"""The value of the setting `store` whose records end with the process."""
STORE_FILE = "store.sqlite3"
"""The file in the state folder, with `store` set to `sqlite`."""

LEASE_S = 15.0
"""How long a place of a dead process stays taken, in seconds."""


def is_postgres(store: str) -> bool:
    """Return whether the setting `store` names a Postgres."""
    return store.startswith(("postgresql://", "postgres://"))


class StorePart:
    """The methods for the records of one subject.

    Each method may block, and several threads may call it. It raises UnreachableError where the
    store can't be used.
    """

    wait_s: ClassVar[float] = 2.0
    """How long a locked database is waited for, in seconds."""
    synced: ClassVar[bool] = True
    """Whether a record survives a power cut, not only the end of its process."""

    def __init__(self, store: "Store") -> None:
        """Keep the store, which opens its database."""
        self._store = store

    def _execute(self, statement: str, *values: Any) -> "list[Row]":
        """Execute one statement that writes, and return its rows."""
        with self._write() as tx:
            return tx.execute(statement, *values)

    def _select(self, statement: str, *values: Any) -> "list[Row]":
        """Return the rows of one statement that reads."""
        with self._read() as tx:
            return tx.execute(statement, *values)

    def _write(self, lock: str = "") -> "AbstractContextManager[Transaction]":
        wait_s = self._store.wait_s or self.wait_s
        return self._store.database.write(lock, wait_s=wait_s, synced=self.synced)

    def _read(self) -> "AbstractContextManager[Transaction]":
        return self._store.database.read(wait_s=self._store.wait_s or self.wait_s)

    def _now(self, tx: "Transaction") -> float:
        """Return the seconds since the epoch, by the clock of the store's server if it has one."""
        return tx.now(self._store.epoch())
