"""Store confirmations, so that they survive a restart and any process can decide them once."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolmd._store import StorePart
from toolmd._types.asked import Asked
from toolmd._types.call import Budget, Call, Caller
from toolmd._types.confirmation import EXPIRES_S, UNDECIDED, Confirmation, ConfirmationState

if TYPE_CHECKING:
    from toolmd._store.database import Row, Transaction

SOME = 100
"""How many confirmations are read at once."""
_CLEANED = 10
"""How many expired confirmations a new one cleans: more than come, and few enough to be fast."""
KEPT_S = 30 * 24 * 3600.0
"""For how long an expired confirmation is kept, in seconds: a late decision gets the reason."""


class ConfirmationStore(StorePart):
    """The confirmations of a project.

    `now` is this machine's time in seconds since the epoch; a server uses its own.
    """

    wait_s = 10.0

    def add(self, confirmation: Confirmation) -> None:
        """Store a confirmation; clean those that expired, and delete them in the end."""
        one = confirmation
        assert one.expires is not None
        with self._write() as tx:
            now = tx.now(one.created)
            tx.execute(
                "INSERT INTO confirmation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                one.id, one.kind, json.dumps(one.call), one.bound_to, one.prompt, one.sensitivity,
                now, now + (one.expires - one.created), one.state, json.dumps(one.shown),
                json.dumps(one.notes),
            )  # fmt: skip
            tx.execute("DELETE FROM confirmation WHERE expires < ?", now - KEPT_S)
            _clean(tx, now)

    def get(self, confirmation_id: str, now: float) -> Confirmation | None:
        """Return a confirmation by its id, in its state by now."""
        with self._read() as tx:
            rows = tx.execute("SELECT * FROM confirmation WHERE id = ?", confirmation_id)
            return _read(rows[0], tx.now(now)) if rows else None

    def claim(self, confirmation_id: str, state: ConfirmationState, now: float) -> bool:
        """Set the state of an undecided confirmation; True for exactly one of those who try.

        After a decision, only what the person was shown of the call stays.
        """
        with self._write() as tx:
            claimed = tx.change(
                "UPDATE confirmation SET state = ? WHERE id = ?"
                " AND (state = 'pending' OR (state = 'running' AND expires <= ?))",
                state, confirmation_id, tx.now(now),
            )  # fmt: skip
            if claimed:
                _keep_as_shown(tx, confirmation_id)
        return claimed == 1

    def begin(self, confirmation: Confirmation, now: float, seconds: float) -> bool:
        """Claim a confirmation whose call runs now, for so many seconds at most.

        It stores the call and its prompt as they were approved.
        """
        one = confirmation
        with self._write() as tx:
            moment = tx.now(now)
            claimed = tx.change(
                "UPDATE confirmation SET state = 'running', expires = ?, bound_to = ?, prompt = ?,"
                " call = ?, shown = ? WHERE id = ?"
                " AND (state = 'pending' OR (state = 'running' AND expires <= ?))",
                moment + seconds, one.bound_to, one.prompt, json.dumps(one.call),
                json.dumps(one.shown), one.id, moment,
            )  # fmt: skip
        return claimed == 1

    def end(self, confirmation_id: str, state: ConfirmationState) -> None:
        """Set the state of a confirmation whose call has a result."""
        with self._write() as tx:
            if tx.change(
                "UPDATE confirmation SET state = ? WHERE id = ? AND state = 'running'",
                state, confirmation_id,
            ):  # fmt: skip
                _keep_as_shown(tx, confirmation_id)

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
            with self._read() as tx:
                moment = tx.now(now)
                rows = _undecided(tx, moment, tool, user, after)
            for row in rows:
                one = _read(row, moment)
                if one.state in UNDECIDED and user in {None, one.call.caller.user}:
                    yield one
                after = one.created, one.id
            if len(rows) < SOME:
                return


def _undecided(
    tx: "Transaction",
    moment: float,
    tool: str | None,
    user: str | None,
    after: tuple[float, str] | None,
) -> "list[Row]":
    # The first condition is that of the index of undecided calls.
    where = (
        "state IN ('pending', 'running')"
        " AND ((state = 'pending' AND expires > ?) OR (state = 'running' AND expires <= ?))"
    )
    values: list[Any] = [moment, moment]
    if tool is not None:
        # The JSON of a call begins with its tool.
        begins = f"[{json.dumps(tool)}, "
        where += " AND substr(call, 1, ?) = ?"
        values += [len(begins), begins]
    if user is not None:
        # The user is somewhere in it: whose call it is, is read from those that are left.
        where += " AND call LIKE ? ESCAPE '!'"
        text = json.dumps(user)
        for special in "!%_":
            text = text.replace(special, f"!{special}")
        values.append(f"%{text}%")
    if after is not None:
        where += " AND (created, id) > (?, ?)"
        values += after
    statement = f"SELECT * FROM confirmation WHERE {where} ORDER BY created, id LIMIT ?"  # noqa: S608 - fixed texts
    return tx.execute(statement, *values, SOME)


def _clean(tx: "Transaction", now: float) -> None:
    """Treat some of the calls that expired as decided, so that their Sensitive values go."""
    # By the time of creation, as the index of undecided calls is sorted.
    expired = tx.execute(
        "SELECT id FROM confirmation WHERE state IN ('pending', 'running') AND state = 'pending'"
        " AND created < ? ORDER BY created, id LIMIT ?",
        now - EXPIRES_S, _CLEANED,
    )  # fmt: skip
    for (one,) in expired:
        if tx.change(
            "UPDATE confirmation SET state = 'expired' WHERE id = ? AND state = 'pending'", one
        ):
            with suppress(ValueError, TypeError):  # A damaged row stops no new confirmation.
                _keep_as_shown(tx, one)


def _keep_as_shown(tx: "Transaction", confirmation_id: str) -> None:
    """Remove Sensitive values and the user's words from a decided call."""
    ((text, shown),) = tx.execute(
        "SELECT call, shown FROM confirmation WHERE id = ?", confirmation_id
    )
    call = Call(*json.loads(text))
    caller = Caller(*call.caller)._replace(message="")
    kept = call._replace(arguments=json.loads(shown), caller=caller, asked=None)
    tx.execute("UPDATE confirmation SET call = ? WHERE id = ?", json.dumps(kept), confirmation_id)


def _read(row: "Row", now: float) -> Confirmation:
    one = Confirmation(*row)
    assert one.expires is not None
    state = one.state
    if state == "running" and one.expires <= now:
        state = "interrupted"
    elif state == "pending" and not one.created - EXPIRES_S <= now < one.expires:
        # It expired, or the clock went far back since: then nobody knows how long it waited.
        state = "expired"
    _, _, text, *_, shown, notes = row
    call = Call(*json.loads(text))
    budget = None if call.budget is None else Budget(*call.budget)
    asked = None if call.asked is None else Asked(*call.asked)
    return one._replace(
        state=state,
        call=call._replace(caller=Caller(*call.caller), budget=budget, asked=asked),
        shown=json.loads(shown),
        notes=tuple(json.loads(notes)),
    )
