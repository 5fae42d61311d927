"""Store confirmations, so that they survive a restart and any process can decide them once."""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolmd._store import StorePart
from toolmd._types.approval import Approved, OpenApproval
from toolmd._types.asked import Asked
from toolmd._types.call import Budget, Call, Caller
from toolmd._types.confirmation import EXPIRES_S, UNDECIDED, Confirmation, ConfirmationState

if TYPE_CHECKING:
    from toolmd._store.database import Row, Transaction

SOME = 100
"""How many confirmations are read at once."""
_CLEANED = 10
"""How many expired confirmations a new one cleans: more than come, and few enough to be fast."""
_OPEN = "(state = 'pending' OR (state = 'running' AND expires <= ?))"
"""A person may decide: the call waits, or its process must have died."""
KEPT_S = 30 * 24 * 3600.0
"""For how long an expired confirmation is kept, in seconds: a late decision gets the reason."""


class ConfirmationStore(StorePart):
    """The confirmations of a project; `now` is this machine's time, and a server uses its own."""

    wait_s = 10.0

    def find_same(self, same: str, now: float) -> Confirmation | None:
        """Return the pending confirmation of an identical call; None where there is none."""
        with self._read() as tx:
            return _find_same(tx, same, tx.now(now))

    def add(self, one: Confirmation, same: str | None = None) -> Confirmation:
        """Store a confirmation, and return it; or return the one of an identical call.

        Those that expired are cleaned, and deleted in the end. `same` is what identical calls have
        in common.
        """
        assert one.expires is not None
        with self._write() as tx:
            now = tx.now(one.created)
            if same is not None and (known := _find_same(tx, same, now)) is not None:
                return known
            tx.execute(
                "INSERT INTO confirmation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                one.id, one.call.tool, one.call.caller.user, one.call.host_name, same, one.state,
                now, now + (one.expires - one.created), _data(one),
            )  # fmt: skip
            tx.execute("DELETE FROM confirmation WHERE expires < ?", now - KEPT_S)
            _clean(tx, now)
        return one

    def get(self, confirmation_id: str, now: float) -> Confirmation | None:
        """Return a confirmation by its id, in its state by now."""
        with self._read() as tx:
            rows = tx.execute("SELECT * FROM confirmation WHERE id = ?", confirmation_id)
            return _read(rows[0], tx.now(now)) if rows else None

    def of_call(self, host_name: str, now: float) -> tuple[Confirmation, ...]:
        """Return the confirmations of a host's call, decided or not, oldest first."""
        wanted = "SELECT * FROM confirmation WHERE host_call = ? ORDER BY created, id"
        with self._read() as tx:
            return tuple(_read(row, tx.now(now)) for row in tx.execute(wanted, host_name))

    def claim(self, confirmation_id: str, state: ConfirmationState, now: float) -> bool:
        """Set the state of an undecided confirmation; True for exactly one of those who try.

        After a decision, only what the person was shown of the call stays.
        """
        with self._write() as tx:
            claimed = tx.execute(
                f"UPDATE confirmation SET state = ? WHERE id = ? AND {_OPEN} RETURNING id",  # noqa: S608
                state, confirmation_id, tx.now(now),
            )  # fmt: skip
            return bool(claimed) and _hide(tx, confirmation_id)

    def begin(self, one: Confirmation, now: float, seconds: float) -> bool:
        """Claim a confirmation whose call runs now, for so many seconds at most.

        It stores the call and its prompt as they were approved.
        """
        with self._write() as tx:
            moment = tx.now(now)
            return tx.change(
                "UPDATE confirmation SET state = 'running', expires = ?, data = ?"  # noqa: S608
                f" WHERE id = ? AND {_OPEN}",
                moment + seconds, _data(one), one.id, moment,
            ) == 1  # fmt: skip

    def advance(
        self, one: Confirmation, before: Confirmation, now: float, *, edited: bool = False
    ) -> bool:
        """Store a pending call after a step of its decision; False where it changed meanwhile.

        An edited call is no longer identical with the one that was made.
        """
        assert one.expires is not None
        with self._write() as tx:
            moment = tx.now(now)
            rows = tx.execute("SELECT * FROM confirmation WHERE id = ?", one.id)
            was = _read(rows[0], moment) if rows else None
            steps = ("state", "kind", "bound_to", "approved", "proposed_by")
            if was is None or any(getattr(was, s) != getattr(before, s) for s in steps):
                return False
            return tx.change(
                "UPDATE confirmation SET data = ?, same = CASE WHEN ? THEN NULL ELSE same END,"
                " expires = ? WHERE id = ?",
                _data(one), edited, moment + (one.expires - now), one.id,
            ) == 1  # fmt: skip

    def end(self, confirmation_id: str, state: ConfirmationState) -> None:
        """Set the state of a confirmation whose call has a result."""
        with self._write() as tx:
            ended = "UPDATE confirmation SET state = ? WHERE id = ? AND state = 'running'"
            if tx.change(ended, state, confirmation_id):
                _hide(tx, confirmation_id)

    def pending(
        self,
        now: float,
        tool: str | None = None,
        *,
        user: str | None = None,
        after: tuple[float, str] | None = None,
    ) -> Iterator[Confirmation]:
        """Yield the undecided confirmations of a tool or a user, or all, oldest first.

        No more are read than are taken. They begin `after` a time of creation and an id.
        """
        while True:
            with self._read() as tx:
                moment = tx.now(now)
                # The first condition is that of the index of undecided calls.
                where = (
                    "state IN ('pending', 'running') AND"
                    " ((state = 'pending' AND expires > ?) OR (state = 'running' AND expires <= ?))"
                )
                values: list[Any] = [moment, moment]
                for column, wanted in (("tool", tool), ("caller", user)):
                    if wanted is not None:
                        where += f" AND {column} = ?"
                        values.append(wanted)
                if after is not None:
                    where += " AND (created, id) > (?, ?)"
                    values += after
                statement = f"SELECT * FROM confirmation WHERE {where} ORDER BY created, id LIMIT ?"  # noqa: S608 - fixed texts
                rows = tx.execute(statement, *values, SOME)
            for row in rows:
                one = _read(row, moment)
                if one.state in UNDECIDED:
                    yield one
                after = one.created, one.id
            if len(rows) < SOME:
                return


def _find_same(tx: "Transaction", same: str, now: float) -> Confirmation | None:
    rows = tx.execute(
        "SELECT * FROM confirmation WHERE same = ? AND state = 'pending'"
        " AND expires > ? ORDER BY created", same, now,
    )  # fmt: skip
    found = (_read(row, now) for row in rows)
    return next((one for one in found if one.state == "pending"), None)


def _clean(tx: "Transaction", now: float) -> None:
    """Treat some of the calls that expired as decided, so that their Sensitive values go."""
    # By the time of creation, as the index of undecided calls is sorted.
    expired = tx.execute(
        "UPDATE confirmation SET state = 'expired' WHERE state = 'pending' AND id IN ("
        "SELECT id FROM confirmation WHERE state IN ('pending', 'running') AND state = 'pending'"
        " AND expires < ? ORDER BY created, id LIMIT ?) RETURNING id",
        now, _CLEANED,
    )  # fmt: skip
    for (one,) in expired:
        with suppress(ValueError, TypeError):  # A damaged row stops no new confirmation.
            _hide(tx, one)


def _hide(tx: "Transaction", confirmation_id: str) -> bool:
    """Remove Sensitive values and the user's words from a decided call; return True."""
    ((data,),) = tx.execute("SELECT data FROM confirmation WHERE id = ?", confirmation_id)
    one = _confirmation(data)
    caller = one.call.caller._replace(message="", earlier=())
    call = one.call._replace(arguments=one.shown, caller=caller, asked=None)
    prompt = one.prompt.replace(one.words, "") if one.words else one.prompt
    hidden = one._replace(call=call, prompt=prompt, words="", plain="")
    stored = "UPDATE confirmation SET data = ? WHERE id = ?"
    return tx.change(stored, json.dumps(hidden), confirmation_id) == 1


def _data(one: Confirmation) -> str:
    # What other tools answered is read again, and may be nobody's to keep.
    return json.dumps(one._replace(call=one.call._replace(given={}, counts=())))


def _read(row: "Row", now: float) -> Confirmation:
    *_, state, created, expires, data = row
    if state == "running" and expires <= now:
        state = "interrupted"
    elif state == "pending" and not created - EXPIRES_S <= now < expires:
        # It expired, or the clock went far back since: then nobody knows how long it waited.
        state = "expired"
    return _confirmation(data)._replace(state=state, created=created, expires=expires)


def _confirmation(data: str) -> Confirmation:
    one = Confirmation(*json.loads(data))
    call = Call(*one.call)
    budget = None if call.budget is None else Budget(*call.budget)
    asked = None if call.asked is None else Asked(*call.asked)
    caller = Caller(*call.caller)
    caller = caller._replace(earlier=tuple(caller.earlier), roles=tuple(caller.roles))
    call = call._replace(caller=caller, budget=budget, asked=asked, counts=())
    approvals = tuple(map(OpenApproval.of, one.approvals))
    approved = tuple(
        Approved(user, tuple(roles), via, at, tuple(numbers))
        for user, roles, via, at, numbers in one.approved
    )
    return one._replace(
        call=call, notes=tuple(one.notes), replaces=tuple(one.replaces), approvals=approvals,
        approved=approved, proposed_by=tuple(one.proposed_by),
    )  # fmt: skip
