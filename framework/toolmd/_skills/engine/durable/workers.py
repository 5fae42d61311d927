"""Read which processes execute runs, and what waits for them."""

from toolmd._skills.engine.durable.heartbeat import Heartbeat
from toolmd._skills.engine.durable.liveness import Locks
from toolmd._skills.engine.durable.workflows import Workflows
from toolmd._types.fleet import Queue, Worker

MOST = 1000
"""The most queued attempts that are counted."""


class Workers:
    """The processes of one store; each method blocks."""

    def __init__(self, workflows: Workflows, locks: Locks | Heartbeat) -> None:
        self._workflows = workflows
        self._locks = locks

    def all(self) -> tuple[Worker, ...]:
        """Return the processes that execute runs, by name."""
        owners, known = self._workflows.owners(), self._locks.workers()
        return tuple(Worker(name, alive, owners[name]) for name, alive in sorted(known.items()))

    def queue(self) -> Queue:
        """Return the attempts that no process executes yet."""
        waiting = self._workflows.queued(MOST)
        return Queue(len(waiting), min(waiting, default=None))
