"""Store confirmations, so that they survive a restart and any process can decide them once."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import sqlalchemy as sa

from toolmd._store.opened import StorePart
from toolmd._types.asked import Asked
from toolmd._types.call import Budget, Call, Caller
from toolmd._types.confirmation import EXPIRES_S, UNDECIDED, Confirmation, ConfirmationState

SOME = 100
"""How many confirmations are read at once."""
_CLEANED = 10
"""How many expired confirmations a new one cleans: more than come, and few enough to be fast."""
_OPEN = sa.text("state IN ('pending', 'running')")
"""What an undecided confirmation is among; as text, so that the index of the same text is used."""
KEPT_S = 30 * 24 * 3600.0
"""For how long an expired confirmation is kept, in seconds: a late decision gets the reason."""


class SqlConfirmations(StorePart[sa.Table]):
    """The confirmations of a project, in its database."""

    @staticmethod
    def define(metadata: sa.MetaData) -> sa.Table:
        """Define the table."""
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
            sa.Index("toolmd_confirmation_open", "created", "id", sqlite_where=_OPEN,
                     postgresql_where=_OPEN),
        )  # fmt: skip

    def add(self, confirmation: Confirmation) -> None:
        """Store a confirmation; clean those that expired, and delete them in the end."""
        assert confirmation.expires is not None
        now = self.now(confirmation.created)
        row = confirmation._asdict() | _texts(confirmation) | {
            "notes": json.dumps(confirmation.notes),
            "created": now,
            "expires": now + (confirmation.expires - confirmation.created),
        }  # fmt: skip
        del row["saves"]
        with self.transaction() as connection:
            table = self.tables
            connection.execute(sa.insert(table).values(row))
            connection.execute(sa.delete(table).where(table.c.expires < now - KEPT_S))
            self._clean(connection, now)

    def get(self, confirmation_id: str, now: float) -> Confirmation | None:
        """Return a confirmation by its id, in its state by now."""
        with self.transaction() as connection:
            table = self.tables
            chosen = sa.select(table, self.now(now).label("now"))
            row = connection.execute(chosen.where(table.c.id == confirmation_id)).first()
        return None if row is None else _read(row)

    def claim(self, confirmation_id: str, state: ConfirmationState, now: float) -> bool:
        """Set the state of an undecided confirmation; True for exactly one of those who try.

        After a decision, only what the person was shown of the call stays.
        """
        return self._set(confirmation_id, now, {"state": state})

    def begin(self, confirmation: Confirmation, now: float, seconds: float) -> bool:
        """Claim a confirmation whose call runs now, for so many seconds at most."""
        values = {"state": "running", "expires": self.now(now) + seconds,
                  "bound_to": confirmation.bound_to, "prompt": confirmation.prompt}  # fmt: skip
        return self._set(confirmation.id, now, values | _texts(confirmation))

    def end(self, confirmation_id: str, state: ConfirmationState) -> None:
        """Set the state of a confirmation whose call has a result."""
        with self.transaction() as connection:
            table = self.tables
            runs = sa.and_(table.c.id == confirmation_id, table.c.state == "running")
            if connection.execute(sa.update(table).where(runs).values(state=state)).rowcount:
                self._keep_as_shown(connection, confirmation_id)

    def pending(
        self,
        now: float,
        tool: str | None = None,
        *,
        user: str | None = None,
        after: tuple[float, str] | None = None,
    ) -> Iterator[Confirmation]:
        """Yield the undecided confirmations, oldest first; no more are read than are taken.

        Args:
            now: This machine's time.
            tool: Only of this tool.
            user: Only of this user.
            after: The `created` and the id after which to begin.
        """
        while True:
            with self.transaction() as connection:
                chosen = self._undecided(now, tool, user, after)
                rows = connection.execute(chosen.limit(SOME)).all()
            for row in rows:
                one = _read(row)
                if one.state in UNDECIDED and user in {None, one.call.caller.user}:
                    yield one
            if len(rows) < SOME:
                return
            after = rows[-1].created, rows[-1].id

    def _undecided(
        self, now: float, tool: str | None, user: str | None, after: tuple[float, str] | None
    ) -> sa.Select[Any]:
        table, moment = self.tables, self.now(now)
        still = sa.and_(table.c.state == "pending", table.c.expires > moment)
        chosen = sa.select(table, moment.label("now")).order_by(table.c.created, table.c.id)
        chosen = chosen.where(_OPEN, sa.or_(still, _is_interrupted(table, moment)))
        if tool is not None:
            # The JSON of a call begins with its tool.
            begins = f"[{json.dumps(tool)}, "
            chosen = chosen.where(table.c.call.startswith(begins, autoescape=True))
        if user is not None:
            # The user is somewhere in it: whose call it is, is read from those that are left.
            chosen = chosen.where(table.c.call.contains(json.dumps(user), autoescape=True))
        return chosen if after is None else chosen.where(_after(table, *after))

    def _set(self, confirmation_id: str, now: float, values: dict[str, Any]) -> bool:
        """Change an undecided confirmation; return whether it was undecided."""
        with self.transaction() as connection:
            table = self.tables
            still = _is_interrupted(table, self.now(now)) | (table.c.state == "pending")
            change = sa.update(table).where(table.c.id == confirmation_id, still).values(values)
            is_set = connection.execute(change).rowcount == 1
            if is_set and values["state"] != "running":
                self._keep_as_shown(connection, confirmation_id)
            return is_set

    def _clean(self, connection: sa.Connection, now: Any) -> None:
        """Treat some of the calls that expired as decided, so that their Sensitive values go."""
        table = self.tables
        # By the time of creation, as the index of undecided calls is sorted.
        over = sa.and_(_OPEN, table.c.state == "pending", table.c.created < now - EXPIRES_S)
        oldest = sa.select(table.c.id).where(over).order_by(table.c.created, table.c.id)
        for one in connection.execute(oldest.limit(_CLEANED)).scalars().all():
            still = sa.and_(table.c.id == one, table.c.state == "pending")
            if connection.execute(sa.update(table).where(still).values(state="expired")).rowcount:
                with suppress(ValueError, TypeError):  # A damaged row stops no new confirmation.
                    self._keep_as_shown(connection, one)

    def _keep_as_shown(self, connection: sa.Connection, confirmation_id: str) -> None:
        """Remove Sensitive values and the user's words from a decided call."""
        table = self.tables
        this = table.c.id == confirmation_id
        row = connection.execute(sa.select(table.c.call, table.c.shown).where(this)).one()
        call = Call(*json.loads(row.call))
        caller = Caller(*call.caller)._replace(message="")
        kept = call._replace(arguments=json.loads(row.shown), caller=caller, asked=None)
        connection.execute(sa.update(table).where(this).values(call=json.dumps(kept)))


def _texts(confirmation: Confirmation) -> dict[str, str]:
    return {"call": json.dumps(confirmation.call), "shown": json.dumps(confirmation.shown)}


def _after(table: sa.Table, created: float, confirmation_id: str) -> sa.ColumnElement[bool]:
    later = sa.or_(table.c.created > created, table.c.id > confirmation_id)
    return sa.and_(table.c.created >= created, later)


def _is_interrupted(table: sa.Table, now: sa.ColumnElement[float]) -> sa.ColumnElement[bool]:
    return sa.and_(table.c.state == "running", table.c.expires <= now)


def _read(row: Any) -> Confirmation:
    values = row._asdict()
    now, state = values.pop("now"), values["state"]
    if state == "running" and values["expires"] <= now:
        values["state"] = "interrupted"
    elif state == "pending" and not values["created"] - EXPIRES_S <= now < values["expires"]:
        # It expired, or the clock went far back since: then nobody knows how long it waited.
        values["state"] = "expired"
    call = Call(*json.loads(values["call"]))
    budget = None if call.budget is None else Budget(*call.budget)
    asked = None if call.asked is None else Asked(*call.asked)
    return Confirmation(**values | {
        "call": call._replace(caller=Caller(*call.caller), budget=budget, asked=asked),
        "shown": json.loads(values["shown"]),
        "notes": tuple(json.loads(values["notes"])),
    })  # fmt: skip
