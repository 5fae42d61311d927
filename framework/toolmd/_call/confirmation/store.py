"""Store confirmations in SQLite, so that they survive a restart and resume once."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from toolmd._types.call import Budget, Call, Caller
from toolmd._types.confirmation import Confirmation, ConfirmationState
from toolmd.config.sqlite import create_store

_TABLE = """
CREATE TABLE IF NOT EXISTS confirmations (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, call TEXT NOT NULL, bound_to TEXT NOT NULL,
    prompt TEXT NOT NULL, sensitivity TEXT NOT NULL, created REAL NOT NULL, expires REAL NOT NULL,
    state TEXT NOT NULL, shown TEXT NOT NULL, notes TEXT NOT NULL DEFAULT '[]'
) STRICT
"""
_NOTES = "ALTER TABLE confirmations ADD COLUMN notes TEXT NOT NULL DEFAULT '[]'"


class ConfirmationStore:
    """The confirmations of a project; safe for several threads and processes.

    Each method raises sqlite3.Error or OSError where it fails; where another process has locked
    the store, at once or after `wait_s` seconds.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._made = False

    def add(self, confirmation: Confirmation) -> None:
        """Store a confirmation."""
        row = (
            confirmation.id,
            confirmation.kind,
            json.dumps(confirmation.call),
            confirmation.bound_to,
            confirmation.prompt,
            confirmation.sensitivity,
            confirmation.created,
            confirmation.expires,
            confirmation.state,
            json.dumps(confirmation.shown),
            json.dumps(confirmation.notes),
        )
        with closing(self._open()) as store:
            store.execute("INSERT INTO confirmations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def get(self, confirmation_id: str, *, wait_s: float = 0.0) -> Confirmation | None:
        """Return a confirmation by its id."""
        with closing(self._open(wait_s)) as store:
            row = store.execute(
                "SELECT * FROM confirmations WHERE id = ?", (confirmation_id,)
            ).fetchone()
        return None if row is None else _read(row)

    def claim(self, confirmation_id: str, state: ConfirmationState) -> bool:
        """Set the state of a pending confirmation; True for exactly one of those who try."""
        with closing(self._open()) as store:
            changed = store.execute(
                "UPDATE confirmations SET state = ? WHERE id = ? AND state = 'pending'",
                (state, confirmation_id),
            )
            return changed.rowcount == 1

    def pending(self, now: float, *, wait_s: float) -> tuple[Confirmation, ...]:
        """Return the confirmations that may still be decided, oldest first."""
        question = (
            "SELECT * FROM confirmations WHERE state = 'pending' AND expires > ?"
            " ORDER BY created, id"
        )
        with closing(self._open(wait_s)) as store:
            return tuple(_read(row) for row in store.execute(question, (now,)))

    def _open(self, wait_s: float = 0.0) -> sqlite3.Connection:
        if create_store(self._path):
            self._made = False
        if not self._made:
            with closing(self._connect(wait_s)) as store:
                _make(store)
            self._made = True
        return self._connect(wait_s)

    def _connect(self, wait_s: float) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=wait_s, isolation_level=None)


def _make(store: sqlite3.Connection) -> None:
    store.execute(_TABLE)
    if not any(
        column[1] == "notes" for column in store.execute("PRAGMA table_info(confirmations)")
    ):
        store.execute(_NOTES)  # An earlier release stored no notes.


def _read(row: tuple[Any, ...]) -> Confirmation:
    call = Call(*json.loads(row[2]))
    caller = Caller(*call.caller)
    budget = None if call.budget is None else Budget(*call.budget)
    call = call._replace(caller=caller, budget=budget)
    (
        confirmation_id,
        kind,
        _,
        bound_to,
        prompt,
        sensitivity,
        created,
        expires,
        state,
        shown,
        notes,
    ) = row
    return Confirmation(
        confirmation_id,
        kind,
        call,
        bound_to,
        prompt,
        sensitivity,
        created,
        expires,
        state,
        json.loads(shown),
        tuple(json.loads(notes)),
    )
