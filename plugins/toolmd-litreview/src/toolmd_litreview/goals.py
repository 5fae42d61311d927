"""Keep one person's handbooks: each review's question, its rules, and how far it is."""

import sqlite3
from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from toolmd.database import Database
from toolmd_litreview.paper import SHORT, fingerprint

STATUSES: Final = ("open", "searched", "compared", "extracted", "checked", "error")
"""The statuses of a goal, in the order of a review; `error` is that of a call that failed."""
AFTER: Final = {
    "search_pubmed": "searched",
    "find_existing_sr": "compared",
    "run_pico": "extracted",
    "prisma_check": "checked",
}
"""The status that a successful call leaves."""


class Handbook(NamedTuple):
    """One review: its question, and what was decided about it."""

    handbook_id: str
    seed_query: str
    parent: str | None
    """The handbook whose overlap led to this one."""
    status: str
    last: str
    """The tool of the last call, with the code of its error."""
    eligibility: str
    """What includes or excludes a study, as a person stated it; empty if nobody did."""
    selection: str
    """Who decided how whether a study is eligible, as a person stated it; empty likewise."""
    at: str


class Goals:
    """One person's part of the goal state; the handbook that was begun or used last is current."""

    def __init__(self, database: Database, clock: Callable[[], datetime], owner: str) -> None:
        """Open the goals; `owner` is empty for the local user."""
        self._database = database
        self._clock = clock
        self._owner = owner

    def current(self) -> Handbook | None:
        """Return the handbook in work; None before the first search."""
        found = self.all()
        return found[0] if found else None

    def all(self) -> list[Handbook]:
        """Return the handbooks, the current one first."""
        columns = ", ".join(Handbook._fields)
        query = f"SELECT {columns} FROM goal_state WHERE owner = ? ORDER BY turn DESC"  # noqa: S608 - ours
        with self._database.reading() as db:
            return [Handbook(*row) for row in db.execute(query, (self._owner,))]

    def begin(self, seed_query: str, parent: str | None = None) -> Handbook:
        """Make the handbook of a question current; a new one is created."""
        id_ = f"hb-{fingerprint(self._owner, seed_query)[:SHORT]}"
        with self._database.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO goal_state (owner, handbook_id, seed_query, parent, at, "
                "turn) VALUES (?, ?, ?, ?, ?, 0)",
                (self._owner, id_, seed_query, parent, self._now()),
            )
            db.execute(
                "UPDATE goal_state SET turn = (SELECT max(turn) + 1 FROM goal_state) "
                "WHERE owner = ? AND handbook_id = ?",
                (self._owner, id_),
            )
        found = self.current()
        assert found is not None
        return found

    def searching(self, query: str) -> Handbook:
        """Return the handbook of a search: that of its question, else the current one."""
        known = {book.seed_query for book in self.all()}
        current = self.current()
        return self.begin(query) if current is None or query in known else current

    def settle(self, eligibility: str, selection: str) -> None:
        """Record what a person stated on the current handbook's studies."""
        self._set("eligibility = ?, selection = ?", eligibility, selection)

    def advance(self, tool: str, error: str | None) -> None:
        """Record a call: its error, or the status that it leaves."""
        if error is not None:
            self._set("status = 'error', last = ?", f"{tool}: {error}")
        elif (status := AFTER.get(tool)) is not None:
            self._set("status = ?, last = ?", status, tool)

    def _set(self, what: str, *values: str) -> None:
        with self._database.writing() as db:
            row: sqlite3.Row | None = db.execute(
                "SELECT handbook_id FROM goal_state WHERE owner = ? ORDER BY turn DESC",
                (self._owner,),
            ).fetchone()
            if row is not None:
                db.execute(
                    f"UPDATE goal_state SET {what}, at = ? WHERE owner = ? AND handbook_id = ?",  # noqa: S608 - ours
                    (*values, self._now(), self._owner, row[0]),
                )

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")
