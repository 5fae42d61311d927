"""The interface of engines, which store runs and execute them."""

import datetime as dt
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol

from toolmd._skills.journal import Journal
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, Order, Question, RunListener, RunQuery, RunView

ALL_RUNS = RunQuery()
Execute = Callable[[Order, Journal], Awaitable[SkillResult]]
"""Interprets an order over its journal; raises ParkedError."""
Ask = Callable[[Question], Awaitable[Answer | None]]
"""Asks an available person; None means that nobody is available, and the run waits."""


def utc_now() -> dt.datetime:
    """Return the time in UTC."""
    return dt.datetime.now(dt.UTC)


class OpenQuestion(Protocol):
    """A question without an answer."""

    @property
    def question(self) -> Question:
        """The question itself."""

    @property
    def opened(self) -> float:
        """When it was asked, in seconds since the epoch."""

    @property
    def expires(self) -> float | None:
        """When it expires, in seconds since the epoch; None for never."""


class Engine(Protocol):
    """Executes orders, keeps their records, and waits for answers.

    A waiting run returns a SkillResult with the code `waiting`; an answer continues it.
    """

    async def run(
        self, order: Order, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Run an order to its end, or until it needs a person whom `ask` does not reach.

        An order with a known id is resumed. Raises ToolmdError where the id belongs to another run.
        """

    async def schedule(self, order: Order, at: dt.datetime) -> SkillResult:
        """Keep an order that starts at a time, in UTC; a known one stays as it is.

        Raises ToolmdError where the id belongs to another run.
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
        """Answer an open question and continue the run; the first answer counts.

        Raises NotFoundError where the question is not open.
        """

    async def resume(
        self, run_id: str, *, ask: Ask | None = None, watch: RunListener | None = None
    ) -> SkillResult:
        """Resume a run that stands still; an expired question is answered with a no."""

    async def cancel(self, run_id: str) -> SkillResult:
        """Stop a run before its next call, and undo its steps."""

    async def runs(self, query: RunQuery = ALL_RUNS) -> tuple[RunView, ...]:
        """Return the runs that match a query, the newest first, without their steps."""

    async def show(self, run_id: str) -> RunView:
        """Return one run with its steps; raises NotFoundError."""

    def orders(self, ids: Iterable[str]) -> Sequence[Order]:
        """Return the orders of these runs, without missing ones."""

    def waiting(self, run_id: str | None = None) -> Sequence[OpenQuestion]:
        """Return the open questions of all runs, or of one, the oldest first."""
