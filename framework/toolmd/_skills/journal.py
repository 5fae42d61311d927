"""What a run needs of its engine: record an effect once, ask a person, read the clock."""

import asyncio
import datetime as dt
import itertools
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol, TypeVar

from toolmd._skills.store import RunStore, StoredQuestion
from toolmd._store.database import Database
from toolmd._types.call import Call
from toolmd._types.result import Result
from toolmd._types.run import HAPPENED, Answer, Clock, JournalEntry, Order, Question, RunEvent
from toolmd.errors import NotLoadedError, ToolmdError

T = TypeVar("T")
Effect = Callable[[], Awaitable[Any]]
WAIT_S, LONGEST_WAIT_S = 0.5, 15.0
"""The first and the longest pause before a call that never started is sent again, in seconds."""
MOST_WAITS = 24
"""How often it is sent again: for about five minutes."""
CLOSED = "the workspace is closed; its runs go on at the next start"
_NONE = dt.timedelta()


class UncertainOutcome(NamedTuple):
    """The question for a person where a call may or may not have taken effect."""

    question: Question
    happened: Callable[[str | None], Any]
    """Returns the JSON value that is recorded when the person confirms that it took effect, from
    the JSON text of what it returned, if the person states it."""


class Journal:
    """The record of one run; each engine and the replay say how a step gets into it.

    A resumed run is interpreted from its beginning; recorded effects are not repeated. A journal
    needs only keys and JSON values, so any store can keep it.
    """

    def __init__(
        self,
        began: dt.datetime,
        entries: Iterable[JournalEntry],
        listener: Callable[[RunEvent], None],
    ) -> None:
        self.entries = {entry.key: entry for entry in entries}
        """What is recorded, by its keys."""
        self.stopped = False
        """Whether a person stopped the run, which then only undoes."""
        self.listener: Callable[[RunEvent], None] = listener
        """Receives the events of the run."""
        self._now = began

    def now(self) -> dt.datetime:
        """Return the time of the last recorded effect: the same each time the run resumes."""
        return self._now

    def has(self, key: str) -> bool:
        """Return whether the effect is recorded."""
        return key in self.entries

    def has_begun(self, place: str) -> bool:
        """Return whether anything is recorded below a place, such as an item of a loop."""
        return any(key.startswith(f"{place}:") for key in self.entries)

    async def perform(
        self,
        key: str,
        effect: Effect,
        *,
        undoing: bool = False,
        uncertain: UncertainOutcome | None = None,
    ) -> Any:
        """Return the recorded value of `key`, or run the effect and record its JSON value.

        With `uncertain` the effect runs at most once: if a process died during it, a person is
        asked for the outcome.

        Raises CancelledRunError in a cancelled run, except for recorded and undoing effects.
        """
        if (entry := self.entries.get(key)) is None:
            if not undoing:
                await self.go_on()
            entry = await self.run(key, effect, uncertain)
        self.pass_time(dt.datetime.fromisoformat(entry.at))
        return entry.value

    def pass_time(self, until: dt.datetime) -> None:
        """Let the run's time pass; it never goes back."""
        self._now = max(self._now, until)

    async def run(
        self, key: str, effect: Effect, uncertain: UncertainOutcome | None
    ) -> JournalEntry:
        """Run an effect and record its value; raises ParkedError where a person is asked."""
        raise NotImplementedError

    async def answer(self, question: Question) -> Answer:
        """Return the recorded answer, or raise ParkedError.

        Raises CancelledRunError in a cancelled run, except for a question that undoes.
        """
        raise NotImplementedError

    async def go_on(self) -> None:
        """Raise CancelledRunError in a cancelled or stopped run."""
        if self.stopped:
            raise CancelledRunError

    async def wait(self, key: str, tried: int) -> bool:
        """Wait before a call that never started is sent again; False where it is not.

        `tried` is how often it was sent again before.
        """
        raise NotImplementedError

    def tell(self, event: RunEvent) -> None:
        """Report an event to the listener."""
        self.listener(event)


async def load(journal: Journal, key: str, work: Callable[[], Awaitable[T]]) -> T:
    """Do work that imports Python; where that comes late, do it again if the run may wait."""
    for tried in itertools.count():
        try:
            return await work()
        except NotLoadedError:
            if not await journal.wait(key, tried):
                raise
    raise AssertionError("counting does not end")


class ParkedError(Exception):
    """The run needs an answer to one of these questions; not a failure."""

    def __init__(self, *questions: Question) -> None:
        super().__init__(", ".join(question.key for question in questions))
        self.questions = tuple(sorted(questions, key=lambda one: not one.asks))
        """The questions, those for a person first."""


class CancelledRunError(Exception):
    """The run was cancelled: it stops here and undoes its steps."""


Through = Callable[[str, Mapping[str, Any]], Awaitable[Result]]


class Executor(Protocol):
    """The effects of a run on the outside: calls through the dispatcher, and Python."""

    async def call(self, call: Call) -> Result:
        """Send a call through the dispatcher."""

    async def confirm(self, held: str, call: Call, by: str | None = None) -> Result:
        """Approve a confirmation by its id, with the arguments of `call`, and run the call.

        `by` is the person who agreed, where their name is known.
        """

    async def reject(self, held: str, call: Call, by: str | None = None) -> None:
        """Reject a confirmation by its id, so that its call can't run later.

        `by` is the person who said no, where their name is known.
        """

    async def python(self, call: Call, through: Through) -> Any:
        """Run the implementation of a skill; its own calls go `through`.

        Raises ToolError with the implementation's own message.
        """


def utc_now() -> dt.datetime:
    """Return the time in UTC."""
    return dt.datetime.now(dt.UTC)


class Process:
    """This process as the owner of the runs that it executes, with its access to their records."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._workers = database.workers()
        self._threads: ThreadPoolExecutor | None = None
        self._thread: threading.Thread | None = None
        """The thread that looks for work, once it has started."""
        self._is_local = not database.spans_machines
        self._is_open = True
        self.store = RunStore(database)
        """The records."""
        self.keeps = self._workers is not None
        """Whether the runs outlive this process."""
        self.own = "memory" if self._workers is None else self._workers.own
        """The name of this process, never reused."""
        self.clock: Clock = lambda: clock() + (self._workers.ahead if self._workers else _NONE)
        """The store's time."""

    def hold(self) -> None:
        """Begin no more steps in this process."""
        self._is_open = False

    def may_go_on(self) -> bool:
        """Return whether a new step may begin: others may have taken over a frozen process."""
        return self._is_open and (self._workers is None or self._workers.lives())

    async def do(self, work: Callable[[], T]) -> T:
        """Do work on the store, in another thread where it may wait for a disk or a server.

        The thread that looks for work waits for the disk itself: its loop is no server's.
        """
        is_own = threading.current_thread() is self._thread and self._is_local
        if is_own or not self.keeps:
            return work()
        if self._threads is None:
            # One writes to a file at a time, and one reads meanwhile.
            most = 2 if self._is_local else None
            self._threads = ThreadPoolExecutor(most, thread_name_prefix="toolmd-store")
        try:
            doing = asyncio.get_running_loop().run_in_executor(self._threads, work)
        except RuntimeError as error:
            raise ToolmdError(CLOSED) from error
        return await doing

    async def look(self, work: Callable[[], T]) -> T:
        """Do work on the store that only reads."""
        return work() if self._is_local else await self.do(work)

    def progress(self, run_id: str) -> None:
        """Note that an attempt recorded a step."""
        raise NotImplementedError


class LostRunError(BaseException):
    """This process may not continue the run: it ends, or another process has taken over.

    Not an Exception, so that a skill's Python does not treat it as the run's own failure.
    """


class Record(NamedTuple):
    """What is stored of a run when an attempt begins."""

    order: Order
    entries: tuple[JournalEntry, ...]
    asked: tuple[StoredQuestion, ...]


class RunJournal(Journal):
    """The record of a run, in which the steps of earlier attempts count as done."""

    def __init__(
        self,
        process: Process,
        run_id: str,
        began: dt.datetime,
        record: Record,
        tell: Callable[[RunEvent], None],
    ) -> None:
        """Begin an attempt."""
        super().__init__(began, record.entries, tell)
        self._process = process
        self._run_id = run_id
        self._asked = {one.question.key: one for one in record.asked}
        self.lost: BaseException | None = None
        """Why this process can't continue the run."""
        self.heard = False
        """Whether the run knows that it is cancelled."""

    async def run(
        self, key: str, effect: Effect, uncertain: UncertainOutcome | None
    ) -> JournalEntry:
        """Run an effect and record its value; ask a person where an earlier run of it was cut."""
        if self._process.keeps and uncertain is not None:
            answer = await self._happened(key, uncertain)
            if answer is not None:
                return await self._record(key, uncertain.happened(answer.text))
        return await self._record(key, await effect())

    async def answer(self, question: Question) -> Answer:
        """Return the recorded answer, or raise ParkedError."""
        one = self._asked.get(question.key)
        if one is not None and one.answer is not None:
            self.pass_time(one.answered or self.now())
            return one.answer
        if not question.undoes:
            await self.go_on()
        raise ParkedError(question)

    async def go_on(self) -> None:
        """Raise CancelledRunError in a cancelled run, LostRunError where another process has it."""
        await super().go_on()
        process = self._process
        if self.lost is not None or not process.may_go_on():
            raise self._lose(LostRunError("this process ends"))
        goes = await self._keep(
            process.look(lambda: process.store.may_go_on(self._run_id, process.own))
        )
        if goes is None:
            self.heard = True
            raise CancelledRunError
        if not goes:
            raise self._lose(LostRunError("another process executes this run"))

    async def wait(self, key: str, tried: int) -> bool:
        """Wait before a call that never started is sent again; return False after some minutes."""
        if not self._process.keeps or tried >= MOST_WAITS:
            return False
        await asyncio.sleep(min(WAIT_S * 2**tried, LONGEST_WAIT_S))
        marks = (f"{key}:wait{number}" for number in itertools.count(1))
        await self._record(next(mark for mark in marks if mark not in self.entries), value=True)
        return True

    async def _happened(self, key: str, uncertain: UncertainOutcome) -> Answer | None:
        """Record that the call begins; return the answer of a person who says that it happened."""
        for number in itertools.count(1):
            mark = f"{key}:begun{number}"
            if mark not in self.entries:
                await self._record(mark, value=True)
                return None
            answer = await self.answer(uncertain.question._replace(key=f"{mark}{HAPPENED}"))
            if answer.approved:
                return answer
        raise AssertionError("counting does not end")

    async def _record(self, key: str, value: Any) -> JournalEntry:
        """Record a value before anything else happens."""
        process = self._process
        entry = JournalEntry(key, value, process.clock().isoformat())
        number = len(self.entries)
        # Parallel steps take numbers of their own.
        self.entries[key] = entry
        recorded = await self._keep(
            process.do(lambda: process.store.record(self._run_id, process.own, number, entry))
        )
        if not recorded:
            raise self._lose(LostRunError("another process executes this run"))
        process.progress(self._run_id)
        return entry

    async def _keep(self, work: Awaitable[T]) -> T:
        """Return what the store says; raise LostRunError where it does not answer."""
        try:
            return await work
        except Exception as error:
            raise self._lose(error) from error

    def _lose(self, error: BaseException) -> LostRunError:
        self.lost = self.lost or error
        return error if isinstance(error, LostRunError) else LostRunError(str(error))
