"""Enforce deadlines with one timer in each event loop."""

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

from toolmd._types.asked import NotSentError


class DeadlineError(Exception):
    """The deadline passed before the implementation returned."""

    def __init__(self, seconds: float, *, unsent: bool = False) -> None:
        super().__init__(f"did not answer within {seconds:.3g} s")
        self.seconds = seconds
        self.unsent = unsent
        """Whether the implementation waited for its server, and sent nothing."""


class InterruptedCallError(DeadlineError):
    """The call began, and its outcome can't be learned any more."""

    def __init__(self, why: str) -> None:
        super().__init__(0.0)
        self._why = why

    def __str__(self) -> str:
        return self._why


class Deadlines:
    """The deadlines of one tool's calls.

    A timer for each call would cost as much as a small tool; almost none ever fires.
    """

    def __init__(self) -> None:
        self._watches: dict[AbstractEventLoop, _Watch] = {}

    def within(self, seconds: float) -> "Wait":
        """Limit a `with` block of the running task to `seconds`. It raises DeadlineError."""
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
    """A task with a deadline; other cancellations pass through."""

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
        elif self._task.uncancel() <= self._cancelling and isinstance(error, CancelledError):
            raise DeadlineError(self._seconds, unsent=isinstance(error, NotSentError)) from None

    def expire(self) -> None:
        """Cancel the task at its deadline."""
        self._late = True
        self._task.cancel()


class _Watch:
    """The waiting tasks of one event loop, and the timer of the first deadline."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._timer: TimerHandle | None = None
        self.waiting: dict[Wait, None] = {}
        self.due = math.inf
        """The time at which the timer fires."""

    def arm(self, until: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self.due = until
        self._timer = self._loop.call_at(until, self._expire_due)

    def _expire_due(self) -> None:
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
        # Without a waiting task there is no timer.
        if left:
            self.arm(min(left))
