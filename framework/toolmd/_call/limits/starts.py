"""Row 8: how often a tool may start, and how many of its calls may run at one time."""

from collections.abc import Callable

from toolmd._call.limits.deadline import DEFAULT_S
from toolmd._call.limits.pace import Pace
from toolmd._call.limits.places import Places
from toolmd._call.limits.shared_starts import SharedStarts, shared_starts
from toolmd._call.limits.tally import Tally, Who
from toolmd._call.limits.timing import Timing
from toolmd._call.refusal import refuse
from toolmd._model.call import Call
from toolmd._model.contract import Limits, ToolContract
from toolmd._model.settings import Settings


class StartLimits:
    """The Rate, Max Calls and Max Concurrent of one tool."""

    def __init__(
        self,
        name: str,
        limits: Limits,
        tally: Tally,
        timing: Timing,
        shared: SharedStarts | None,
    ) -> None:
        """Count in `tally`, which outlives the snapshot; `shared` are all processes' starts."""
        self._name = name
        self._seconds = limits.timeout_s or DEFAULT_S
        self._max_calls = limits.max_calls
        self._tally = tally
        self.timing = timing
        """What the tries of a call go by, too."""
        rate, most = limits.rate, limits.max_concurrent
        self._pace = Pace(name, rate, tally, timing, shared) if rate is not None else None
        self._places = Places(name, most, tally) if most is not None else None
        self.binds = bool(self._pace or self._places or self._max_calls is not None)
        """Whether there is any limit at all."""

    def check(self, call: Call) -> None:
        """Raise a Refusal where the call would be one too many now."""
        with self._tally.lock:
            self._check_calls(_who(call))
        if self._places is not None:
            self._places.check()
        if self._pace is not None:
            self._pace.check(self._longest(call))

    async def start(self, call: Call) -> None:
        """Count a call and wait for its place and its turn; raises a Refusal.

        It waits as long as it might run at most: its Timeout, or what its plan allows.
        """
        who, longest = _who(call), self._longest(call)
        if self._max_calls is not None:
            with self._tally.lock:
                self._check_calls(who)
                self._tally.count(who, 1)
        try:
            if self._places is not None:
                await self._places.enter(longest)
            try:
                await self.wait(longest)
            except BaseException:
                self.end()
                raise
        except BaseException:
            if self._max_calls is not None:
                with self._tally.lock:
                    self._tally.count(who, -1)
            raise

    async def wait_again(self, call: Call) -> None:
        """Wait once more for a call that let its start go by; raises a Refusal."""
        await self.wait(self._longest(call))

    async def wait(self, longest: float) -> None:
        """Wait for one more start; raises a Refusal where it would take longer."""
        if self._pace is not None:
            await self._pace.wait(longest)

    def end(self) -> None:
        """Give the place of a call back."""
        if self._places is not None:
            self._places.leave()

    def _check_calls(self, who: Who) -> None:
        if self._max_calls is not None and self._tally.made_by(who) >= self._max_calls:
            most = self._max_calls
            times = "once" if most == 1 else f"{most} times"
            message = f"{self._name} may be called {times} in a conversation, and was."
            raise refuse("budget_exhausted", message)

    def _longest(self, call: Call) -> float:
        planned = call.budget
        return self._seconds if planned is None else min(self._seconds, planned.timeout_ms / 1000)


def limits_of(
    settings: Settings, tallies: dict[str, Tally], timing: Timing
) -> Callable[[ToolContract], StartLimits]:
    """Give what makes a tool's limits; it counts in `tallies`, by the tools' names."""
    shared = shared_starts(settings, timing)

    def limits(contract: ToolContract) -> StartLimits:
        tally = tallies.setdefault(contract.name, Tally())
        return StartLimits(contract.name, contract.limits, tally, timing, shared)

    return limits


def _who(call: Call) -> Who:
    return call.caller.user, call.caller.conversation
