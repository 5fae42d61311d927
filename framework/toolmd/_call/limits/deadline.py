"""Hold calls to their deadlines: one timer in each event loop looks after all that wait."""

import math
from asyncio import (
    AbstractEventLoop,
    CancelledError,
    Task,
    TimerHandle,
    current_task,
    get_running_loop,
)
from types import TracebackType
from typing import Any

DEFAULT_S = 30.0
"""The deadline in seconds of a tool whose Limits name none."""


class DeadlineError(Exception):
    """Time was up before the implementation had answered."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


class Deadlines:
    """The calls of one tool that are held to a deadline.

    A timer for each call would cost as much as a small tool; nearly none is ever due.
    """

    def __init__(self) -> None:
        self._watches: dict[AbstractEventLoop, _Watch] = {}

    def within(self, seconds: float) -> "Wait":
        """Hold a `with` block of the running task to so many seconds; it raises DeadlineError."""
        loop = get_running_loop()
        task = current_task(loop)
        if task is None:
            raise RuntimeError("a deadline needs a task")
        watch = self._watches.get(loop) or self._new(loop)
        return Wait(watch, task, seconds, loop.time() + seconds)

    def _new(self, loop: AbstractEventLoop) -> "_Watch":
        for one in [one for one in list(self._watches) if one.is_closed()]:
            self._watches.pop(one, None)
        return self._watches.setdefault(loop, _Watch(loop))


class Wait:
    """One task that is held to a deadline; what else cancels it goes on as it was."""

    __slots__ = ("_cancelling", "_late", "_seconds", "_task", "_watch", "until")

    def __init__(self, watch: "_Watch", task: Task[Any], seconds: float, until: float) -> None:
        """`until` is by the clock of the loop."""
        self._watch = watch
        self._task = task
        self._seconds = seconds
        self.until = until
        self._late = False
        self._cancelling = task.cancelling()

    def __enter__(self) -> None:
        watch = self._watch
        watch.waiting[self] = None
        if self.until < watch.due:
            watch.arm(self.until)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._late:
            del self._watch.waiting[self]
        elif self._task.uncancel() <= self._cancelling and kind is CancelledError:
            raise DeadlineError(self._seconds) from None

    def expire(self) -> None:
        """Cancel the task: its time is up."""
        self._late = True
        self._task.cancel()


class _Watch:
    """Those who wait in one event loop, and the timer that is armed for the first of them."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: TimerHandle | None = None
        self.waiting: dict[Wait, None] = {}
        self.due = math.inf
        """When the timer will look."""

    def arm(self, until: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.due = until
        self._timer = self._loop.call_at(until, self._look)

    def _look(self) -> None:
        self._timer, self.due = None, math.inf
        now = self._loop.time()
        left = []
        # A copy: the collector may end a call of this loop in another thread.
        for wait in list(self.waiting):
            if wait.until > now:
                left.append(wait.until)
            else:
                self.waiting.pop(wait, None)
                wait.expire()
        # Where nobody waits, it rests.
        if left:
            self.arm(min(left))
