"""The processes that execute runs, the work that waits for them, and the use of shared limits."""

from typing import Any, NamedTuple

from toolmd._types.run import RunState


class Worker(NamedTuple):
    """A process that executes runs."""

    name: str
    """Its machine, process id and a random part."""
    alive: bool
    """False for one that ended or went silent, until another process took over its runs."""
    runs: int
    """How many attempts of runs it executes."""


class Queue(NamedTuple):
    """The attempts of runs that no process executes yet."""

    waiting: int
    """Their number; at most 1,000 are counted."""
    since: float | None = None
    """When the oldest was queued, in seconds since the epoch."""


class ScheduledSkill(NamedTuple):
    """A skill that runs by itself."""

    skill: str
    schedule: str
    last: str | None
    """The last tick that a process looked at, ISO 8601 in UTC; None before the first."""
    next: str
    """The next tick."""


class LimitUse(NamedTuple):
    """How much of its shared limits a tool uses; None where it has no such limit."""

    tool: str
    rate: str | None
    """Its Rate, such as `5 in 60 s`."""
    last: float | None
    """When it started last under its Rate, in seconds since the epoch."""
    max_concurrent: int | None
    running: int
    """How many calls run now under Max Concurrent."""
    quotas: tuple[str, ...]
    """Its quotas, such as `3 calls per user per day`."""


class Fleet(NamedTuple):
    """All processes of a project as its store shows them."""

    workers: tuple[Worker, ...]
    queue: Queue
    runs: dict[RunState, int]
    """The number of unfinished runs by state."""
    schedules: tuple[ScheduledSkill, ...]
    limits: tuple[LimitUse, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the fleet as JSON."""
        return {
            "workers": [one._asdict() for one in self.workers],
            "queue": self.queue._asdict(),
            "runs": dict(self.runs),
            "schedules": [one._asdict() for one in self.schedules],
            "limits": [one._asdict() for one in self.limits],
        }
