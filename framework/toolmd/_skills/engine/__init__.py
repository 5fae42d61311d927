"""Runs: stored, executed, and resumed by the next process where one ends."""

import datetime as dt
from collections.abc import Awaitable, Callable

from toolmd._skills.journal import Journal
from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, Order, Question, RunQuery

ALL_RUNS = RunQuery()
Execute = Callable[[Order, Journal], Awaitable[SkillResult]]
"""Interprets an order over its journal; raises ParkedError."""
Ask = Callable[[Question], Awaitable[Answer | None]]
"""Asks an available person; None means that nobody is available, and the run waits."""


def utc_now() -> dt.datetime:
    """Return the time in UTC."""
    return dt.datetime.now(dt.UTC)
