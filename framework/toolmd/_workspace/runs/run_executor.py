"""Execute runs, each on the snapshot on which it began, under today's policy if it is stricter."""

import asyncio
from collections.abc import Callable, Mapping

from toolmd._skills.engine.outcomes import ended
from toolmd._skills.interpreter import Interpreter
from toolmd._skills.journal import Journal, ParkedError, loaded
from toolmd._types.result import SkillResult
from toolmd._types.run import Order
from toolmd._workspace.listeners import WorkspaceEventListener
from toolmd._workspace.runs.executor import DispatchExecutor
from toolmd._workspace.runs.journal import NotifyingJournal
from toolmd._workspace.runs.pinned import FindCode, PinnedLives, python_gone
from toolmd._workspace.snapshot.live import Live
from toolmd.errors import ImplementationError


class RunExecutor:
    """Executes runs, and keeps their snapshots until they end."""

    def __init__(
        self,
        current: Callable[[], Live],
        tell: WorkspaceEventListener,
        find_code: FindCode,
        given: Mapping[str, object] | None,
    ) -> None:
        """`current` returns today's snapshot, `find_code` pinned Python, `tell` reports events."""
        self._current = current
        self._tell = tell
        self._find_code = find_code
        self._pinned = PinnedLives(current, given)
        self._lives: dict[str, Live] = {}
        self._marks: dict[str, set[tuple[str, str, str]]] = {}

    def begin(self, run_id: str, live: Live) -> None:
        """Keep the snapshot on which a run begins."""
        self._lives.setdefault(run_id, live)

    def end(self, run_id: str) -> None:
        """Release the snapshot of a run."""
        self._lives.pop(run_id, None)

    def close(self) -> None:
        """Release all snapshots."""
        self._pinned.close()

    async def execute(self, order: Order, journal: Journal) -> SkillResult:
        """Execute a run to its end. Raises ParkedError where it waits."""
        noted = self._marks.setdefault(order.id, set())
        notifying = NotifyingJournal(order, journal, self._tell, noted)
        notifying.state("running")
        try:
            live, order = await self._resumed(order, notifying)
            with live.snapshot.resources.hold():
                executor = DispatchExecutor(await live.ready_dispatcher(), notifying.heard)
                result = await Interpreter(executor).execute(order, notifying)
        except ParkedError as parked:
            notifying.parked(parked)
            raise
        self._marks.pop(order.id, None)
        self.end(order.id)
        notifying.state(ended(result))
        return result

    async def _resumed(self, order: Order, journal: NotifyingJournal) -> tuple[Live, Order]:
        """Return the snapshot on which a run continues: its own, made stricter by today's policy.

        If its Python is no longer available, a person decides. Raises ParkedError.
        """
        live = self._lives.get(order.id)
        if live is None:
            try:
                live = await loaded(
                    journal, "python",
                    lambda: asyncio.to_thread(self._pinned.began_on, order, self._find_code),
                )  # fmt: skip
            except ImplementationError as error:
                await journal.agreed(python_gone(order, error))
                live = self._current()
            self._lives[order.id] = live
        if live is self._current():
            return live, order
        return await asyncio.to_thread(self._pinned.strictest, order, live)
