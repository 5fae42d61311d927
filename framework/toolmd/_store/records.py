"""Store crises, keyed calls, kept results, policy changes, audit heads and pins of remote tools."""

import math
import socket
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from toolmd._store import StorePart
from toolmd._types.pending_change import ChangeKey, StoredChange
from toolmd._types.stored import ChainLine, Crisis, KeptResult, KeyedCall

if TYPE_CHECKING:
    from toolmd._store.database import Row, Transaction

KEY_KEPT_S = 24 * 3600.0
"""For how long a key is known after its call began, in seconds."""
MOST_HEARD = 20
"""How many messages of a user count, the newest."""
CHANGE_KEPT_S = 30 * 24 * 3600.0
"""For how long a change is kept that no process has pending any more, in seconds."""
GONE = ""
"""What was seen of a tool that the server does not list any more."""


class CrisisStore(StorePart):
    """The flagged conversations of a project."""

    wait_s = 10.0

    def flag(self, crisis: Crisis) -> None:
        """Flag a conversation, or renew its flag."""
        self._execute(
            "INSERT INTO crisis VALUES (?, ?, ?)"
            " ON CONFLICT (conversation, caller) DO UPDATE SET since = excluded.since",
            crisis.conversation, crisis.user or "", crisis.since,
        )  # fmt: skip

    def is_flagged(self, conversation: str, user: str | None) -> bool:
        """Return whether a user's conversation is flagged."""
        asked = "SELECT 1 FROM crisis WHERE conversation = ? AND caller = ?"
        return bool(self._select(asked, conversation, user or ""))

    def flagged(self) -> tuple[Crisis, ...]:
        """Return the flagged conversations, oldest first."""
        rows = self._select("SELECT conversation, caller, since FROM crisis ORDER BY since")
        return tuple(Crisis(name, user or None, since) for name, user, since in rows)

    def clear(self, conversation: str, user: str | None) -> bool:
        """Remove the flag of a user's conversation; False where it has none."""
        gone = "DELETE FROM crisis WHERE conversation = ? AND caller = ? RETURNING 1"
        return bool(self._execute(gone, conversation, user or ""))


class WordStore(StorePart):
    """The messages of each user in a conversation since the last executed call, for a day."""

    synced = False

    def add(self, conversation: str, user: str | None, text: str) -> None:
        """Store a message, unless the newest is equal; those that a call used go."""
        text = text.replace("\0", "").encode(errors="replace").decode()
        newest = "SELECT text FROM user_message WHERE conversation = ? AND caller = ?"
        key = conversation, _owner(user)
        if self._select(f"{newest} ORDER BY number DESC LIMIT 1", *key) == [(text,)]:
            return
        with self._write(f"words of {conversation}") as tx:
            now = self._now(tx)
            tx.execute("DELETE FROM user_message WHERE conversation = ? AND caller = ?"
                       " AND used_by IS NOT NULL", *key)  # fmt: skip
            tx.execute("DELETE FROM user_message WHERE at < ?", now - KEY_KEPT_S)
            tx.execute(
                "INSERT INTO user_message SELECT ?, ?, coalesce(max(number), 0) + 1, ?, ?, NULL"
                " FROM user_message WHERE conversation = ? AND caller = ?",
                *key, text, now, *key,
            )  # fmt: skip

    def heard(self, conversation: str, user: str | None, reply: str | None) -> tuple[str, ...]:
        """Return the messages that no call used, but those of the same reply, oldest first."""
        rows = self._select(
            "SELECT text FROM user_message WHERE conversation = ? AND caller = ?"
            " AND (used_by IS NULL OR (used_by = ? AND used_by <> '')) ORDER BY number",
            conversation, _owner(user), reply or "",
        )  # fmt: skip
        return tuple(text for (text,) in rows[-MOST_HEARD:])

    def use(self, conversation: str, user: str | None, reply: str | None) -> None:
        """Note that a call of a reply is executed."""
        self._execute(
            "UPDATE user_message SET used_by = ?"
            " WHERE conversation = ? AND caller = ? AND used_by IS NULL",
            reply or "", conversation, _owner(user),
        )  # fmt: skip


class KeyedCallStore(StorePart):
    """The calls of a project under idempotency keys, so that a repeated one has no effect."""

    wait_s = 10.0

    def begin(self, key: str, seconds: float) -> KeyedCall | None:
        """Begin a call under a key, of so many seconds at most; None for exactly one who tries.

        Others get the call that began before.
        """
        with self._write(f"key {key}") as tx:
            now = self._now(tx)
            tx.execute("DELETE FROM keyed_call WHERE began < ?", now - KEY_KEPT_S)
            if tx.execute(
                "INSERT INTO keyed_call VALUES (?, ?, ?, NULL) ON CONFLICT DO NOTHING RETURNING 1",
                key, now, now + seconds,
            ):  # fmt: skip
                return None
            known = "SELECT until - ?, result FROM keyed_call WHERE key = ?"
            return KeyedCall(*tx.execute(known, now, key)[0])

    def record(self, key: str, result: str) -> None:
        """Store the result of a call that had no other record."""
        with self._write(f"key {key}") as tx:
            now = self._now(tx)
            tx.execute("DELETE FROM keyed_call WHERE began < ?", now - KEY_KEPT_S)
            stored = "INSERT INTO keyed_call VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
            tx.execute(stored, key, now, now, result)

    def get(self, key: str) -> str | None:
        """Return the result that is stored under a key."""
        rows = self._select("SELECT result FROM keyed_call WHERE key = ?", key)
        return rows[0][0] if rows else None

    def finish(self, key: str, result: str) -> None:
        """Store the result of a call."""
        self._execute("UPDATE keyed_call SET result = ? WHERE key = ?", result, key)

    def give_up(self, key: str) -> None:
        """Note that a call has ended without anybody knowing its outcome."""
        self._execute("UPDATE keyed_call SET until = 0 WHERE key = ?", key)

    def forget(self, key: str) -> None:
        """Remove a call that may be made again."""
        self._execute("DELETE FROM keyed_call WHERE key = ?", key)


class ResultStore(StorePart):
    """The results of calls that are kept under handles; `now` is seconds since the epoch."""

    def keep(self, kept: KeptResult, now: float) -> None:
        """Keep a result, and delete those whose time is over."""
        with self._write() as tx:
            tx.execute("DELETE FROM kept_result WHERE until <= ?", now)
            row = kept._replace(user=_owner(kept.user))
            tx.execute("INSERT INTO kept_result VALUES (?, ?, ?, ?, ?)", *row)

    def find(self, handle: str, user: str | None, now: float) -> KeptResult | None:
        """Return what is kept for a user under a handle; None if there is nothing any more."""
        rows = self._select(
            "SELECT tool, data, until FROM kept_result"
            " WHERE handle = ? AND owner = ? AND until > ?",
            handle, _owner(user), now,
        )  # fmt: skip
        return KeptResult(handle, user, *rows[0]) if rows else None

    def open_until(self) -> float:
        """Return the time at which the last result goes, in seconds since the epoch; 0 for none."""
        ((until,),) = self._select("SELECT max(until) FROM kept_result")
        return float(until or 0)


def _owner(user: str | None) -> str:
    """Return the column's text: nobody and a user with an empty name are two."""
    return "" if user is None else f"={user}"


class ChangeStore(StorePart):
    """The policy changes that wait, and those that a person accepted."""

    def all(self) -> Mapping[ChangeKey, StoredChange]:
        """Return the pending and the accepted changes."""
        rows = self._select("SELECT name, live, edit, number, accepted, spec FROM policy_change")
        changes = {}
        for *names, number, accepted, spec in rows:
            key = ChangeKey(*names)
            changes[key] = StoredChange(key, number, bool(accepted), spec.encode())
        return changes

    def propose(self, changes: Iterable[tuple[ChangeKey, bytes, int]]) -> None:
        """Store pending changes: the key, the live policy, and the last number that was taken.

        A change with a higher number stays as it is, so that an acceptance is not lost; another
        one is pending again. Changes that nobody proposed for long are deleted.
        """
        with self._write("policy changes") as tx:
            now = self._now(tx)
            for key, spec, taken in changes:
                _propose(tx, key, spec, taken, now)
            tx.execute("DELETE FROM policy_change WHERE since < ?", now - CHANGE_KEPT_S)

    def accept(self, key: ChangeKey, spec: bytes, taken: int) -> int:
        """Accept a change for every process, and return its number, which is higher than `taken`.

        `spec` is the live policy.
        """
        with self._write("policy changes") as tx:
            _propose(tx, key, spec, taken, self._now(tx))
            ((number,),) = tx.execute(
                "UPDATE policy_change SET accepted = 1 WHERE name = ? AND live = ? AND edit = ?"
                " RETURNING number",
                *key,
            )  # fmt: skip
        return int(number)


def _propose(tx: "Transaction", key: ChangeKey, spec: bytes, taken: int, now: float) -> None:
    highest = tx.execute("SELECT max(number) FROM policy_change WHERE name = ?", key.name)
    number = max(highest[0][0] or 0, taken) + 1
    tx.execute(
        "INSERT INTO policy_change VALUES (?, ?, ?, ?, ?, 0, ?)"
        " ON CONFLICT (name, live, edit) DO UPDATE SET since = excluded.since,"
        " accepted = CASE WHEN policy_change.number > ? THEN policy_change.accepted ELSE 0 END,"
        " number = CASE WHEN policy_change.number > ? THEN policy_change.number"
        " ELSE excluded.number END",
        *key, spec.decode(), number, now, taken, taken,
    )  # fmt: skip


class HeadStore(StorePart):
    """The newest record of each audit file, so that removed records show, even a whole file.

    Machines that share a Postgres each have files of their own.
    """

    synced = False

    def get(self, file: str) -> ChainLine | None:
        """Return the newest record of a file that was noted."""
        rows = self._select("SELECT number, hash FROM audit_head WHERE file = ?", file)
        return ChainLine(*rows[0]) if rows else None

    def put(self, file: str, newest: ChainLine, before: ChainLine | None) -> bool:
        """Note the newest record of a file; False where `before` is not what was noted."""
        if before is None:
            new = "INSERT INTO audit_head VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1"
            return bool(self._execute(new, file, self._place, *newest))
        return bool(self._execute(
            "UPDATE audit_head SET number = ?, hash = ?"
            " WHERE file = ? AND number = ? AND hash = ? RETURNING 1",
            *newest, file, *before,
        ))  # fmt: skip

    def all(self) -> Mapping[str, ChainLine]:
        """Return the newest noted record of each file of this machine."""
        asked = "SELECT file, number, hash FROM audit_head WHERE place = ?"
        return {file: ChainLine(*newest) for file, *newest in self._select(asked, self._place)}

    def forget(self, file: str) -> None:
        """Remove the note of a file that was kept long enough."""
        self._execute("DELETE FROM audit_head WHERE file = ?", file)

    @property
    def _place(self) -> str:
        # A SQLite file moves with its state folder.
        spans = self._store.database.spans_machines
        return f"{socket.gethostname()}:{self._store.state}" if spans else ""


class Pin(NamedTuple):
    """The definition of one tool, as canonical JSON."""

    tool: str
    accepted: str
    seen: str
    """The newest definition; GONE where the server does not list the tool once."""

    @property
    def is_changed(self) -> bool:
        """Return whether the tool differs from what was accepted."""
        return self.seen != self.accepted


class PinStore(StorePart):
    """The definition of each remote tool as it was accepted, and as it was seen last."""

    RECENT_S: ClassVar[float] = 0.1
    """How long calls share what one of them read, in seconds: another process may write."""

    @cached_property
    def _recent(self) -> dict[tuple[tuple[str, str], ...], tuple[float, tuple[Pin | None, ...]]]:
        """What calls read, by the names, with the time at which the reading began."""
        return {}

    def recent(self, *names: tuple[str, str]) -> tuple[Pin | None, ...] | None:
        """Return what `get` returned just now, or None; it never waits."""
        began, pins = self._recent.get(names, (-math.inf, None))
        return pins if time.monotonic() - began < self.RECENT_S else None

    def get(self, *names: tuple[str, str]) -> tuple[Pin | None, ...]:
        """Return the pin of each server's tool, None where it has none."""
        began, found = time.monotonic(), list[Pin | None]()
        with self._read() as tx:
            for name in names:
                rows = tx.execute(f"{_PINS} AND tool = ?", *name)
                found.append(Pin(*rows[0]) if rows else None)
        self._recent[names] = began, (pins := tuple(found))
        return pins

    def of(self, server: str, tools: Collection[str] | None = None) -> Mapping[str, Pin]:
        """Return the pins of a server, or of these tools, by the server's names of the tools."""
        # A call may not know less than who asked for all.
        self._recent.clear()
        pins = self._pins(self._select, server)
        return pins if tools is None else {tool: pins[tool] for tool in pins.keys() & {*tools}}

    def see(
        self, server: str, seen: Mapping[str, str], wanted: Collection[str], *, is_new: bool = True
    ) -> Mapping[str, Pin]:
        """Note what a server lists now, and return its pins.

        A wanted tool without a pin is pinned as it is. `seen` are the definitions by name. Without
        `is_new`, other tools stay as they were seen, perhaps by another process and later.
        """
        with self._write(f"pins of {server}") as tx:
            there = self._pins(tx.execute, server)
            for tool in (tool for tool in wanted if tool in seen and tool not in there):
                tx.execute(_PIN, server, tool, seen[tool], seen[tool])
            for tool, pin in there.items() if is_new else ():
                if (now := seen.get(tool, GONE)) != pin.seen:
                    tx.execute(_PIN, server, tool, pin.accepted, now)
            pins = self._pins(tx.execute, server)
        self._recent.clear()
        return pins

    def accept(self, server: str, definitions: Mapping[str, str]) -> None:
        """Pin tools as these definitions; a tool whose definition is GONE is not pinned."""
        with self._write(f"pins of {server}") as tx:
            for tool, text in definitions.items():
                if text == GONE:
                    tx.execute(
                        "DELETE FROM remote_tool WHERE server = ? AND tool = ?", server, tool
                    )
                else:
                    tx.execute(_PIN, server, tool, text, text)
        self._recent.clear()

    @staticmethod
    def _pins(select: "Callable[..., list[Row]]", server: str) -> dict[str, Pin]:
        return {row[0]: Pin(*row) for row in select(_PINS, server)}


_PINS = "SELECT tool, accepted, seen FROM remote_tool WHERE server = ?"
_PIN = (
    "INSERT INTO remote_tool VALUES (?, ?, ?, ?) ON CONFLICT (server, tool)"
    " DO UPDATE SET accepted = excluded.accepted, seen = excluded.seen"
)
