"""Count the starts, calls and running calls of each tool over all processes of a project."""

import math
import secrets
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from toolmd._store import LEASE_S, StorePart

if TYPE_CHECKING:
    from toolmd._store.database import Database, Transaction

FORGET_S = 24 * 3600.0
"""How long after its last call the count of a conversation is kept, in seconds."""
_MOMENT = 1e-6
"""The minimal spacing in seconds; times since the epoch are rounded."""


class LimitStore(StorePart):
    """The counts of calls over all processes of a project; an exception denies the call.

    Times are of the database's server, or of this machine for a file.
    """

    # A power cut may lose one start.
    synced = False

    def __init__(
        self,
        database: "Callable[[], Database]",
        wait_s: float | None = None,
        epoch: Callable[[], float] = time.time,
    ) -> None:
        """Keep what opens the database; `epoch` returns this machine's seconds since the epoch."""
        super().__init__(database, wait_s)
        self._epoch = epoch

    def open(self) -> None:
        """Open the store before the first start, which opening would delay.

        It deletes the counts of conversations that ended long ago.
        """
        with self._write() as tx:
            tx.execute("DELETE FROM call_count WHERE last < ?", self._now(tx) - FORGET_S)

    def take(self, tool: str, apart: float) -> float:
        """Start now and return 0.0, or return the seconds until a start is due.

        `apart` is the spacing of starts, in seconds.
        """
        with self._write(f"rate of {tool}") as tx:
            rows = tx.execute("SELECT last FROM tool_start WHERE tool = ?", tool)
            last = rows[0][0] if rows else -math.inf
            now = self._now(tx)
            # A start in the future means that a clock was set back.
            wait = min(last, now) + apart - now
            if wait <= _MOMENT or last > now:
                tx.execute(
                    "INSERT INTO tool_start VALUES (?, ?)"
                    " ON CONFLICT (tool) DO UPDATE SET last = excluded.last",
                    tool, now,
                )  # fmt: skip
        return wait if wait > _MOMENT else 0.0

    def counted(self, tool: str, who: str) -> int:
        """Return how many calls one user made in one conversation."""
        with self._read() as tx:
            rows = tx.execute(
                "SELECT calls FROM call_count WHERE tool = ? AND who = ? AND last > ?",
                tool, who, self._now(tx) - FORGET_S,
            )  # fmt: skip
        return int(rows[0][0]) if rows else 0

    def count(self, tool: str, who: str, most: int) -> bool:
        """Count one more call; False where `most` were counted already."""
        with self._write() as tx:
            now = self._now(tx)
            ended = now - FORGET_S
            return bool(tx.execute(
                "INSERT INTO call_count VALUES (?, ?, 1, ?) ON CONFLICT (tool, who) DO UPDATE"
                " SET calls = CASE WHEN call_count.last > ? THEN call_count.calls + 1 ELSE 1 END,"
                " last = excluded.last"
                " WHERE call_count.calls < ? OR call_count.last <= ? RETURNING calls",
                tool, who, now, ended, most, ended,
            ))  # fmt: skip

    def uncount(self, tool: str, who: str) -> None:
        """Remove a call that never started from the count."""
        self._execute(
            "UPDATE call_count SET calls = calls - 1 WHERE tool = ? AND who = ? AND calls > 0",
            tool, who,
        )  # fmt: skip

    def enter(self, tool: str, most: int) -> str | None:
        """Acquire one of `most` places for a running call; None where all are taken.

        Returns the name of the place. It must be renewed before LEASE_S seconds are over, else it
        is free again: its process may be dead.
        """
        with self._write(f"places of {tool}") as tx:
            now = self._now(tx)
            tx.execute("DELETE FROM running_call WHERE tool = ? AND until <= ?", tool, now)
            ((taken,),) = tx.execute("SELECT count(*) FROM running_call WHERE tool = ?", tool)
            if taken >= most:
                return None
            name = secrets.token_hex(12)
            tx.execute("INSERT INTO running_call VALUES (?, ?, ?)", name, tool, now + LEASE_S)
            return name

    def renew(self, names: Iterable[str]) -> None:
        """Renew places for another LEASE_S seconds."""
        with self._write() as tx:
            until = self._now(tx) + LEASE_S
            # In one order, so that two transactions never wait for each other.
            rows = [(until, name) for name in sorted(names)]
            tx.insert("UPDATE running_call SET until = ? WHERE name = ?", rows)

    def leave(self, names: Iterable[str]) -> None:
        """Release places."""
        with self._write() as tx:
            rows = [(name,) for name in sorted(names)]
            tx.insert("DELETE FROM running_call WHERE name = ?", rows)

    def use(self) -> dict[str, tuple[float | None, int, int]]:
        """Return for each tool its last start, its running calls, and a conversation's most calls.

        A start is in seconds since the epoch; None for a tool without a Rate.
        """
        with self._read() as tx:
            now = self._now(tx)
            last: dict[str, float] = dict(tx.execute("SELECT tool, last FROM tool_start"))
            running: dict[str, int] = dict(tx.execute(
                "SELECT tool, count(*) FROM running_call WHERE until > ? GROUP BY tool", now
            ))  # fmt: skip
            calls: dict[str, int] = dict(tx.execute(
                "SELECT tool, max(calls) FROM call_count WHERE last > ? GROUP BY tool",
                now - FORGET_S,
            ))  # fmt: skip
        tools = last.keys() | running.keys() | calls.keys()
        return {one: (last.get(one), running.get(one, 0), calls.get(one, 0)) for one in tools}

    def _now(self, tx: "Transaction") -> float:
        return tx.now(self._epoch())
