"""Row 8: how often a tool may start; counted where calls are dispatched."""

from collections import deque
from collections.abc import Callable
from threading import Lock

from toolmark._call.refusal import refuse
from toolmark._model.tool import Limits


class StartLimits:
    """The Rate and Max Calls of one tool, within this process."""

    def __init__(self, name: str, limits: Limits, clock: Callable[[], float]) -> None:
        """Count by `clock`, in seconds that never go back."""
        self._name = name
        self._rate = limits.rate
        self._max_calls = limits.max_calls
        self._clock = clock
        self._starts: deque[float] = deque()
        self._made: dict[str | None, int] = {}
        self._lock = Lock()
        self.binds = limits.rate is not None or limits.max_calls is not None
        """Whether there is any limit at all."""

    def check(self, user: str | None) -> None:
        """Raise a Refusal where one more start of this user would be too many."""
        with self._lock:
            self._check(user)

    def start(self, user: str | None) -> None:
        """Count a start, or raise a Refusal."""
        with self._lock:
            self._check(user)
            if self._rate is not None:
                self._starts.append(self._clock())
            if self._max_calls is not None:
                self._made[user] = self._made.get(user, 0) + 1

    def _check(self, user: str | None) -> None:
        if self._max_calls is not None and self._made.get(user, 0) >= self._max_calls:
            message = f"{self._name} may be called {self._max_calls} times, and was."
            raise refuse("budget_exhausted", message)
        if self._rate is None:
            return
        now = self._clock()
        while self._starts and self._starts[0] <= now - self._rate.per_s:
            self._starts.popleft()
        if len(self._starts) >= self._rate.calls:
            wait = self._starts[0] + self._rate.per_s - now
            ms = max(1, round(wait * 1000))
            message = f"{self._name} was called too often: try again in {ms} ms."
            raise refuse("rate_limited", message, retry_after_ms=ms)
