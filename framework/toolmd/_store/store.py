"""The parts of a project's store; each opens its database with its first record."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from toolmd._store import MEMORY, STORE_FILE
from toolmd._store.collector import collector_paused
from toolmd._types.audit import ChainLine
from toolmd._types.confirmation import Confirmation, ConfirmationState
from toolmd._types.kept import KeptResult
from toolmd.errors import ToolmdError, logged

if TYPE_CHECKING:
    from toolmd._store.changes import SqlChanges
    from toolmd._store.crises import SqlCrises
    from toolmd._store.keyed_calls import SqlKeyedCalls
    from toolmd._store.opened import StorePart
    from toolmd._store.pins import SqlPins
    from toolmd._store.results import SqlResults

CONFIRMATIONS_WAIT_S = 10.0
LIMITS_WAIT_S = 2.0
"""How long a locked database is waited for, in seconds."""


class ConfirmationStore(Protocol):
    """The confirmations of a project.

    Each method may block, and may be called from several threads; an exception denies the call.
    `now` is this machine's time in seconds since the epoch; a server uses its own.
    """

    def add(self, confirmation: Confirmation) -> None:
        """Store a confirmation."""

    def get(self, confirmation_id: str, now: float) -> Confirmation | None:
        """Return a confirmation by its id, in its state by now."""

    def claim(self, confirmation_id: str, state: ConfirmationState, now: float) -> bool:
        """Set the state of an undecided confirmation; True for exactly one of those who try."""

    def begin(self, confirmation: Confirmation, now: float, seconds: float) -> bool:
        """Claim a confirmation whose call runs now, for so many seconds at most.

        It stores the call and its prompt as they were approved.
        """

    def end(self, confirmation_id: str, state: ConfirmationState) -> None:
        """Set the state of a confirmation whose call has a result."""

    def pending(
        self, now: float, tool: str | None = None, *, user: str | None = None,
        after: tuple[float, str] | None = None,
    ) -> Iterator[Confirmation]:  # fmt: skip
        """Yield the undecided confirmations of a tool, a user or all, oldest first.

        `after` is the `created` and the id of the confirmation after which to begin.
        """

    def close(self) -> None:
        """Close the store."""


class HeadStore(Protocol):
    """The newest record of each audit file, so that removed records show, even a whole file.

    Each method may block, and may be called from several threads.
    """

    def get(self, file: str) -> ChainLine | None:
        """Return the newest record of a file that was noted."""

    def put(self, file: str, newest: ChainLine, before: ChainLine | None) -> bool:
        """Note the newest record of a file; False where `before` is not what was noted."""

    def all(self) -> Mapping[str, ChainLine]:
        """Return the newest noted record of each file."""

    def forget(self, file: str) -> None:
        """Remove the note of a file that was kept long enough."""

    def close(self) -> None:
        """Close the store."""


class LimitStore(Protocol):
    """The counts of calls over all processes of a project.

    Each method may block, and may be called from several threads; an exception denies the call.
    """

    def open(self) -> None:
        """Open the store before the first start, which opening would delay."""

    def take(self, tool: str, apart: float) -> float:
        """Start now and return 0.0, or return the seconds until a start is due.

        `apart` is the spacing of starts, in seconds.
        """

    def counted(self, tool: str, who: str) -> int:
        """Return how many calls one user made in one conversation."""

    def count(self, tool: str, who: str, most: int) -> bool:
        """Count one more call; False where `most` were counted already."""

    def uncount(self, tool: str, who: str) -> None:
        """Remove a call that never started from the count."""

    def enter(self, tool: str, most: int) -> str | None:
        """Acquire one of `most` places for a running call; None if none is free.

        Returns the name of the place.

        A place that is not renewed is free again after a while: its process may be dead.
        """

    def use(self) -> Mapping[str, tuple[float | None, int, int]]:
        """Return for each tool its last start, its running calls, and a conversation's most calls.

        A start is in seconds since the epoch; None for a tool without a Rate.
        """

    def renew(self, places: Iterable[str]) -> None:
        """Renew places."""

    def leave(self, places: Iterable[str]) -> None:
        """Release places."""

    def close(self) -> None:
        """Close the store."""


P = TypeVar("P", bound="StorePart[Any]")


class Store:
    """The store of a project; a project that records nothing opens nothing.

    Its parts import SQLAlchemy, which takes long: ask for them in a thread.
    """

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
        database is waited for, in seconds; the default is 10, and 2 for limits.
        """
        self.setting = setting
        """The setting `store`."""
        self._state = state
        self._epoch = epoch
        self._wait_s = wait_s
        self._lock = Lock()
        self._closed = False
        self._parts: dict[type[StorePart[Any]], StorePart[Any]] = {}
        self._results_until = 0.0
        self._database: Any = None

    @property
    def database(self) -> Any:
        """The database, also for the engine of runs."""
        from toolmd._store.database import open_database

        if self._database is None:
            self._database = open_database(self.setting, self._state)
        return self._database

    @property
    def is_shared(self) -> bool:
        """Return whether other processes may use the store, too."""
        return self.setting != MEMORY

    @property
    def confirmations(self) -> ConfirmationStore:
        """The confirmations."""
        from toolmd._store.confirmations import SqlConfirmations

        return self._part(SqlConfirmations, CONFIRMATIONS_WAIT_S)

    @property
    def limits(self) -> LimitStore:
        """The counts of all processes."""
        from toolmd._store.limits import SqlLimits

        return self._part(SqlLimits, LIMITS_WAIT_S, self._epoch)

    @property
    def crises(self) -> "SqlCrises":
        """The crisis flags of conversations."""
        from toolmd._store.crises import SqlCrises

        return self._part(SqlCrises, CONFIRMATIONS_WAIT_S)

    @property
    def audit_heads(self) -> HeadStore:
        """The newest record of each audit file."""
        with collector_paused():  # Other threads' calls would wait for the collector.
            from toolmd._store.audit_heads import SqlHeads

        return self._part(SqlHeads, LIMITS_WAIT_S)

    @property
    def changes(self) -> "SqlChanges":
        """The policy changes that wait, and those that were accepted."""
        from toolmd._store.changes import SqlChanges

        return self._part(SqlChanges, LIMITS_WAIT_S)

    @property
    def keyed_calls(self) -> "SqlKeyedCalls":
        """The calls under idempotency keys."""
        from toolmd._store.keyed_calls import SqlKeyedCalls

        return self._part(SqlKeyedCalls, CONFIRMATIONS_WAIT_S)

    @property
    def results(self) -> "SqlResults":
        """The results that models read in pages."""
        from toolmd._store.results import SqlResults

        return self._part(SqlResults, LIMITS_WAIT_S)

    @property
    def pins(self) -> "SqlPins":
        """The accepted tools of MCP servers."""
        from toolmd._store.pins import SqlPins

        return self._part(SqlPins, LIMITS_WAIT_S)

    def _part(self, kind: type[P], wait_s: float, *more: Any) -> P:
        with self._lock:
            if kind not in self._parts:
                self._parts[kind] = kind(self.setting, self._state, self._wait_s or wait_s, *more)
            return cast("P", self._parts[kind])

    def keep_result(self, kept: KeptResult, now: float) -> None:
        """Keep a result; `now` is seconds since the epoch."""
        self.results.keep(kept, now)
        self._results_until = max(self._results_until, kept.until)

    def holds_results(self, now: float) -> bool:
        """Return whether any process keeps a result; a store that is not there yet holds none."""
        if self._results_until <= now and self.may_hold_records:
            try:
                self._results_until = self.results.open_until()
            except ToolmdError as error:
                logged(error, "the kept results could not be looked up")
        return self._results_until > now

    @property
    def may_hold_records(self) -> bool:
        """Return whether there may be records: a file that is not there yet holds none."""
        if self.setting == "sqlite":
            return (self._state / STORE_FILE).exists()
        return self.is_shared

    @property
    def is_closed(self) -> bool:
        """Return whether the store was closed."""
        return self._closed

    def close(self) -> None:
        """Close what was opened, for good."""
        self._closed = True
        with self._lock:
            parts = [*self._parts.values()]
        for part in parts:
            part.close()
        if self._database is not None:
            self._database.close()
