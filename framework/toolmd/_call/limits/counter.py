"""The counts of one tool; they survive a reload."""

import math
from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock

MAX_CONVERSATIONS = 100_000
"""The most callers that are remembered; the least recent one is forgotten."""

CallerKey = tuple[str | None, str | None]
"""A user and a conversation, whose calls count together."""


class CallCounter:
    """The counts of one tool in this process; change them only under the lock."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.last_start = -math.inf
        """By the clock of the limits, in seconds."""
        self.tickets: list[int] = []
        """The calls that wait for the rate, in order."""
        self.next_ticket = 0
        self.running = 0
        """The number of running calls."""
        self.wakers: deque[Callable[[], bool]] = deque()
        """The calls that wait for the semaphore; each returns whether it uses the place."""
        self._made: OrderedDict[CallerKey, int] = OrderedDict()

    def made_by(self, caller: CallerKey) -> int:
        """Return how many calls were made in this conversation."""
        return self._made.get(caller, 0)

    def count(self, caller: CallerKey, calls: int) -> None:
        """Add calls to a conversation; -1 takes back one that never started."""
        self._made[caller] = self.made_by(caller) + calls
        self._made.move_to_end(caller)
        if len(self._made) > MAX_CONVERSATIONS:
            self._made.popitem(last=False)
