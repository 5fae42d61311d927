"""Store confirmations, so that they survive a restart and any process can decide them once."""

import json
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from toolmd._store.database import Pace
from toolmd._store.opened import Opened
from toolmd._types.asked import Asked
from toolmd._types.call import Budget, Call, Caller
from toolmd._types.confirmation import Confirmation, ConfirmationState

KEPT_S = 30 * 24 * 3600.0
"""For how long an expired confirmation is kept, in seconds: a late decision gets the reason."""


class SqlConfirmations:
    """The confirmations of a project, in its database.

    Each method blocks, and raises UnreachableError where the store can't be used.
    """

    def __init__(self, store: str, state: Path, wait_s: float) -> None:
        """Keep the setting `store` and the state folder; wait `wait_s` seconds for a lock."""
        pace = Pace(busy_ms=round(wait_s * 1000), connections=4)
        self._opened = Opened(store, state, _table, pace)

    def add(self, confirmation: Confirmation) -> None:
        """Store a confirmation, and delete those that expired long ago."""
        row = confirmation._asdict() | {
            "call": json.dumps(confirmation.call),
            "shown": json.dumps(confirmation.shown),
            "notes": json.dumps(confirmation.notes),
        }
        del row["saves"]
        with self._opened.transaction() as connection:
            table = self._opened.tables
            connection.execute(sa.insert(table).values(row))
            old = table.c.expires < confirmation.created - KEPT_S
            connection.execute(sa.delete(table).where(old))

    def get(self, confirmation_id: str) -> Confirmation | None:
        """Return a confirmation by its id."""
        with self._opened.transaction() as connection:
            table = self._opened.tables
            row = connection.execute(sa.select(table).where(table.c.id == confirmation_id)).first()
        return None if row is None else _read(row)

    def claim(self, confirmation_id: str, state: ConfirmationState) -> bool:
        """Set the state of a pending confirmation; True for exactly one of those who try."""
        with self._opened.transaction() as connection:
            table = self._opened.tables
            still = sa.and_(table.c.id == confirmation_id, table.c.state == "pending")
            return (
                connection.execute(sa.update(table).where(still).values(state=state)).rowcount == 1
            )

    def pending(self, now: float, tool: str | None = None) -> tuple[Confirmation, ...]:
        """Return the confirmations that may still be decided, of one tool or all, oldest first."""
        with self._opened.transaction() as connection:
            table = self._opened.tables
            still = sa.and_(table.c.state == "pending", table.c.expires > now)
            if tool is not None:
                # The JSON of a call begins with its tool.
                begins = f"[{json.dumps(tool)}, "
                still = sa.and_(still, table.c.call.startswith(begins, autoescape=True))
            chosen = sa.select(table).where(still).order_by(table.c.created, table.c.id)
            return tuple(map(_read, connection.execute(chosen)))

    def close(self) -> None:
        """Close the database."""
        self._opened.close()


def _table(metadata: sa.MetaData) -> sa.Table:
    return sa.Table(
        "toolmd_confirmation", metadata,
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("call", sa.Text, nullable=False),
        sa.Column("bound_to", sa.Text, nullable=False),
        sa.Column("prompt", sa.Text, nullable=False),
        sa.Column("sensitivity", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("expires", sa.Double, nullable=False, index=True),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("shown", sa.Text, nullable=False),
        sa.Column("notes", sa.Text, nullable=False),
    )  # fmt: skip


def _read(row: Any) -> Confirmation:
    values = row._asdict()
    call = Call(*json.loads(values["call"]))
    budget = None if call.budget is None else Budget(*call.budget)
    asked = None if call.asked is None else Asked(*call.asked)
    return Confirmation(**values | {
        "call": call._replace(caller=Caller(*call.caller), budget=budget, asked=asked),
        "shown": json.loads(values["shown"]),
        "notes": tuple(json.loads(values["notes"])),
    })  # fmt: skip
