"""Open a database of the store with its first record, and again if its file was replaced."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from typing import ClassVar, Generic, TypeVar

import sqlalchemy as sa

from toolmd._store import MEMORY, is_postgres
from toolmd._store.database import (
    Pace,
    address,
    file_of,
    open_database,
    outspoken,
    server_now,
)
from toolmd._store.schema import create_tables, metadata_of
from toolmd.config.state_files import is_there
from toolmd.errors import UnreachableError

CLOSE_S = 2.0
"""How long closing waits for transactions in progress, in seconds."""

T = TypeVar("T")


class Opened(Generic[T]):
    """A database and its tables; blocking, and safe for threads and processes."""

    def __init__(
        self, store: str, state: Path, tables: Callable[[sa.MetaData], T], pace: Pace
    ) -> None:
        """Keep the setting `store` and the state folder; `tables` defines the tables."""
        self._store = store
        self._state = state
        self._define = tables
        self._pace = pace
        self._changed = Condition()
        self._active = 0
        """The transactions in progress."""
        self._closed = False
        self._engine: sa.Engine | None = None
        self._file: Path | None = None
        self._inode = (0, 0)
        self.tables: T
        """The tables, once the database is open."""

    @property
    def is_postgres(self) -> bool:
        """Return whether the database is a Postgres."""
        return is_postgres(self._store)

    def now(self, here: float) -> sa.ColumnElement[float]:
        """Return the time as SQL: of the server, or `here`, this machine's, for a file."""
        return server_now() if self.is_postgres else sa.literal(here, sa.Double)

    @contextmanager
    def transaction(self) -> Iterator[sa.Connection]:
        """Begin a transaction; an exception rolls it back.

        Raises UnreachableError, which names the store and the remedy, and ConfigError.
        """
        engine = self._enter()
        try:
            with engine.begin() as connection:
                yield connection
        except sa.exc.TimeoutError as error:
            # SQLAlchemy reports only the faults of connections as such, not the lack of one.
            raise UnreachableError(f"the store is too busy to answer: {error}") from error
        finally:
            with self._changed:
                self._active -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Close the database for good, after the transactions in progress."""
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._active, CLOSE_S)
            self._close()

    def _close(self) -> None:
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.dispose()

    def _enter(self) -> sa.Engine:
        with self._changed:
            if self._closed:
                raise UnreachableError("the store is closed: open the workspace again")
            if self._engine is not None and self._file is not None and self._was_replaced():
                # Its records would go into a file that nobody can find.
                self._close()
            if self._engine is None:
                self._engine = self._open()
            self._active += 1
            return self._engine

    def _was_replaced(self) -> bool:
        """Return whether another file is at the path. Raises EmptiedError for an empty one."""
        assert self._file is not None
        if not is_there(self._file):
            return True
        status = self._file.stat()
        return (status.st_dev, status.st_ino) != self._inode

    def _open(self) -> sa.Engine:
        url = "sqlite://" if self._store == MEMORY else address(self._store, self._state)
        engine = outspoken(open_database(url, self._pace))
        try:
            metadata = metadata_of(engine)
            self.tables = self._define(metadata)
            create_tables(engine, metadata)
        except BaseException:
            engine.dispose()
            raise
        self._file = file_of(engine.url)
        if self._file is not None:
            status = self._file.stat()
            self._inode = (status.st_dev, status.st_ino)
        return engine


class StorePart(Opened[T], ABC):
    """A part of a project's store: its tables, and the methods that read and write them.

    Each method blocks, and raises UnreachableError where the store can't be used.
    """

    connections: ClassVar[int] = 4
    """The most connections at once."""
    synced: ClassVar[bool] = True
    """Whether a transaction survives a power cut, not only the end of its process."""

    def __init__(self, store: str, state: Path, wait_s: float) -> None:
        """Keep the setting `store` and the state folder; wait `wait_s` seconds for a lock."""
        pace = Pace(busy_ms=round(wait_s * 1000), synced=self.synced, connections=self.connections)
        super().__init__(store, state, self.define, pace)

    @staticmethod
    @abstractmethod
    def define(metadata: sa.MetaData) -> T:
        """Define the tables of this part."""
