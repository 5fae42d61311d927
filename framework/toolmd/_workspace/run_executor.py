"""Execute runs, each on the snapshot on which it began, under today's policy if it is stricter."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from toolmd._call import CallContext, Dispatcher, in_daemon_thread, start
from toolmd._call.threads import is_from_outside
from toolmd._load.weakening import tightened
from toolmd._skills.engine.outcomes import ended
from toolmd._skills.interpreter import Interpreter
from toolmd._skills.journal import CancelledRunError, Journal, ParkedError, Through, loaded
from toolmd._types.call import Call
from toolmd._types.plan import Plan
from toolmd._types.registry import Bound, BoundTool, Registry
from toolmd._types.result import Event, EventListener, Result, SkillResult
from toolmd._types.run import Order, Question, RunEvent, RunState
from toolmd._types.tool import ToolSpec
from toolmd._workspace.opened import WorkspaceEventListener
from toolmd._workspace.snapshot.live import Live
from toolmd.errors import ForeignExitError, ImplementationError, NotFoundError

LONG_S = 30 * 24 * 3600.0
"""The deadline in seconds of a skill's Python, which may wait for people; its calls have theirs."""
PROGRESS_S = 0.2
"""The shortest time between two events of a run's progress, in seconds."""
MOST_BUILT = 32
"""How many snapshots of earlier definitions are kept for further runs."""
MOST_RUNS = 1000
"""Of how many runs this process remembers the snapshot and the events; the rest goes on without."""


@dataclass(eq=False, slots=True)
class _Begun:
    """What this process remembers of a run that does not end here at once."""

    live: Live | None = None
    """The snapshot on which it began here."""
    told: set[tuple[str, str, str]] = field(default_factory=set)
    """The events that were reported."""


class RunExecutor:
    """Executes runs, and keeps their snapshots until they end."""

    def __init__(self, current: Callable[[], Live], tell: WorkspaceEventListener) -> None:
        """`current` returns today's snapshot, `tell` reports events."""
        self._current = current
        self._tell = tell
        self._begun: OrderedDict[str, _Begun] = OrderedDict()
        self._built: OrderedDict[tuple[object, ...], Live] = OrderedDict()
        """The snapshots of runs that began on earlier definitions."""
        self._lock = threading.Lock()

    def begin(self, run_id: str, live: Live) -> None:
        """Remember the snapshot on which a run begins."""
        begun = self._of(run_id)
        begun.live = begun.live or live

    def end(self, run_id: str) -> None:
        """Forget a run."""
        self._begun.pop(run_id, None)

    def close(self) -> None:
        """Forget all snapshots that were built for runs."""
        with self._lock:
            self._built.clear()

    async def execute(self, order: Order, journal: Journal) -> SkillResult:
        """Execute a run to its end. Raises ParkedError where it waits."""
        begun = self._of(order.id)
        reporter = _Reporter(order, journal, self._tell, begun.told)
        reporter.state("running")
        try:
            live, order = await self._resumed(order, journal, begun.live)
            with live.snapshot.resources.hold():
                executor = _DispatchExecutor(await live.ready_dispatcher(), reporter.heard)
                result = await Interpreter(executor).execute(order, journal)
        except ParkedError as parked:
            for question in parked.questions:
                reporter.once(RunEvent.waiting(question))
            reporter.state("waiting")
            raise
        self.end(order.id)
        reporter.state(ended(result))
        return result

    def _of(self, run_id: str) -> _Begun:
        with self._lock:
            begun = self._begun.setdefault(run_id, _Begun())
            while len(self._begun) > MOST_RUNS:
                self._begun.popitem(last=False)
        return begun

    async def _resumed(
        self, order: Order, journal: Journal, began_on: Live | None
    ) -> tuple[Live, Order]:
        """Return the snapshot on which a run goes on, and the run's order on it.

        If its Python is no longer available, a person decides. Raises ParkedError.
        """
        now = self._current()
        resume = partial(asyncio.to_thread, self._resume, order, began_on or now, now)
        try:
            return await loaded(journal, "python", resume)
        except ImplementationError as error:
            try:
                answer = await journal.answer(_python_gone(order, error))
                journal.stopped = not answer.approved
            except CancelledRunError:
                journal.stopped = True
        return now, order

    def _resume(self, order: Order, began_on: Live, now: Live) -> tuple[Live, Order]:
        """Return the snapshot on which a run goes on, and the run's order on it.

        Each tool has the run's own definition, or today's where that is stricter. The Python is
        that of `began_on`, the snapshot on which the run began in this process, or today's.

        Raises ImplementationError where a tool or a skill's Python is gone, or can't be imported.
        """
        plan = order.plan
        tools = {name: _strictest(name, spec, began_on, now) for name, spec in plan.tools.items()}
        bound: list[Bound[Any]] = [*tools.values(), *_skills(plan, began_on)]
        # First, so that a failed import stops no run half-way.
        for one in bound:
            if one.binding.load is not None:
                one.binding.load()
        specs = {name: tool.spec for name, tool in tools.items()}
        changed = {
            name: tool for name, tool in tools.items() if tool is not now.registry.tools.get(name)
        }
        if specs != plan.tools:
            order = order._replace(plan=plan.model_copy(update={"tools": specs}))
        if not changed and began_on is now:
            return now, order
        # Both snapshots stay referenced, since an id of a freed object may return.
        hashes = sorted((name, tool.spec.hash) for name, tool in changed.items())
        least = tuple(tool.default_min for _, tool in sorted(changed.items()))
        key = (began_on, now, *hashes, least)
        with self._lock:
            if (live := self._built.get(key)) is None:
                old = began_on.registry
                registry = Registry({**old.tools, **changed}, old.skills)
                live = now.taking_up(replace(began_on.snapshot, registry=registry))
                self._built[key] = live
            self._built.move_to_end(key)
            while len(self._built) > MOST_BUILT:
                self._built.popitem(last=False)
        return live, order


class _Reporter:
    """Reports the events of a run to the workspace's listeners, as the run tells its journal."""

    def __init__(
        self,
        order: Order,
        journal: Journal,
        tell: WorkspaceEventListener,
        told: set[tuple[str, str, str]],
    ) -> None:
        """`told` are the events that were reported before, which are not reported again."""
        self._told = told
        self._order = order
        self._tell = tell
        self._titles: dict[str, tuple[str, str]] = {}
        """The skill and the title of each step that began."""
        self._items: dict[str, int] = {}
        """How many items each call streamed."""
        self._progressed = float("-inf")
        self._listener = journal.listener
        journal.listener = self.hear

    def hear(self, event: RunEvent) -> None:
        """Pass an event of the run on, and report it once."""
        self._titles[event.step] = event.skill, event.title
        self._listener(event)
        self.once(event)

    def heard(self, call: Call, event: Event) -> None:
        """Report the progress of a step's call; texts of a run with Sensitive values are hidden."""
        key = (call.key or "").removeprefix(f"{self._order.id}/")
        step = key.rpartition(":")[0]
        if event.kind == "item":
            self._items[key] = self._items.get(key, 0) + 1
        now = time.monotonic()
        if step not in self._titles or now - self._progressed < PROGRESS_S:
            return
        self._progressed = now
        told = event.data if isinstance(event.data, dict) and event.kind == "progress" else {}
        text = "" if self._order.plan.holds_sensitive else str(told.get("text") or "")
        if event.kind == "item":
            text = f"{self._items[key]} items"
        share = told.get("fraction")
        shown = " ".join(filter(None, ("" if share is None else f"{share:.0%}", text)))
        if shown:
            skill, title = self._titles[step]
            self.hear(RunEvent(self._order.id, "progress", skill, step, title, shown))

    def state(self, state: RunState) -> None:
        """Report the state of the run."""
        order = self._order
        told = {"run_id": order.id, "skill": order.plan.skill.name, "state": state}
        self._tell("run", told, order.caller.user)

    def once(self, event: RunEvent) -> None:
        """Report an event to the workspace's listeners unless an earlier attempt has."""
        if (mark := event.mark) not in self._told:
            self._told.add(mark)
            self._tell("run-step", event.to_dict(), self._order.caller.user)


class _DispatchExecutor:
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
        return await self._dispatcher.confirmations.approve_for_run(held, call, heard, by)

    async def reject(self, held: str, call: Call, by: str | None = None) -> None:
        """Reject a pending call by its id: it never runs."""
        await self._dispatcher.confirmations.reject_for_run(held, call.caller.user, by)

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


def _strictest(name: str, spec: ToolSpec, began_on: Live, now: Live) -> BoundTool:
    """Return a tool with its definition of then, made stricter by today's."""
    mine, todays = began_on.registry.tools.get(name), now.registry.tools.get(name)
    if mine is None:
        raise ImplementationError(f"the tool {name} no longer exists")
    if mine is todays and mine.spec.hash == spec.hash:
        return mine
    least = mine.default_min
    # A missing tool adds no restriction, and a broken one can't be read.
    if todays is not None:
        least = _higher(least, todays.default_min)
        spec = tightened(spec, todays.spec, default_min=least)
    if spec.hash == mine.spec.hash and least == mine.default_min:
        return mine
    return mine.with_policy(spec, least)


def _skills(plan: Plan, live: Live) -> Iterator[Bound[Any]]:
    for name in plan.python:
        skill = live.registry.skills.get(name)
        if skill is None or skill.binding.kind == "none":
            raise ImplementationError(f"the Python of the skill {name} no longer exists")
        yield skill


def _higher(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return max(known, default=None)


def _python_gone(order: Order, error: ImplementationError) -> Question:
    """Return the question of a run whose tools or Python are gone."""
    skill = order.plan.skill
    prompt = (
        f"{skill.title} can't continue: {error}. Yes continues if it is repaired by then; "
        f"no cancels the run and undoes its steps."
    )
    return Question(order.id, "python:gone", skill.name, "Python", prompt)
