"""The records of runs: orders, steps, questions, answers, results and ticks of schedules.

Each method is one transaction. A run belongs to the process that claimed it, its owner. Only the
owner can record its steps, so a process that was taken for dead can't act any more.
"""

import datetime as dt
import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from toolmd._store.database import Database, Row, Transaction
from toolmd._types.call import Caller
from toolmd._types.result import Failure, Outcome, Result, SkillResult
from toolmd._types.run import (
    UNDOING,
    Answer,
    JournalEntry,
    Order,
    Question,
    RunQuery,
    RunState,
    RunView,
)
from toolmd._types.skill import Plan
from toolmd._types.verdict import DENIALS
from toolmd.errors import NotFoundError

MAX_TRIES = 25
"""How many processes may end in a row without a further step of a run before it is stuck."""
SPARE_S = 24 * 3600.0
"""How long an unused plan is kept, since a new run may be about to use it."""
RECENT = dt.timedelta(seconds=10)
"""What counts as recent: a transaction may take long."""
SOME = 500
"""How many runs one statement names or returns."""
ALL = 2**31
"""A limit for all rows."""
ALL_RUNS = RunQuery()
PARKED = ("waiting", "scheduled")
"""The states of a run that waits, for its start too."""
_RUN = "id, skill, inputs, began, state, owner, tried, cancelled, result, ended"
_QUESTION = "q.question, q.opened, q.expires, q.answer, q.answered"


class StoredRun(NamedTuple):
    """A stored run, without its plan."""

    id: str
    skill: str
    inputs: dict[str, Any]
    began: dt.datetime
    state: str
    """`ready` (nobody executes it), `running`, `waiting`, `scheduled`, `stuck` or `ended`."""
    owner: str | None
    """The process that executes it."""
    tried: int
    """How many processes in a row ended without a further step of it."""
    cancelled: bool
    result: SkillResult | None
    ended: dt.datetime | None

    @property
    def shown_state(self) -> RunState:
        """The state as others see it."""
        if self.result is not None:
            return ended(self.result)
        state: Any = "running" if self.state == "ready" else self.state
        return state  # type: ignore[no-any-return]


class StoredQuestion(NamedTuple):
    """A stored question."""

    question: Question
    opened: float
    """When it was asked, in seconds since the epoch."""
    expires: float | None
    """When it expires, in seconds since the epoch; None for never."""
    answer: Answer | None
    answered: dt.datetime | None

    def is_over(self, now: dt.datetime) -> bool:
        """Return whether its time is up."""
        return self.expires is not None and self.expires <= now.timestamp()


class NoQuestionError(NotFoundError):
    """An answer does not count; the code tells why."""

    def __init__(
        self, run_id: str, key: str, why: str = "", code: str = "confirmation_expired"
    ) -> None:
        super().__init__(f"run {run_id} has no open question {key!r}{why and f': {why}'}")
        self.code = code if why else "confirmation_not_found"


class RunStore:
    """The records of all runs of a store; blocking, and safe for threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # The life of a run.

    def add(
        self,
        order: Order,
        began: dt.datetime,
        owner: str | None,
        start: Question | None = None,
        now: float = 0.0,
    ) -> bool:
        """Store a new run; return False for a known one.

        Args:
            order: The order of the run.
            began: The time at which it begins.
            owner: The process that executes it; None for a run that waits for its start.
            start: The question of that wait, asked at `now`, in seconds since the epoch.
            now: The time.
        """
        text = order.plan.model_dump_json()
        digest = hashlib.sha256(text.encode()).hexdigest()
        state = "running" if start is None else "scheduled"
        with self._database.write(f"run {order.id}") as tx:
            if not tx.execute("SELECT 1 FROM plan WHERE hash = ?", digest):
                tx.change(
                    "INSERT INTO plan (hash, plan, kept) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                    digest, text, time.time(),
                )  # fmt: skip
            new = tx.change(
                "INSERT INTO run (id, skill, plan, inputs, caller, confidence, began, state,"
                " owner, tried, cancelled) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)"
                " ON CONFLICT DO NOTHING",
                order.id, order.plan.skill.name, digest, json.dumps(order.inputs),
                _to_json(order.caller), order.confidence, began.isoformat(), state, owner,
            )  # fmt: skip
            if new and start is not None:
                _ask(tx, [start], now)
        return bool(new)

    def claim(self, run_id: str, owner: str) -> bool:
        """Claim a run that nobody executes; return False where another process was first."""
        with self._database.write(f"run {run_id}") as tx:
            return _claim(tx, run_id, owner)

    def may_go_on(self, run_id: str, owner: str) -> bool | None:
        """Return whether the owner may begin another step; None where the run is cancelled."""
        rows = self._read(
            "SELECT owner, cancelled FROM run WHERE id = ? AND result IS NULL", run_id
        )
        if not rows or rows[0][0] != owner:
            return False
        return None if rows[0][1] else True

    def record(self, run_id: str, owner: str, number: int, entry: JournalEntry) -> bool:
        """Record a step; return False where the run is no longer this owner's."""
        with self._database.write(f"run {run_id}") as tx:
            owned = "UPDATE run SET tried = 0 WHERE id = ? AND owner = ? AND result IS NULL"
            if not tx.change(owned, run_id, owner):
                return False
            step = "INSERT INTO step (run, number, key, value, at) VALUES (?, ?, ?, ?, ?)"
            tx.change(step, run_id, number, entry.key, json.dumps(entry.value), entry.at)
            return True

    def park(
        self, run_id: str, owner: str, questions: Sequence[Question], now: float, *, heard: bool
    ) -> None:
        """Let a run wait for the answers to these questions.

        The run is ready at once where an answer or a cancellation came meanwhile. `heard` means
        that the attempt knew of the cancellation.
        """
        keys = [one.key for one in questions]
        with self._database.write(f"run {run_id}") as tx:
            if not tx.execute("SELECT 1 FROM run WHERE id = ? AND owner = ?", run_id, owner):
                return
            _ask(tx, questions, now)
            answered = tx.execute(
                f"SELECT 1 FROM question WHERE run = ? AND key IN ({_marks(keys)})"  # noqa: S608
                " AND answer IS NOT NULL",
                run_id, *keys,
            )  # fmt: skip
            tx.change(
                "UPDATE run SET owner = NULL, tried = 0, state = CASE"
                " WHEN ? OR (cancelled > 0 AND ?) THEN 'ready' ELSE 'waiting' END WHERE id = ?",
                bool(answered), not heard, run_id,
            )  # fmt: skip

    def settle(
        self, run_id: str, key: str, answer: Answer, now: dt.datetime, owner: str | None = None
    ) -> tuple[bool, bool]:
        """Answer a question; its run goes on.

        Args:
            run_id: The run.
            key: The key of the question.
            answer: The answer.
            now: The time.
            owner: The process that executes the run next; None for any.

        Returns:
            Whether this answer counts: the first one does, before the question expires. And what
            `claim` returns for the owner.
        """
        with self._database.write(f"run {run_id}") as tx:
            first = tx.change(
                "UPDATE question SET answer = ?, answered = ? WHERE run = ? AND key = ?"
                " AND answer IS NULL AND (? OR expires IS NULL OR expires > ?)",
                _to_json(answer), now.isoformat(), run_id, key, answer.late, now.timestamp(),
            )  # fmt: skip
            woken = bool(first) and _wake(tx, run_id, *PARKED)
            return bool(first), woken and owner is not None and _claim(tx, run_id, owner)

    def cancel(self, run_id: str) -> None:
        """Mark a run as cancelled, so that its next attempt undoes its steps."""
        with self._database.write(f"run {run_id}") as tx:
            tx.change("UPDATE run SET cancelled = 1 WHERE id = ? AND result IS NULL", run_id)
            _close_questions(tx, run_id)
            _wake(tx, run_id, *PARKED, "stuck")

    def wake(self, run_id: str) -> None:
        """Let a stuck run be tried again."""
        with self._database.write(f"run {run_id}") as tx:
            _wake(tx, run_id, "stuck")

    def release(self, run_id: str, owner: str) -> None:
        """Let others execute a run that this owner gave up."""
        with self._database.write(f"run {run_id}") as tx:
            tx.change(
                "UPDATE run SET state = 'ready', owner = NULL"
                " WHERE id = ? AND state = 'running' AND owner = ?",
                run_id, owner,
            )  # fmt: skip

    def inherit(self, owner: str) -> None:
        """Let others execute all runs of a process that ended, but those that got stuck."""
        with self._database.write(f"owner {owner}") as tx:
            tx.change(
                "UPDATE run SET owner = NULL, tried = tried + 1,"
                " state = CASE WHEN tried + 1 >= ? THEN 'stuck' ELSE 'ready' END"
                " WHERE result IS NULL AND state = 'running' AND owner = ?",
                MAX_TRIES, owner,
            )  # fmt: skip

    def finish(self, run_id: str, owner: str, result: SkillResult, now: dt.datetime) -> bool:
        """Store the result of a run; return False where the run is no longer this owner's."""
        with self._database.write(f"run {run_id}") as tx:
            ended_here = tx.change(
                "UPDATE run SET result = ?, ended = ?, state = 'ended', owner = NULL"
                " WHERE id = ? AND owner = ? AND result IS NULL",
                _to_json(result), now.isoformat(), run_id, owner,
            )  # fmt: skip
            if ended_here:
                _close_questions(tx, run_id)
        return bool(ended_here)

    def forget(self, before: dt.datetime, most: int = ALL) -> None:
        """Delete the runs that ended before a time or beyond the latest `most`."""
        with self._database.write("forget") as tx:
            old = tx.execute("DELETE FROM run WHERE ended < ? RETURNING id", before.isoformat())
            old += tx.execute(
                "DELETE FROM run WHERE id IN (SELECT id FROM run WHERE ended IS NOT NULL"
                " ORDER BY ended DESC LIMIT ? OFFSET ?) RETURNING id", ALL, most,
            ) if most < ALL else []  # fmt: skip
            tx.insert("DELETE FROM step WHERE run = ?", old)
            tx.insert("DELETE FROM question WHERE run = ?", old)
            tx.change(
                "DELETE FROM plan WHERE kept < ? AND hash NOT IN (SELECT plan FROM run)",
                time.time() - SPARE_S,
            )

    # Reading.

    def run(self, run_id: str) -> StoredRun:
        """Return a run; raises NotFoundError."""
        for run in self._runs("id = ?", run_id):
            return run
        raise unknown(run_id)

    def page(self, query: RunQuery) -> tuple[StoredRun, ...]:
        """Return the runs that match a query, the newest first."""
        # A Caller is stored with its user first.
        prefix = "" if query.user is None else json.dumps({"user": query.user})[:-1] + ","
        began, run_id = query.after or ("", "")
        return self._runs(
            "substr(caller, 1, ?) = ? AND (? OR (began, id) < (?, ?))"
            " ORDER BY began DESC, id DESC LIMIT ?",
            len(prefix), prefix, query.after is None, began, run_id,
            ALL if query.limit is None else query.limit,
        )  # fmt: skip

    def views(self, query: RunQuery = ALL_RUNS) -> tuple[RunView, ...]:
        """Return the runs that match a query as others see them, without their steps."""
        return tuple(
            _view(run, self.asked(run.id) if run.state in PARKED else ())
            for run in self.page(query)
        )

    def view(self, run_id: str) -> RunView:
        """Return a run with its steps as others see it; raises NotFoundError."""
        return _view(self.run(run_id), self.asked(run_id), self.steps(run_id))

    def ready(self, limit: int) -> tuple[StoredRun, ...]:
        """Return runs that nobody executes, the oldest first."""
        going = "result IS NULL AND state = 'ready' ORDER BY began LIMIT ?"
        return self._runs(going, limit)

    def owned(self, owner: str) -> set[str]:
        """Return the ids of the runs that a process executes."""
        going = "result IS NULL AND state = 'running' AND owner = ?"
        return {row[0] for row in self._read(f"SELECT id FROM run WHERE {going}", owner)}  # noqa: S608

    def waiting_plans(self) -> tuple[tuple[Plan, int], ...]:
        """Return the plans of runs that wait, each with the number of its runs."""
        rows = self._read(
            "SELECT plan.plan, count(*) FROM run JOIN plan ON plan.hash = run.plan WHERE"
            " run.result IS NULL AND run.state IN ('waiting', 'scheduled') GROUP BY plan.plan"
        )
        return tuple((_plan(text), int(number)) for text, number in rows)

    def orders(self, ids: Iterable[str]) -> tuple[Order, ...]:
        """Return the orders of these runs with their plans, without missing ones."""
        wanted, rows = list(ids), list[Row]()
        with self._database.read() as tx:
            for first in range(0, len(wanted), SOME):
                some = wanted[first : first + SOME]
                named = f"run.id IN ({_marks(some)})"
                rows += tx.execute(
                    "SELECT run.id, plan.plan, run.inputs, run.caller, run.confidence"  # noqa: S608
                    f" FROM run JOIN plan ON plan.hash = run.plan WHERE {named}",
                    *some,
                )
        return tuple(
            Order(run_id, _plan(plan), json.loads(inputs), _caller(caller), confidence)
            for run_id, plan, inputs, caller, confidence in rows
        )

    def steps(self, run_id: str) -> tuple[JournalEntry, ...]:
        """Return the recorded steps in order."""
        rows = self._read(
            "SELECT key, value, at FROM step WHERE run = ? ORDER BY number, at", run_id
        )
        return tuple(JournalEntry(key, json.loads(value), at) for key, value, at in rows)

    def asked(self, run_id: str) -> tuple[StoredQuestion, ...]:
        """Return all questions of a run, answered or not, in order."""
        return self._questions("q.run = ? ORDER BY q.opened, q.key", run_id)

    def open(
        self,
        run_id: str | None = None,
        after: tuple[float, str] | None = None,
        limit: int | None = None,
    ) -> tuple[StoredQuestion, ...]:
        """Return the open questions of all unfinished runs, or of one, the oldest first.

        `after` is the time and the id of the question after which to begin.
        """
        opened, question_id = after or (-1.0, "")
        return self._questions(
            "q.answer IS NULL AND (? OR q.run = ?) AND EXISTS (SELECT 1 FROM run r WHERE"
            " r.id = q.run AND r.result IS NULL AND (r.cancelled = 0 OR q.key LIKE ?))"
            " AND q.opened >= ? AND (q.opened > ? OR q.run || '/' || q.key > ?)"
            " ORDER BY q.opened, q.run || '/' || q.key LIMIT ?",
            run_id is None, run_id or "", f"%{UNDOING}%", opened, opened, question_id,
            ALL if limit is None else limit,
        )  # fmt: skip

    def closed(self, run: StoredRun, key: str) -> NoQuestionError:
        """Build the error for an answer that does not count, with the reason."""
        one = next((one for one in self.asked(run.id) if one.question.key == key), None)
        if one is None:
            return NoQuestionError(run.id, key)
        if one.answer is not None and not one.answer.late:
            who = f" by {one.answer.by}" if one.answer.by else ""
            word = "yes" if one.answer.approved else "no"
            why = f"it was answered before{who}, with {word}"
            return NoQuestionError(run.id, key, why, "confirmation_used")
        if run.result is None and not one.question.asks:
            until = one.question.until
            return NoQuestionError(run.id, key, f"it waits until {until}, not for an answer")
        if run.result is None and one.expires is not None:
            ends = dt.datetime.fromtimestamp(one.expires, dt.UTC)
            return NoQuestionError(run.id, key, f"time was up at {ends:%Y-%m-%d %H:%M:%S} UTC")
        return NoQuestionError(run.id, key, "the run has ended")

    def expired(self, now: float) -> tuple[tuple[str, str], ...]:
        """Return the runs and keys of the questions whose time is up."""
        late = "SELECT run, key FROM question WHERE answer IS NULL AND expires <= ?"
        return tuple((run_id, key) for run_id, key in self._read(late, now))

    def next_expiry(self) -> float | None:
        """Return when the next open question expires, in seconds since the epoch."""
        rows = self._read(
            "SELECT min(expires) FROM question WHERE answer IS NULL AND expires IS NOT NULL"
        )
        return None if rows[0][0] is None else float(rows[0][0])

    def changed(
        self, now: dt.datetime, ids: Iterable[str]
    ) -> tuple[tuple[str, str, RunState, str | None], ...]:
        """Return the runs that execute, and those that recently began, asked or ended, or of `ids`.

        Each comes with its skill, its state and its user.
        """
        named, since = list(ids), now - RECENT
        rows = self._read(
            f"SELECT {_RUN}, caller FROM run WHERE (result IS NULL AND state IN"  # noqa: S608
            " ('ready', 'running')) OR began >= ? OR ended >= ? OR id IN"
            " (SELECT run FROM question WHERE answer IS NULL AND opened >= ?)"
            + (f" OR id IN ({_marks(named)})" if named else "") + " LIMIT ?",
            since.isoformat(), since.isoformat(), since.timestamp(), *named, SOME,
        )  # fmt: skip
        runs = [(_run(row[:-1]), row[-1]) for row in rows]
        return tuple((r.id, r.skill, r.shown_state, json.loads(who)["user"]) for r, who in runs)

    # The ticks of schedules.

    def last_tick(self, skill: str, schedule: str) -> dt.datetime | None:
        """Return the last tick; None for a schedule that is new, or another than before."""
        known = "SELECT tick FROM schedule WHERE skill = ? AND schedule = ?"
        rows = self._read(known, skill, schedule)
        return dt.datetime.fromtimestamp(rows[0][0], dt.UTC) if rows else None

    def keep_tick(self, skill: str, schedule: str, tick: dt.datetime) -> None:
        """Store a tick; a later one of the same schedule stays."""
        with self._database.write() as tx:
            tx.change(
                "INSERT INTO schedule (skill, schedule, tick) VALUES (?, ?, ?) ON CONFLICT (skill)"
                " DO UPDATE SET schedule = excluded.schedule, tick = excluded.tick WHERE"
                " schedule.schedule <> excluded.schedule OR schedule.tick < excluded.tick",
                skill, schedule, tick.timestamp(),
            )  # fmt: skip

    def _read(self, statement: str, *values: Any) -> list[Row]:
        with self._database.read() as tx:
            return tx.execute(statement, *values)

    def _runs(self, where: str, *values: Any) -> tuple[StoredRun, ...]:
        rows = self._read(f"SELECT {_RUN} FROM run WHERE {where}", *values)  # noqa: S608
        return tuple(_run(row) for row in rows)

    def _questions(self, where: str, *values: Any) -> tuple[StoredQuestion, ...]:
        rows = self._read(f"SELECT {_QUESTION} FROM question q WHERE {where}", *values)  # noqa: S608
        return tuple(_question(row) for row in rows)


def _ask(tx: Transaction, questions: Sequence[Question], now: float) -> None:
    """Store questions that are asked now; known ones stay as they are."""
    at = dt.datetime.fromtimestamp(now, dt.UTC)
    rows = [(one, one.ends(at)) for one in questions]
    tx.insert(
        "INSERT INTO question (run, key, question, opened, expires) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        [
            (one.run_id, one.key, _to_json(one), now, None if ends is None else ends.timestamp())
            for one, ends in rows
        ],
    )


def _claim(tx: Transaction, run_id: str, owner: str) -> bool:
    claimed = "UPDATE run SET state = 'running', owner = ? WHERE id = ? AND state = 'ready'"
    return bool(tx.change(claimed, owner, run_id))


def _wake(tx: Transaction, run_id: str, *states: str) -> bool:
    """Make a run ready if it is in one of these states; return whether it was."""
    return bool(tx.change(
        "UPDATE run SET state = 'ready', owner = NULL, tried = 0"  # noqa: S608
        f" WHERE id = ? AND result IS NULL AND state IN ({_marks(states)})",
        run_id, *states,
    ))  # fmt: skip


def _close_questions(tx: Transaction, run_id: str) -> None:
    """Let the open questions of a run expire no more."""
    tx.change("UPDATE question SET expires = NULL WHERE run = ? AND answer IS NULL", run_id)


@lru_cache(maxsize=64)
def _caller(text: str) -> Caller:
    caller = Caller(**json.loads(text))
    return caller._replace(earlier=tuple(caller.earlier), roles=tuple(caller.roles))


@lru_cache(maxsize=16)
def _plan(text: str) -> Plan:
    return Plan.model_validate_json(text)


def _to_json(value: Question | Answer | Caller | SkillResult) -> str:
    """Return a question, an answer, a caller or a result as JSON text."""
    if isinstance(value, SkillResult):
        return json.dumps({**value.to_dict(), "code": value.code})
    return json.dumps(value._asdict())


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _run(row: Row) -> StoredRun:
    run_id, skill, inputs, began, state, owner, tried, cancelled, result, ended_at = row
    return StoredRun(
        run_id, skill, json.loads(inputs), dt.datetime.fromisoformat(began), state, owner, tried,
        bool(cancelled), None if result is None else SkillResult(**json.loads(result)),
        None if ended_at is None else dt.datetime.fromisoformat(ended_at),
    )  # fmt: skip


def _question(row: Row) -> StoredQuestion:
    question, opened, expires, answer, answered = row
    return StoredQuestion(
        Question(**json.loads(question)), opened, expires,
        None if answer is None else Answer(**json.loads(answer)),
        None if answered is None else dt.datetime.fromisoformat(answered),
    )  # fmt: skip


def result_of(
    run_id: str, skill: str, ended: SkillResult, took: dt.timedelta = dt.timedelta()
) -> Result:
    """Return the Result of a run that ended; one that never started took no time."""
    ms = max(0.0, took.total_seconds() * 1000)
    result = Result(success=ended.success, tool=skill, outcome="ok", message=ended.message,
                    data=ended.data, attempts=1, duration_ms=ms, run_id=run_id,
                    notes=tuple(ended.notes))  # fmt: skip
    if ended.success:
        return result
    code = ended.code or "skill_failed"
    outcome: Outcome = "unknown" if code == "outcome_unknown" else "failed"
    if code in DENIALS or code == "refused":
        outcome = "denied"
    return result._replace(
        outcome=outcome, data=ended.data or None, error=Failure(code, ended.message)
    )


def ended(result: SkillResult) -> RunState:
    """Return the state of a run with this result."""
    if result.success:
        return "done"
    return "cancelled" if result.code == "cancelled" else "failed"


def unknown(run_id: str) -> NotFoundError:
    """Build the error for an id without a run."""
    return NotFoundError(f"there is no run {run_id!r}; `toolmd runs` lists them")


def _view(
    run: StoredRun, asked: Sequence[StoredQuestion] = (), entries: Iterable[JournalEntry] = ()
) -> RunView:
    """Return a run as others see it; the answers are among its entries."""
    questions = tuple(
        one.question
        for one in asked
        if run.state in PARKED and one.answer is None
        and (not run.cancelled or one.question.undoes)
    )  # fmt: skip
    answers = [
        JournalEntry(one.question.key, one.answer.to_dict(), one.answered.isoformat())
        for one in asked
        if one.answer is not None and one.answered is not None
    ]
    result = None
    if run.result is not None:
        result = result_of(run.id, run.skill, run.result, (run.ended or run.began) - run.began)
    steps = tuple(sorted([*entries, *answers], key=lambda entry: entry.at))
    return RunView(run.id, run.skill, run.shown_state, run.inputs, run.began.isoformat(), steps,
                   questions, result)  # fmt: skip
