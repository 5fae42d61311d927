"""Reclaim runs: of dead processes twice a second, others each second, and delete old ones."""

import datetime as dt
import itertools
import logging
import threading
from collections import Counter
from collections.abc import Callable

from toolmd._skills.engine.durable.heartbeat import Heartbeat
from toolmd._skills.engine.durable.liveness import Locks
from toolmd._skills.engine.durable.outage import Outage
from toolmd._skills.engine.durable.process import Process
from toolmd._skills.engine.durable.store import Store
from toolmd._skills.engine.durable.workflows import Workflows, workflow_id
from toolmd._types.run import Answer, Clock
from toolmd.errors import UnreachableError

KEEP = dt.timedelta(days=30)
"""How long a run that ended is kept."""
LOOK_S = 0.5
"""Pause between two rounds, in seconds."""
RUNS_EVERY = 2
"""How many rounds pass between two checks of the runs themselves."""
LOST_AFTER = 3
"""After how many such checks in a row an orphan is put back."""
FORGET_EVERY = 7200
"""How many rounds pass between two deletions of old runs."""
SOME = 200
"""How many runs are checked at one time; the next check is of those after them."""
LATE = Answer(approved=False, late=True)
Orphan = tuple[str, int, bool]
"""A run, its attempt, and whether the workflow of the attempt is over."""
logger = logging.getLogger(__name__)


class Reclaimer:
    """A thread next to the one that executes the runs of this process."""

    def __init__(
        self,
        process: Process,
        store: Store,
        workflows: Workflows,
        locks: Locks | Heartbeat,
        clock: Clock,
        every_s: float = LOOK_S,
    ) -> None:
        """Prepare it; `locks` know live processes, `every_s` is the pause between two rounds."""
        self._process = process
        self._store = store
        self._workflows = workflows
        self._locks = locks
        self._clock = clock
        self._every_s = every_s
        self._seen: Counter[Orphan] = Counter()
        """In how many checks in a row each orphan was seen."""
        self._after = ""
        """The last run that was checked."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="toolmd-look", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def end(self) -> None:
        """Finish the current round and stop."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        outage = Outage(logger, "runs can't be reclaimed now", "runs are reclaimed again")
        for count in itertools.count():
            try:
                self._round(count)
                outage.over()
            except UnreachableError as error:
                outage.met(error)
            except Exception as error:  # noqa: BLE001 - the next round may succeed
                outage.met(error, crash=True)
            if self._ended.wait(self._every_s):
                return

    def _round(self, count: int) -> None:
        self._locks.live()
        # First, since on an overloaded machine all else takes long.
        if self._locks.dead():
            self._alone(self._take_over)
        now = self._clock()
        if count % RUNS_EVERY == 0:
            for run_id, key in self._store.reader.expired(now.timestamp()):
                self._store.settle(run_id, key, LATE, now)
            if orphans := self._orphans():
                self._alone(lambda: self._put_back(orphans))
        if count % FORGET_EVERY == 0:
            self._workflows.delete(list(self._store.forget(now - KEEP)))

    def _alone(self, work: Callable[[], None]) -> None:
        """Do work, unless another process does such work now."""
        # Putting a workflow back does not ask whose it is: two processes would run it twice.
        with self._locks.alone() as alone:
            if alone:
                work()

    def _take_over(self) -> None:
        for name in self._locks.dead():
            names = self._workflows.executing(name)
            if not self._locks.lives():
                return  # Frozen meanwhile: another process may have taken over.
            self._workflows.queue(names)
            self._locks.evict(name)

    def _put_back(self, orphans: list[Orphan]) -> None:
        for run_id, segment, over in orphans:
            if over:
                self._store.begin_anew(run_id, segment)
            else:
                self._workflows.queue([workflow_id(run_id, segment)])

    def _orphans(self) -> list[Orphan]:
        """Return the runs that no process executes or will, seen several times."""
        after, runs = self._after, self._store.reader.executing(self._after, SOME)
        self._after = runs[-1][0] if len(runs) == SOME else ""
        names = {workflow_id(*run): run for run in runs}
        states = self._workflows.states(names) if names else {}
        found: set[Orphan] = set()
        for name, (run_id, segment) in names.items():
            state = states.get(name)
            if state is None or state.status not in {"PENDING", "ENQUEUED", "DELAYED"}:
                found.add((run_id, segment, True))
            elif state.status == "PENDING" and not self._is_executed(name, state.executor_id):
                found.add((run_id, segment, False))
        unchecked = {
            one: times
            for one, times in self._seen.items()
            if one[0] <= after or (self._after and one[0] > self._after)
        }
        self._seen = Counter({**unchecked, **{one: self._seen[one] + 1 for one in found}})
        return [one for one in found if self._seen[one] >= LOST_AFTER]

    def _is_executed(self, name: str, owner: str | None) -> bool:
        """Return whether a workflow is executed: here, or in a process that others watch."""
        if owner == self._locks.own:
            return name in self._process.executing
        # A process that woke after its eviction and then died leaves such workflows.
        return owner in self._locks.known()
