"""Count the starts, calls and running calls of each tool over all processes of a project."""

import math
import secrets

from toolmd._store import LEASE_S, StorePart

FORGET_S = 24 * 3600.0
"""How long after its last call the count of a conversation is kept, in seconds."""
_MOMENT = 1e-6
"""The minimal spacing in seconds; times since the epoch are rounded."""


class LimitStore(StorePart):
    """The counts of calls over all processes of a project; an exception denies the call."""

    # A power cut may lose one start.
    synced = False

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
        with self._write(f"calls of {tool}") as tx:
            now = self._now(tx)
            tx.execute("DELETE FROM call_count WHERE tool = ? AND last <= ?", tool, now - FORGET_S)
            return most > 0 and bool(tx.execute(
                "INSERT INTO call_count VALUES (?, ?, 1, ?) ON CONFLICT (tool, who) DO UPDATE"
                " SET calls = call_count.calls + 1, last = excluded.last"
                " WHERE call_count.calls < ? RETURNING calls",
                tool, who, now, most,
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

    def renew(self, name: str) -> None:
        """Renew a place for another LEASE_S seconds."""
        with self._write() as tx:
            until = self._now(tx) + LEASE_S
            tx.execute("UPDATE running_call SET until = ? WHERE name = ?", until, name)

    def leave(self, name: str) -> None:
        """Release a place."""
        self._execute("DELETE FROM running_call WHERE name = ?", name)

    def use(self) -> dict[str, tuple[float | None, int, int]]:
        """Return for each tool its last start, its running calls, and a conversation's most calls.

        A start is in seconds since the epoch; None for a tool without a Rate.
        """
        with self._read() as tx:
            now = self._now(tx)
            found = tx.execute(
                "SELECT tool, max(last), sum(running), max(calls) FROM ("
                "SELECT tool, last, 0 AS running, 0 AS calls FROM tool_start"
                " UNION ALL SELECT tool, NULL, 1, 0 FROM running_call WHERE until > ?"
                " UNION ALL SELECT tool, NULL, 0, calls FROM call_count WHERE last > ?"
                ") AS used GROUP BY tool",
                now, now - FORGET_S,
            )  # fmt: skip
        return {tool: (last, int(running), int(calls)) for tool, last, running, calls in found}
