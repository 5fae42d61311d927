"""Execute runs on today's snapshot, each with its own definitions, or today's where stricter."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from toolmd._call import CallContext, Dispatcher, in_daemon_thread, start
from toolmd._call.threads import is_from_outside
from toolmd._load.weakening import tighten
from toolmd._skills.interpreter import interpret
from toolmd._skills.journal import CancelledRunError, Journal, LostRunError, Through, load
from toolmd._types.call import Call
from toolmd._types.decision import Approver, Decision
from toolmd._types.registry import Bound, BoundTool
from toolmd._types.result import EventListener, Result, SkillResult
from toolmd._types.run import Order, Question
from toolmd._workspace.live import Live
from toolmd.errors import ForeignExitError, ImplementationError, NotFoundError

LONG_S = 30 * 24 * 3600.0
"""The deadline in seconds of a skill's Python, which may wait for people; its calls have theirs."""


async def execute(current: Callable[[], Live], order: Order, journal: Journal) -> SkillResult:
    """Execute a run on the snapshot that is current; raises ParkedError where the run waits.

    If its Python is no longer available, a person decides.
    """
    live = current()
    try:
        resume = partial(asyncio.to_thread, _resume, order, live)
        live, order = await load(journal, "python", resume)
    except ImplementationError as error:
        try:
            answer = await journal.answer(_python_gone(order, error))
            journal.stopped = not answer.approved
        except CancelledRunError:
            journal.stopped = True
    with live.snapshot.resources.hold():
        executor = _DispatchExecutor(await live.ready_dispatcher())
        return await interpret(order, journal, executor)


def _resume(order: Order, now: Live) -> tuple[Live, Order]:
    """Return the snapshot on which a run goes on, and the run's order on it.

    Each tool has the run's own definition, or today's where that is stricter.

    Raises ImplementationError where a tool or a skill's Python is gone, or can't be imported.
    """
    plan, tools = order.plan, dict[str, BoundTool]()
    for name, was in plan.tools.items():
        if (today := now.registry.tools.get(name)) is None:
            raise ImplementationError(f"the tool {name} no longer exists")
        spec = was
        if today.spec.hash != was.hash:
            spec = tighten(was, today.spec, default_min=today.default_min)
        same = today.spec.hash == spec.hash
        alone = replace(today, known=spec, call_part=None, content_hash=None)
        tools[name] = today if same else alone
    bound: list[Bound[Any]] = [*tools.values()]
    for name in plan.python:
        skill = now.registry.skills.get(name)
        if skill is None or skill.binding.kind == "none":
            raise ImplementationError(f"the Python of the skill {name} no longer exists")
        bound.append(skill)
    # First, so that a failed import stops no run half-way.
    for one in bound:
        if one.binding.load is not None:
            one.binding.load()
    specs = {name: tool.spec for name, tool in tools.items()}
    if specs != plan.tools:
        order = order._replace(plan=plan.model_copy(update={"tools": specs}))
    changed = {n: tool for n, tool in tools.items() if tool is not now.registry.tools.get(n)}
    return now.with_tools(changed) if changed else now, order


def _python_gone(order: Order, error: ImplementationError) -> Question:
    """Return the question of a run whose tools or Python are gone."""
    skill = order.plan.skill
    prompt = (
        f"{skill.title} can't continue: {error}. Yes continues if it is repaired by then; "
        f"no cancels the run and undoes its steps."
    )
    return Question(order.id, "python:gone", skill.name, "Python", prompt)


class _DispatchExecutor:
    """The executor of the runs on one snapshot; see `_skills.journal.Executor`."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def call(self, call: Call) -> Result:
        """Run a call through the dispatcher."""
        return await self._dispatcher.dispatch(call)

    async def confirm(self, held: str, call: Call, by: str | None = None) -> Result:
        """Approve a pending call by its id, with the arguments of `call`, and run it."""
        return await self._dispatcher.confirmations.approve_for_run(held, call, by)

    async def reject(self, held: str, call: Call, by: str | None = None) -> None:
        """Reject a pending call by its id: it never runs."""
        who = Approver(call.caller.user, by)
        await self._dispatcher.confirmations.decide(held, Decision.reject(), who)

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
        except (Exception, LostRunError):
            raise
        except BaseException as error:
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
