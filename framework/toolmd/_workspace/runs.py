"""The runs of a workspace, of any process: begin, list, follow, resume, cancel and answer them."""

import asyncio
import datetime as dt
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from threading import Lock
from time import perf_counter

from toolmd._call.arguments import mismatch
from toolmd._call.checks import check_call
from toolmd._call.denial import CallDenied
from toolmd._skills.engine import Engine
from toolmd._skills.journal import utc_now
from toolmd._skills.plan import make_plan
from toolmd._skills.replay import trace, without_steps
from toolmd._skills.store import NoQuestionError, result_of, unknown
from toolmd._store import MEMORY
from toolmd._store.database import Database, SqliteDatabase
from toolmd._types.call import Budget, Call
from toolmd._types.identity import Identity
from toolmd._types.registry import Specs
from toolmd._types.result import Failure, Outcome, Result, SkillResult
from toolmd._types.run import (
    Answer,
    Asker,
    Order,
    RunListener,
    RunQuery,
    RunTrace,
    RunView,
    YesOrNo,
)
from toolmd._types.skill import SkillSpec
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError, MalformedError
from toolmd._workspace.background_loop import off_loop, sync_of
from toolmd._workspace.live import Live
from toolmd._workspace.names import known_name
from toolmd._workspace.project import Project
from toolmd._workspace.run_executor import execute
from toolmd._workspace.run_questions import Questions, ask_through, waits
from toolmd._workspace.schedules import Schedules
from toolmd.errors import NotFoundError, ToolmdError, logged

PAGE = 50
"""The default number of runs on a page."""
FOLLOW_S = 0.2
"""The interval at which `follow` reads a run, in seconds."""
LOOK_S = 0.2
"""The pause between requests to stop a late run, in seconds."""
MOST_CALLS = 1000
"""Calls of models beyond these are forgotten, the oldest first; their runs are still stored."""
_stopping: set[asyncio.Task[None]] = set()
"""Tasks that stop late runs; the event loop itself keeps no reference to them."""


class Runs:
    """The runs of skills by their ids.

    With a `user`, a method raises NotFoundError for the runs of other users. A host that passes
    no user acts as the operator and sees all runs.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._clock = project.clock or utc_now
        self._memory = self._engine_on(SqliteDatabase(None))
        self._durable: Engine | None = None
        self._lock = Lock()
        self._stopped = False
        self._calls: dict[str, Call] = {}
        """The calls of runs that have an id or a budget, which the stored runs lack."""
        self.keeps = project.store.setting != MEMORY
        """Whether runs outlive this process."""
        self.questions = Questions(self._engines)
        """The open questions of all runs."""

    async def begin(
        self,
        call: Call,
        *,
        ask: Asker | None = None,
        on_event: RunListener | None = None,
        run_id: str | None = None,
        at: dt.datetime | None = None,
    ) -> Result:
        """Begin the run of a skill that a Call names; see `Workspace.run`.

        Args:
            call: The call with its caller.
            ask: As in `Workspace.run`.
            on_event: As in `Workspace.run`.
            run_id: As in `Workspace.run`.
            at: As in `Workspace.run`.

        Raises:
            NotFoundError: The skill is unknown.
        """
        began, live = perf_counter(), self._live
        skill = live.registry.skills[known_name(call.tool, live.registry, "skill")]
        call = call._replace(tool=skill.name)
        try:
            check_call(call)
            notes: list[str] = []
            inputs = ArgumentsValidator(skill.spec.parameters).validate(call.arguments, notes)
        except (MalformedError, InvalidArgumentsError, CallDenied) as error:
            denial = error if isinstance(error, CallDenied) else CallDenied(mismatch(error))
            return await self._finish(call, _denial_result(call, denial.failure), began)
        call = call._replace(arguments=inputs)
        if call.dry_run:
            allowed = Result(success=True, tool=call.tool, outcome="allowed")
            return await self._finish(call, allowed, began)
        await live.settle()
        engine = self.durable() if skill.spec.durable and self.keeps else self._memory
        tools, skills = live.registry.tools, live.registry.skills
        python = [name for name, bound in skills.items() if bound.binding.kind != "none"]
        plan = make_plan(skill.spec, Specs(tools), Specs(skills), python, live.python_hash)
        run_id = run_id or f"run-{secrets.token_hex(8)}"
        caller = Identity.of(live.settings).typed(call.caller)
        order = Order(run_id, plan, inputs, caller, call.confidence)
        if call.id is not None or call.budget is not None:
            self._calls[run_id] = call
        while len(self._calls) > MOST_CALLS:
            del self._calls[next(iter(self._calls))]
        if at is not None:
            scheduled = await engine.schedule(order, at.astimezone(dt.UTC))
            result = await self._result(run_id, call, scheduled, began)
            return result._replace(notes=(*result.notes, *notes))
        running = engine.run(order, ask=ask and ask_through(ask, call.caller.user), watch=on_event)
        result = await self._result_in_time(order, call, running, began)
        return result._replace(notes=(*result.notes, *notes))

    async def list(
        self, *, user: str | None = None, limit: int = PAGE, after: str | None = None
    ) -> tuple[RunView, ...]:
        """Return a page of the runs that are kept, the newest first, without their steps.

        Args:
            user: Only the runs of this user.
            limit: At most so many; a page that has fewer is the last.
            after: The id of the last run of the page before.

        Raises:
            NotFoundError: the run `after` is not kept any more.
        """
        place = None
        if after is not None:
            view = await self.get(after, user=user)
            place = (view.began, view.id)
        views: list[RunView] = []
        for engine in await off_loop(self._engines):
            views += await engine.runs(RunQuery(user, limit, place))
        views.sort(key=lambda view: (view.began, view.id), reverse=True)

        def shown(view: RunView) -> RunView:
            order = self.questions.order(view.id)
            return view._replace(entries=()) if order is None else without_steps(view, order)

        return await off_loop(lambda: tuple(map(shown, views[:limit])))

    async def get(self, run_id: str, *, user: str | None = None) -> RunView:
        """Return one run with its steps.

        Args:
            run_id: The run.
            user: Only if it belongs to this user.

        Raises:
            NotFoundError: The run does not exist.
        """
        order, view = await self._order(run_id, user), await self._view(run_id)
        return (await trace(order, view)).view if order.plan.holds_sensitive else view

    async def trace(self, run_id: str, *, user: str | None = None) -> RunTrace:
        """Return the calls of a run so far, and the state of each step.

        Args:
            run_id: The run.
            user: Only if it belongs to this user.

        Raises:
            NotFoundError: The run does not exist.
        """
        order = await self._order(run_id, user)
        return await trace(order, await self._view(run_id))

    async def follow(self, run_id: str, *, user: str | None = None) -> AsyncIterator[RunTrace]:
        """Yield the trace of a run of any process, now and after each change, until the run ends.

        Args:
            run_id: The run.
            user: Only if it belongs to this user.

        Raises:
            NotFoundError: The run does not exist.
        """
        known: object = None
        while True:
            view = await self.get(run_id, user=user)
            now = (view.state, len(view.entries), view.questions)
            if now != known:
                known, traced = now, await self.trace(run_id)
                yield traced
                if traced.view.state in {"done", "failed", "cancelled", "stuck"}:
                    return
            await asyncio.sleep(FOLLOW_S)

    def follow_sync(self, run_id: str, *, user: str | None = None) -> Iterator[RunTrace]:
        """Same as `follow`, for callers that can't await; the calling thread waits."""
        following, loop = self.follow(run_id, user=user), self._project.loop

        async def step() -> RunTrace | None:
            return await anext(following, None)

        while (traced := loop.run(step())) is not None:
            yield traced

    async def resume(
        self,
        run_id: str,
        *,
        ask: Asker | None = None,
        on_event: RunListener | None = None,
        user: str | None = None,
    ) -> Result:
        """Resume a stopped run in this process.

        Args:
            run_id: The run.
            ask: As in `Workspace.run`.
            on_event: As in `Workspace.run`.
            user: Only if the run belongs to this user, whom `ask` asks.

        Raises:
            NotFoundError: The run does not exist.
        """
        began, order = perf_counter(), await self._order(run_id, user)
        engine = await self._engine(run_id)
        ended = await engine.resume(run_id, ask=ask and ask_through(ask, user), watch=on_event)
        return await self._result(run_id, self._call(order), ended, began)

    async def cancel(self, run_id: str, *, user: str | None = None) -> Result:
        """Stop a run before its next call, and undo what it did.

        Args:
            run_id: The run.
            user: Only if it belongs to this user.

        Raises:
            NotFoundError: The run does not exist.
        """
        began, order = perf_counter(), await self._order(run_id, user)
        ended = await (await self._engine(run_id)).cancel(run_id)
        return await self._result(run_id, self._call(order), ended, began)

    async def answer(
        self, run_id: str, answer: YesOrNo, *, key: str | None = None, user: str | None = None
    ) -> Result:
        """Answer a question of a run and continue the run; the first answer counts.

        Args:
            run_id: The run.
            answer: Yes or no, or an Answer with a person's words or with other arguments.
            key: The question's key; optional if only one question is open.
            user: The person who answers.

        Returns:
            The run's Result; only the run's own user gets its Sensitive values.

        Raises:
            NotFoundError: The run does not exist, or it has no open question.
            ToolmdError: several questions are open, and no key names one.
        """
        return await self._settle(run_id, answer, key, user)

    async def _settle(
        self,
        run_id: str,
        answer: YesOrNo,
        key: str | None,
        user: str | None,
        *,
        approves: bool = False,
    ) -> Result:
        """Answer a question, as `answer` does.

        Args:
            run_id: The run.
            answer: Yes or no, or an Answer.
            key: The question's key; optional if only one question is open.
            user: The person who answers.
            approves: Whether the person is one whom the question's By names.

        Returns:
            The run's Result.
        """
        began, order = perf_counter(), await self._order(run_id, user)
        call, asked = self._call(order), (await self._view(run_id)).questions
        if key is None:
            keys = [question.key for question in asked if question.asks]
            if not keys:
                raise NotFoundError(f"run {run_id} waits for no answer")
            if len(keys) > 1:
                raise ToolmdError(f"run {run_id} asks several things: name one key of {keys}")
            key = keys[0]
        given = Answer(approved=answer) if isinstance(answer, bool) else answer
        given = given._replace(by=given.by or user)
        question = next((question for question in asked if question.key == key), None)
        notes: tuple[str, ...] = ()
        if question is not None:
            own = user is not None and user == call.caller.user
            check = partial(self.questions.examine, question, given, own=own, approves=approves)
            found = await off_loop(check)
            if isinstance(found, Failure):
                return await self._finish(call, _denial_result(call, found), began)
            notes = found
        try:
            running = (await self._engine(run_id)).answer(run_id, key, given)
            result = await self._result_in_time(order, call, running, began)
        except NotFoundError as error:
            code = error.code if isinstance(error, NoQuestionError) else "confirmation_not_found"
            denial = _denial_result(call, Failure(code, str(error)))
            return await self._finish(call, denial, began)
        except Exception as error:  # noqa: BLE001 - the deciding person gets a result
            return await self._finish(call, crash_result(call, error), began)
        if result.data is not None and user != call.caller.user:
            shown = (await self.get(run_id)).result
            result = result._replace(data=None if shown is None else shown.data)
        return result._replace(notes=(*notes, *result.notes))

    async def start(self) -> bool:
        """Execute interrupted and due runs until the workspace closes.

        Returns:
            False if runs are kept in memory only, so that nothing was started.
        """
        if self.keeps:
            engine = await off_loop(self.durable)
            if engine.each_second is None:
                engine.each_second = Schedules(self.scheduled, self.begin, engine, self._clock).look
            await off_loop(engine.start)
        return self.keeps

    async def stop(self, timeout_s: float, on_hold: Callable[[], None] | None = None) -> None:
        """Stop to execute runs here, for good; the next start or another process continues them.

        Each run stops at its next recorded step. Callers that wait for one get a ToolmdError.

        Args:
            timeout_s: The time in seconds for the calls of runs to end.
            on_hold: Called in a thread once no further step begins here.
        """
        await off_loop(self._stop, timeout_s, on_hold)

    def close(self) -> None:
        """Stop the runs of this process; stored runs continue at the next start."""
        self._memory.close()
        self._stop(None, None)

    def durable(self) -> Engine:
        """Return the engine that stores runs, opened on first use."""
        with self._lock:
            if self._stopped:
                raise ToolmdError("this process is ending; its runs continue at the next start")
            if self._durable is None:
                self._durable = self._engine_on(self._project.store.database)
            return self._durable

    def scheduled(self) -> tuple[SkillSpec, ...]:
        """Return the durable skills with a Schedule in today's snapshot."""
        specs = [bound.spec for bound in self._project.live.registry.skills.values()]
        return tuple(spec for spec in specs if spec.schedule is not None and spec.durable)

    def changed_python(self) -> Mapping[str, int]:
        """Return how many runs of each skill wait and began with other Python; it blocks.

        Raises:
            UnreachableError: The store can't be used.
        """
        changed: Counter[str] = Counter()
        if self.keeps:
            today = self._live.python_hash
            for plan, number in self.durable().store.waiting_plans():
                if plan.code != today:
                    changed[plan.skill.name] += number
        return changed

    @property
    def _live(self) -> Live:
        self._project.check_open()
        return self._project.live

    def _engine_on(self, database: Database) -> Engine:
        run = partial(execute, lambda: self._project.live)
        tell = self._project.workspace_events.tell
        return Engine(run, database, clock=self._clock, tell=tell)

    def _engines(self) -> tuple[Engine, ...]:
        """Return the engines that may have runs; a store that has no record is not opened."""
        known = self._durable is not None or self._project.store.may_hold_records
        return (self._memory, self.durable()) if self.keeps and known else (self._memory,)

    async def _engine(self, run_id: str) -> Engine:
        """Return the engine that has this run, or would have it."""
        self._project.check_open()
        if self._memory.store.orders([run_id]):
            return self._memory
        return (await off_loop(self._engines))[-1]

    def _stop(self, timeout_s: float | None, on_hold: Callable[[], None] | None) -> None:
        with self._lock:
            durable, self._durable = self._durable, None
            self._stopped = True
        if durable is not None:
            durable.hold()
        if on_hold is not None:
            on_hold()
        if durable is not None:
            durable.close(timeout_s)

    async def _view(self, run_id: str) -> RunView:
        return await (await self._engine(run_id)).show(run_id)

    async def _order(self, run_id: str, user: str | None) -> Order:
        """Return the order of a run of any process; raises NotFoundError."""
        self._project.check_open()
        order = await off_loop(self.questions.order, run_id)
        if order is None:
            raise unknown(run_id)
        if user is not None and order.caller.user != user:
            raise NotFoundError(f"there is no run {run_id!r} of this user")
        return order

    def _call(self, order: Order) -> Call:
        """Return the call that began a run."""
        name = order.plan.skill.name
        known = Call(name, order.inputs, confidence=order.confidence, caller=order.caller)
        return self._calls.get(order.id, known)

    async def _result_in_time(
        self, order: Order, call: Call, running: Awaitable[SkillResult], began: float
    ) -> Result:
        """Wait for a run, no longer than the budget of the plan that called it.

        A late run is stopped in the background, since its undo may be long.
        """
        run_id = order.id
        if (budget := call.budget) is None:
            return await self._result(run_id, call, await running, began)
        left = budget.timeout_ms / 1000 - (perf_counter() - began)
        work = asyncio.ensure_future(running)

        async def stop_late() -> None:
            while not work.done():
                with suppress(Exception):  # It may not even have begun.
                    await self.cancel(run_id)
                await asyncio.wait({work}, timeout=LOOK_S)
            work.exception()

        try:
            await asyncio.wait({work}, timeout=max(left, 0.0))
        except asyncio.CancelledError:
            work.cancel()
            raise
        if not work.done():
            stopping = asyncio.ensure_future(stop_late())
            _stopping.add(stopping)
            stopping.add_done_callback(_stopping.discard)
            return await self._finish(call, _late_result(order, call, budget), began)
        return await self._result(run_id, call, work.result(), began)

    async def _result(self, run_id: str, call: Call, ended: SkillResult, began: float) -> Result:
        """Return the Result of a run that ended or waits."""
        if ended.code == "waiting":
            pending = await off_loop(self.questions.of, run_id)
            # Now `pending` lists them.
            for one in pending:
                told = {"id": one.id, "state": "pending", "tool": one.call.tool}
                self._project.workspace_events.tell("pending", told, one.call.caller.user)
            return await self._finish(call, waits(call, ended, pending), began)
        if ended.code != "stuck":
            self._calls.pop(run_id, None)
        return await self._finish(call, result_of(run_id, call.tool, ended), began)

    async def _finish(self, call: Call, result: Result, began: float) -> Result:
        """Add what every Result has: the call's id, its duration and the crisis flag."""
        result = result._replace(tool_call_id=call.id, duration_ms=(perf_counter() - began) * 1000)
        dispatcher = await self._project.live.ready_dispatcher()
        return await dispatcher.finish_run(call, result)

    begin_sync = sync_of(begin)
    list_sync = sync_of(list)  # noqa: A003 - the method above
    get_sync = sync_of(get)
    trace_sync = sync_of(trace)
    resume_sync = sync_of(resume)
    cancel_sync = sync_of(cancel)
    answer_sync = sync_of(answer)
    start_sync = sync_of(start)
    stop_sync = sync_of(stop)


def crash_result(call: Call, error: Exception) -> Result:
    """Return the Result of a run that crashed; the log has the reason."""
    reference = logged(error, "the run of %s failed", call.tool)
    message = f"{call.tool} raised an error; its log reference is {reference}."
    failure = Failure("tool_error", message)
    return Result(success=False, tool=call.tool, outcome="failed", error=failure, attempts=1)


def _denial_result(call: Call, failure: Failure) -> Result:
    """Return the Result of a run that did not begin, or of a decision that does not count."""
    return Result(success=False, tool=call.tool, outcome="denied", error=failure)


def _late_result(order: Order, call: Call, budget: Budget) -> Result:
    """Return the Result of a run that did not end within the budget of its plan."""
    repeatable = all(tool.is_repeatable for tool in order.plan.tools.values())
    message = (
        f"{call.tool} did not end within {budget.timeout_ms / 1000:g} s: its run {order.id} is"
        f" stopped before its next call, and what it did is undone."
    )
    outcome: Outcome = "failed" if repeatable else "unknown"
    failure = Failure("timeout" if repeatable else "outcome_unknown", message)
    return Result(success=False, tool=call.tool, outcome=outcome, error=failure, attempts=1,
                  run_id=order.id)  # fmt: skip
