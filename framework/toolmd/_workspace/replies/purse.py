"""Spend the budget of a plan: one purse for all its calls, in their order."""

from collections.abc import Callable
from time import monotonic

from toolmd._call.result.answer import write
from toolmd._call.result.fit import arrays_of
from toolmd._types.call import Budget
from toolmd._types.result import Result


class Purse:
    """What is left of a plan's budget; its time runs from now on."""

    def __init__(self, budget: Budget, clock: Callable[[], float] = monotonic) -> None:
        """Fill it with a budget; `clock` returns seconds."""
        self._rows, self._bytes = budget.rows, budget.bytes
        self._clock = clock
        self._until = clock() + budget.timeout_ms / 1000

    @property
    def left(self) -> Budget:
        """The budget of the next call; what is used up is 0 or less."""
        return Budget(self._rows, self._bytes, round((self._until - self._clock()) * 1000))

    def spend(self, result: Result) -> None:
        """Subtract the rows and bytes of a call's data."""
        if result.data is not None:
            self._rows -= sum(map(len, arrays_of(result.data).values()))
            self._bytes -= len(write(result.data))


def lacking(left: Budget) -> str:
    """Return what of a budget is used up, such as `rows and bytes`; empty where nothing is."""
    words = zip(("rows", "bytes", "time"), left, strict=True)
    return " and ".join(word for word, amount in words if amount <= 0)
