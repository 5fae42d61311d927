"""Where runs live: what every engine does, whatever it keeps its records in."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from toolmd._skills.journal import Journal
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, Order, Question, RunListener, RunQuery, RunView

RUNS_FILE = "runs.sqlite3"
"""In the state folder, where runs are kept and `engine` is `sqlite`."""
ALL_RUNS = RunQuery()
Play = Callable[[Order, Journal], Awaitable[SkillResult]]
"""Interprets an order over its journal; raises ParkedError."""
Ask = Callable[[Question], Awaitable[Answer | None]]
"""Asks a person who is at hand; None means that nobody is, and the run waits."""


class OpenQuestion(Protocol):
    """A question that nobody answered yet."""

    @property
    def question(self) -> Question:
        """What is asked."""

    @property
    def opened(self) -> float:
        """Since when, in seconds since the epoch."""

    @property
    def expires(self) -> float | None:
        """Until when, alike; None where it waits for ever."""


class Engine(Protocol):
    """Runs orders, keeps their records, and waits for people.

    A run that waits gives a SkillResult with the code `waiting`; its answer takes it further.
    """

    async def run(
        self, order: Order, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Run an order to its end, or until a person is needed whom `ask` does not reach.

        One whose id is known is taken up; raises ToolmdError where that id is another run's.
        """

    async def answer(
        self,
        run_id: str,
        key: str,
        answer: Answer,
        *,
        ask: Ask | None = None,
        watch: RunListener | None = None,
    ) -> SkillResult:
        """Answer an open question and run on; the first answer counts.

        Raises NotFoundError where no such question is open any more.
        """

    async def resume(
        self, run_id: str, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Take up a run that stands still; a question past its time is answered with a no."""

    async def cancel(self, run_id: str) -> SkillResult:
        """Stop a run before its next call, and undo what it did."""

    async def runs(self, query: RunQuery = ALL_RUNS) -> tuple[RunView, ...]:
        """Return the runs that a query asks for, the newest first, without their steps."""

    async def show(self, run_id: str) -> RunView:
        """Give one run step by step; raises NotFoundError."""

    def order(self, run_id: str) -> Order:
        """Give what was ordered; raises NotFoundError."""

    def waiting(self, run_id: str | None = None) -> Sequence[OpenQuestion]:
        """Give the open questions of all runs, or of one, the oldest first."""
