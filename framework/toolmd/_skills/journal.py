"""What a run asks of its engine: to do a thing once, to ask a person, to tell the time."""

import datetime as dt
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Protocol

from toolmd._types.call import Call
from toolmd._types.result import Result
from toolmd._types.run import Answer, Question, RunEvent

Effect = Callable[[], Awaitable[Any]]


class UncertainOutcome(NamedTuple):
    """What a person is asked where nobody knows whether a call took effect."""

    question: Question
    happened: Any
    """What is recorded when they say that it did: JSON."""


class Journal(Protocol):
    """The record of one run.

    A run is interpreted from its beginning each time it is taken up; what the journal holds is
    not done again. So a journal needs no more than keys and JSON values, and may be kept anywhere.
    """

    def now(self) -> dt.datetime:
        """Give the time of the last thing that was done: the same each time it is taken up."""

    def holds(self, key: str) -> bool:
        """Tell whether the thing is done."""

    async def perform(
        self,
        key: str,
        effect: Effect,
        *,
        undoing: bool = False,
        uncertain: UncertainOutcome | None = None,
    ) -> Any:
        """Give the recorded value of `key`, or do it, record its JSON value and give that.

        With a `uncertain` it is done at most once: where a process died over it, a person is asked.

        Raises CancelledRunError instead of doing anything new in a run that was cancelled, but
        for what undoes.
        """

    async def answer(self, question: Question) -> Answer:
        """Give the recorded answer, or raise ParkedError.

        Raises CancelledRunError in a run that was cancelled, but for a question that undoes.
        """

    async def go_on(self) -> None:
        """Raise CancelledRunError in a run that was cancelled."""

    def tell(self, event: RunEvent) -> None:
        """Hand an event to whoever looks on, once."""

    def reach(self, executor: "Executor") -> "Executor":
        """Give the executor as it works from where the run is played."""


class ParkedError(Exception):
    """A run can't go on before one of these is answered; not a failure."""

    def __init__(self, *questions: Question) -> None:
        super().__init__(", ".join(question.key for question in questions))
        self.questions = questions


class CancelledRunError(Exception):
    """Somebody cancelled the run: it stops here and undoes what it did."""


Through = Callable[[str, Mapping[str, Any]], Awaitable[Result]]


class Executor(Protocol):
    """What does for a run what reaches the world: calls through the one door, and Python."""

    async def call(self, call: Call) -> Result:
        """Take a call through the door."""

    async def confirm(self, held: str, call: Call) -> Result:
        """Approve a held call by its id, with the arguments of `call`; runs it."""

    async def reject(self, held: str, call: Call) -> None:
        """Drop a held call by its id: a person said no, and it must not run later."""

    async def python(self, call: Call, through: Through) -> Any:
        """Run the implementation of a skill; its own calls go `through`.

        Raises ToolError for a message of its own.
        """
