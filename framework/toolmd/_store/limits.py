"""Count the starts, quotas and running calls of each tool over all processes of a project."""

import math
import secrets
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

from toolmd._store import LEASE_S, StorePart
from toolmd._types.quota import ROLLING, Quota, window_of

if TYPE_CHECKING:
    from toolmd._store.database import Transaction

FORGET_S = 24 * 3600.0
"""How long it is known that a call with a key was counted, in seconds."""
_MOMENT = 1e-6
"""The minimal spacing in seconds; times since the epoch are rounded."""


class Claim(NamedTuple):
    """What one call needs of one quota."""

    name: str
    """The name of what is counted: of the quota's subject and its keys."""
    quota: Quota
    needs: Decimal
    """1, or the value of the parameter that is summed."""
    zone: ZoneInfo
    ticket: str
    """The name of this start in a rolling window."""


class Full(NamedTuple):
    """A quota that has too little left for a call."""

    number: int
    """Its place among the claims."""
    used: Decimal
    resets: float
    """When it has enough again, in seconds since the epoch."""


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

    def look(self, claims: Sequence["Claim"], now: float, call: str = "") -> "Full | None":
        """Return the first quota with too little left for a call; None where it may start."""
        with self._read() as tx:
            return self._full(tx, claims, tx.now(now), call)

    def claim(
        self, tool: str, claims: Sequence["Claim"], now: float, call: str = ""
    ) -> "Full | None":
        """Count a call in all its quotas together; return the one that is full, and take nothing.

        `call` is the key of the call, if it has one: a second time with it takes nothing.
        """
        with self._write(f"quotas of {tool}") as tx:
            now = tx.now(now)
            tx.execute("DELETE FROM quota_use WHERE until <= ?", now)
            if (full := self._full(tx, claims, now, call)) is not None:
                return full
            if call and not self._is_new(tx, call):
                return None
            if call:
                tx.execute("INSERT INTO quota_use VALUES (?, '', ?, '1', ?)", _of_call(call), now,
                           now + FORGET_S)  # fmt: skip
            for one in claims:
                window = window_of(one.quota, now, one.zone)
                part = one.ticket if window.label == ROLLING else window.label
                used = _sum(tx.execute(
                    "SELECT used FROM quota_use WHERE name = ? AND part = ?", one.name, part
                ))  # fmt: skip
                tx.execute(
                    "INSERT INTO quota_use VALUES (?, ?, ?, ?, ?) ON CONFLICT (name, part)"
                    " DO UPDATE SET used = excluded.used",
                    one.name, part, now, str(used + one.needs), window.ends,
                )  # fmt: skip
            return None

    def give_back(self, tool: str, claims: Sequence["Claim"], now: float, call: str = "") -> None:
        """Return what a call claimed that surely had no effect."""
        with self._write(f"quotas of {tool}") as tx:
            if call and not tx.change("DELETE FROM quota_use WHERE name = ?", _of_call(call)):
                return
            for one in claims:
                window = window_of(one.quota, tx.now(now), one.zone)
                part = one.ticket if window.label == ROLLING else window.label
                rows = tx.execute(
                    "SELECT used FROM quota_use WHERE name = ? AND part = ?", one.name, part
                )
                left = max(_sum(rows) - one.needs, Decimal(0))
                tx.execute(
                    "UPDATE quota_use SET used = ? WHERE name = ? AND part = ?",
                    str(left), one.name, part,
                )  # fmt: skip

    @staticmethod
    def _is_new(tx: "Transaction", call: str) -> bool:
        return not tx.execute("SELECT 1 FROM quota_use WHERE name = ?", _of_call(call))

    def _full(
        self, tx: "Transaction", claims: Sequence["Claim"], now: float, call: str
    ) -> "Full | None":
        if call and not self._is_new(tx, call):
            return None
        for number, one in enumerate(claims):
            window, limit = window_of(one.quota, now, one.zone), Decimal(str(one.quota.amount))
            if window.label == ROLLING:
                rows = tx.execute(
                    "SELECT used, at FROM quota_use WHERE name = ? AND at > ? ORDER BY at",
                    one.name, window.begins,
                )  # fmt: skip
            else:
                rows = tx.execute(
                    "SELECT used, at FROM quota_use WHERE name = ? AND part = ?",
                    one.name, window.label,
                )  # fmt: skip
            used = _sum(rows)
            if used + one.needs > limit:
                resets = window.ends
                if one.quota.seconds is not None:
                    resets = _room_at(rows, used + one.needs - limit) + one.quota.seconds
                return Full(number, used, resets)
        return None

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


def _of_call(call: str) -> str:
    return f"call {call}"


def _sum(rows: Sequence[Any]) -> Decimal:
    return sum((Decimal(row[0]) for row in rows), Decimal(0))


def _room_at(rows: Sequence[Any], over: Decimal) -> float:
    """Return the start with whose end a rolling window has room for so much more."""
    for used, at in rows:
        over -= Decimal(used)
        if over <= 0:
            return float(at)
    return float(rows[-1][1]) if rows else 0.0
