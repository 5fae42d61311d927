"""What a run needs of its engine: record an effect once, ask a person, read the clock."""

import datetime as dt
import itertools
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

from toolmd._types.call import Call
from toolmd._types.result import Result
from toolmd._types.run import Answer, JournalEntry, Question, RunEvent
from toolmd.errors import NotLoadedError

T = TypeVar("T")
Effect = Callable[[], Awaitable[Any]]


class UncertainOutcome(NamedTuple):
    """The question for a person where a call may or may not have taken effect."""

    question: Question
    happened: Any
    """The JSON value that is recorded when the person confirms that it took effect."""


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

    def begun(self, place: str) -> bool:
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


async def loaded(journal: Journal, key: str, work: Callable[[], Awaitable[T]]) -> T:
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
