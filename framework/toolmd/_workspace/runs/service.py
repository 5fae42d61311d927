"""Begin, answer, resume and cancel runs; each of these returns a Result."""

import asyncio
import datetime as dt
import secrets
from collections.abc import Awaitable, Callable
from time import perf_counter

from toolmd._call.arguments import mismatch
from toolmd._call.denial import CallDenied
from toolmd._call.pipeline import check_call
from toolmd._skills.engine import utc_now
from toolmd._skills.engine.outcomes import result_of, unanswered, unknown
from toolmd._skills.plan import make_plan
from toolmd._skills.replay import listed, trace
from toolmd._store.store import Store
from toolmd._types.call import Call
from toolmd._types.plan import Plan
from toolmd._types.registry import Specs
from toolmd._types.result import Failure, Result, SkillResult
from toolmd._types.run import (
    Answer,
    Asker,
    Clock,
    Order,
    Question,
    RunListener,
    RunQuery,
    RunTrace,
    RunView,
)
from toolmd._types.skill import SkillSpec
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError, MalformedError
from toolmd._workspace.listeners import WorkspaceEventListener
from toolmd._workspace.names import known_name
from toolmd._workspace.runs.answers import crashed, denied, late, waits
from toolmd._workspace.runs.asking import asking
from toolmd._workspace.runs.budgets import LateRunError, in_time, within
from toolmd._workspace.runs.engines import Engines
from toolmd._workspace.runs.questions import Questions
from toolmd._workspace.runs.run_executor import RunExecutor
from toolmd._workspace.snapshot.live import Live
from toolmd.errors import NotFoundError

MAX_CALLS = 1000
"""Calls of models beyond these are forgotten, the oldest first; their runs are still kept."""


class RunService:
    """Begins runs, and continues them."""

    def __init__(
        self,
        current: Callable[[], Live],
        clock: Clock | None,
        tell: WorkspaceEventListener,
        store: Store,
    ) -> None:
        """`current` returns the snapshot on which runs begin; `tell` reports their events."""
        self._current = current
        self._tell = tell
        self._executor = RunExecutor(current, tell)
        self.clock = clock or utc_now
        self.engines = Engines(self._executor.execute, self.clock, store)
        self.questions = Questions(self.engines)
        self._scheduled: tuple[object, tuple[SkillSpec, ...]] = None, ()
        """A registry, and its skills with a Schedule."""
        self._calls: dict[str, Call] = {}
        """The calls of runs that have an id or a budget, which the stored runs lack."""

    async def run(
        self,
        call: Call,
        *,
        ask: Asker | None = None,
        on_event: RunListener | None = None,
        run_id: str | None = None,
        at: dt.datetime | None = None,
    ) -> Result:
        """Run a skill to its end, or until it waits for a person; see `Workspace.run`."""
        began, live = perf_counter(), self._current()
        skill = live.registry.skills[known_name(call.tool, live.registry, "skill")]
        call = call._replace(tool=skill.name)
        try:
            check_call(call)
            inputs = ArgumentsValidator(skill.spec.parameters).validate(call.arguments)
        except (MalformedError, InvalidArgumentsError, CallDenied) as error:
            denial = error if isinstance(error, CallDenied) else CallDenied(mismatch(error))
            return await self._done(call, denied(call, denial.failure), began)
        call = call._replace(arguments=inputs)
        if call.dry_run or live.rehearses:
            allowed = Result(success=True, tool=call.tool, outcome="allowed")
            return await self._done(call, allowed, began)
        await live.settle()
        engine = self.engines.begin(skill.spec)
        plan = _plan(skill.spec, live, live.python_hash)
        run_id = run_id or f"run-{secrets.token_hex(8)}"
        order = Order(run_id, plan, inputs, call.caller, call.confidence)
        self._executor.begin(order.id, live)
        self._keep(order.id, call)
        if at is not None:
            self._tell("run", {"run_id": order.id, "skill": skill.name, "state": "scheduled"},
                       call.caller.user)  # fmt: skip
            scheduled = await engine.schedule(order, at.astimezone(dt.UTC))
            return await self._ended(order.id, call, scheduled, began)
        running = engine.run(order, ask=ask and asking(ask, call.caller.user), watch=on_event)
        return await self._in_time(order.id, call, running, began)

    async def decide(
        self, run_id: str, key: str, answer: Answer, user: str | None
    ) -> Result | None:
        """Answer a question and continue the run; None if this user has no such run."""
        began, call = perf_counter(), await self._call_of(run_id)
        if call is None or (user is not None and call.caller.user not in {None, user}):
            return None
        question = await self._open(run_id, key)
        notes: tuple[str, ...] = ()
        if question is not None:
            own = user is not None and user == call.caller.user
            fault = await asyncio.to_thread(self.questions.fault, question, answer, own=own)
            if fault is not None:
                return await self._done(call, denied(call, fault), began)
            notes = await asyncio.to_thread(self.questions.notes, question, answer)
        try:
            engine = await self.engines.of(run_id)
            running = engine.answer(run_id, key, answer)
            result = await self._in_time(run_id, call, running, began)
        except NotFoundError as error:
            return await self._done(
                call, denied(call, Failure(unanswered(error), str(error))), began
            )
        except Exception as error:  # noqa: BLE001 - the deciding person gets a result
            return await self._done(call, crashed(call, error), began)
        return result._replace(notes=(*notes, *result.notes))

    async def resume(
        self,
        run_id: str,
        *,
        ask: Asker | None = None,
        on_event: RunListener | None = None,
        user: str | None = None,
    ) -> Result:
        """Resume a stopped run; raises NotFoundError. `user` is the person that `ask` asks."""
        began, engine = perf_counter(), await self.engines.of(run_id)
        call = await self._known(run_id)
        ended = await engine.resume(run_id, ask=ask and asking(ask, user), watch=on_event)
        return await self._ended(run_id, call, ended, began)

    async def cancel(self, run_id: str) -> Result:
        """Stop a run before its next call, and undo what it did; raises NotFoundError."""
        began, engine = perf_counter(), await self.engines.of(run_id)
        call = await self._known(run_id)
        return await self._ended(run_id, call, await engine.cancel(run_id), began)

    async def show(self, run_id: str) -> RunView:
        """Return one run step by step, without Sensitive values; raises NotFoundError."""
        view = await self._kept(run_id)
        order = await asyncio.to_thread(self.engines.order, run_id)
        if order is None or not order.plan.holds_sensitive:
            return view
        return (await trace(order, view)).view

    async def list(self, query: RunQuery) -> tuple[RunView, ...]:
        """Return a page of runs, without their steps and without Sensitive values."""
        views = await self.engines.runs(query)

        def shown(view: RunView) -> RunView:
            order = self.engines.order(view.id)
            return view._replace(entries=()) if order is None else listed(view, order)

        return await asyncio.to_thread(lambda: tuple(map(shown, views)))

    async def _kept(self, run_id: str) -> RunView:
        return await (await self.engines.of(run_id)).show(run_id)

    async def trace(self, run_id: str) -> RunTrace:
        """Return the calls of a run so far, and the states of its steps; raises NotFoundError."""
        view = await self._kept(run_id)
        order = await asyncio.to_thread(self.engines.order, run_id)
        if order is None:
            raise NotFoundError(
                f"run {run_id!r} is no longer stored; `toolmd runs` lists the stored runs"
            )
        return await trace(order, view)

    async def user_of(self, run_id: str) -> str | None:
        """Return the user of a run; None if it has none."""
        return (await self._known(run_id)).caller.user

    def is_repeatable(self, name: str) -> bool:
        """Return whether a skill may run again after an unknown outcome, as all its tools may."""
        live = self._current()
        skill = live.registry.skills.get(name)
        if skill is None:
            return False
        return all(tool.is_repeatable for tool in _plan(skill.spec, live, "").tools.values())

    def runs_on_changed_python(self) -> dict[str, int]:
        """Return how many runs of each skill wait and began with other Python; it blocks.

        Raises UnreachableError where the store can't be used.
        """
        changed: dict[str, int] = {}
        if self.engines.keep:
            today = self._current().python_hash
            for plan, number in self.engines.durable().store.waiting_plans():
                if plan.code != today:
                    changed[plan.skill.name] = changed.get(plan.skill.name, 0) + number
        return changed

    def scheduled(self) -> tuple[SkillSpec, ...]:
        """Return the durable skills with a Schedule in today's snapshot."""
        registry = self._current().registry
        if self._scheduled[0] is not registry:
            specs = [bound.spec for bound in registry.skills.values()]
            some = tuple(spec for spec in specs if spec.schedule is not None and spec.durable)
            self._scheduled = registry, some
        return self._scheduled[1]

    def close(self) -> None:
        """Stop the runs of this process; stored runs continue at the next start."""
        self.engines.close()
        self._executor.close()

    def _keep(self, run_id: str, call: Call) -> None:
        if call.id is not None or call.budget is not None:
            self._calls[run_id] = call
        while len(self._calls) > MAX_CALLS:
            del self._calls[next(iter(self._calls))]

    async def _call_of(self, run_id: str) -> Call | None:
        """Return the call that began a run, in any process; None if the run is not stored."""
        order = await asyncio.to_thread(self.engines.order, run_id)
        if order is None:
            return None
        if (call := self._calls.get(run_id)) is not None:
            return call
        name = order.plan.skill.name
        return Call(name, order.inputs, confidence=order.confidence, caller=order.caller)

    async def _known(self, run_id: str) -> Call:
        if (call := await self._call_of(run_id)) is None:
            await self._kept(run_id)
            raise unknown(run_id)
        return call

    async def _open(self, run_id: str, key: str) -> Question | None:
        """Return a question that is still open."""
        try:
            questions = (await self._kept(run_id)).questions
        except NotFoundError:
            return None
        return next((question for question in questions if question.key == key), None)

    async def _in_time(
        self, run_id: str, call: Call, running: Awaitable[SkillResult], began: float
    ) -> Result:
        """Wait for a run, no longer than the budget of the plan that called it."""
        if (budget := call.budget) is None:
            return await self._ended(run_id, call, await running, began)
        left = budget.timeout_ms / 1000 - (perf_counter() - began)
        try:
            ended = await in_time(running, left, lambda: self.cancel(run_id))
        except LateRunError:
            repeatable = await asyncio.to_thread(self.is_repeatable, call.tool)
            return await self._done(call, late(run_id, call, budget, repeatable=repeatable), began)
        result = await self._ended(run_id, call, ended, began)
        return within(result, budget) if result.success else result

    async def _ended(self, run_id: str, call: Call, ended: SkillResult, began: float) -> Result:
        if ended.code == "waiting":
            questions = (await self._kept(run_id)).questions
            await self._report_waiting(run_id)
            shown = await asyncio.to_thread(self.questions.inputs, run_id)
            waiting = waits(run_id, call._replace(arguments=shown), ended, questions)
            return await self._done(call, waiting, began)
        if ended.code != "stuck":
            self._executor.end(run_id)
            self._calls.pop(run_id, None)
        return await self._done(call, result_of(run_id, call.tool, ended), began)

    async def _report_waiting(self, run_id: str) -> None:
        """Report the questions of a run, now that `pending` lists them."""
        for one in await asyncio.to_thread(self.questions.of, run_id):
            told = {"id": one.id, "state": "pending", "tool": one.call.tool}
            self._tell("pending", told, one.call.caller.user)

    async def _done(self, call: Call, result: Result, began: float) -> Result:
        """Add what every Result has: the call's id, its duration and the crisis flag."""
        result = result._replace(tool_call_id=call.id, duration_ms=(perf_counter() - began) * 1000)
        return (await self._current().ready_dispatcher()).finish(call, result)


def _plan(spec: SkillSpec, live: Live, code: str) -> Plan:
    """Return the plan of a run: the specs with which it executes."""
    tools, skills = live.registry.tools, live.registry.skills
    python = [name for name, bound in skills.items() if bound.binding.kind != "none"]
    return make_plan(spec, Specs(tools), Specs(skills), python, code)
