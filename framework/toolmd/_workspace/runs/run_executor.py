"""Execute runs, each on the snapshot on which it began, under today's policy if it is stricter."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from toolmd._call import CallContext, Dispatcher, in_daemon_thread, start
from toolmd._call.threads import is_from_outside
from toolmd._skills.engine.outcomes import ended
from toolmd._skills.interpreter import Interpreter
from toolmd._skills.journal import Journal, ParkedError, Through, loaded
from toolmd._types.call import Call
from toolmd._types.result import Event, EventListener, Result, SkillResult
from toolmd._types.run import Order
from toolmd._workspace.listeners import WorkspaceEventListener
from toolmd._workspace.runs.journal import NotifyingJournal
from toolmd._workspace.runs.resumed import ResumedLives, python_gone
from toolmd._workspace.snapshot.live import Live
from toolmd.errors import ForeignExitError, ImplementationError, NotFoundError

LONG_S = 30 * 24 * 3600.0
"""The deadline in seconds of a skill's Python, which may wait for people; its calls have theirs."""


class RunExecutor:
    """Executes runs, and keeps their snapshots until they end."""

    def __init__(self, current: Callable[[], Live], tell: WorkspaceEventListener) -> None:
        """`current` returns today's snapshot, `tell` reports events."""
        self._current = current
        self._tell = tell
        self._resumed_lives = ResumedLives()
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
        self._resumed_lives.close()

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
        """Return the snapshot on which a run goes on, and the run's order on it.

        If its Python is no longer available, a person decides. Raises ParkedError.
        """
        began_on, now = self._lives.get(order.id, self._current()), self._current()
        try:
            return await loaded(
                journal, "python",
                lambda: asyncio.to_thread(self._resumed_lives.resume, order, began_on, now),
            )  # fmt: skip
        except ImplementationError as error:
            await journal.agreed(python_gone(order, error))
        return now, order


class DispatchExecutor:
    """The executor of the runs on one snapshot; see `_skills.journal.Executor`."""

    def __init__(self, dispatcher: Dispatcher, heard: Callable[[Call, Event], None]) -> None:
        """Prepare it; `heard` receives the events of the run's calls."""
        self._dispatcher = dispatcher
        self._heard = heard

    async def call(self, call: Call) -> Result:
        """Run a call through the dispatcher."""
        return await self._dispatcher.dispatch(call, partial(self._heard, call))

    async def confirm(self, held: str, call: Call, by: str | None = None) -> Result:
        """Approve a pending call by its id, with the arguments of `call`, and run it."""
        heard = partial(self._heard, call)
        return await self._dispatcher.decisions.confirm_call(held, call, heard, by)

    async def reject(self, held: str, call: Call, by: str | None = None) -> None:
        """Reject a pending call by its id: it never runs."""
        await self._dispatcher.decisions.reject(held, user=call.caller.user, by=by)

    async def python(self, call: Call, through: Through) -> Any:
        """Run the implementation of a skill; its own calls go `through`.

        Raises ImplementationError where it can't be loaded, and whatever it raises.
        """
        bound = self._dispatcher.registry.skills.get(call.tool)
        if bound is None or bound.binding.load is None:
            raise NotFoundError(f"{call.tool} has no Python any more; cancel the run")
        implementation = await in_daemon_thread(bound.binding.load)
        around = _Through(self._dispatcher, through)
        context = CallContext(call, bound.spec, around, LONG_S, None)
        try:
            return await start(implementation, dict(_object(call)), lambda: context)
        except (SystemExit, KeyboardInterrupt, asyncio.CancelledError) as error:
            if is_from_outside(error):
                raise
            raise ForeignExitError(f"it raised {type(error).__name__}") from error
        finally:
            await context.close()


class _Through:
    """The services of a skill's Python: a dispatcher whose calls the run records."""

    def __init__(self, dispatcher: Dispatcher, through: Through) -> None:
        self.resources = dispatcher.resources
        self.open_client = dispatcher.open_client
        self._through = through

    async def dispatch(self, call: Call, on_event: EventListener | None = None) -> Result:
        """Pass the call to the run, which dispatches and records it."""
        del on_event
        return await self._through(call.tool, _object(call))


def _object(call: Call) -> Mapping[str, Any]:
    assert isinstance(call.arguments, Mapping)
    return call.arguments
