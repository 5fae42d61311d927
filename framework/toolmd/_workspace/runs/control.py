"""The runs of a workspace, of any process: list, follow, resume and answer them."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from toolmd._types.fleet import Fleet
from toolmd._types.result import Result
from toolmd._types.run import (
    Answer,
    Asker,
    RunListener,
    RunQuery,
    RunState,
    RunTrace,
    RunView,
    YesOrNo,
)
from toolmd._workspace.background_loop import off_loop, sync_of
from toolmd._workspace.method_parameters import checked
from toolmd._workspace.opened import OpenProject
from toolmd.errors import NotFoundError, ToolmdError

if TYPE_CHECKING:
    from toolmd._workspace.runs.service import RunService

PAGE = 50
"""The default number of runs on a page."""
FOLLOW_S = 0.2
"""The interval at which `follow` reads a run, in seconds."""


@checked
class Runs:
    """The runs of skills by their ids.

    With a `user`, a method raises NotFoundError for the runs of other users. A host that passes
    no user acts as the operator and sees all runs.
    """

    def __init__(self, project: OpenProject) -> None:
        self._project = project
        self._service: RunService | None = None

    @property
    def service(self) -> "RunService":
        """The service that starts runs, for the rest of the workspace; made on first use.

        Programs that only call tools never import it.
        """
        from toolmd._workspace.runs.service import RunService

        project = self._project
        with project.lock:
            project.check_open()
            if self._service is None:
                self._service = RunService(
                    lambda: project.live,
                    project.clock,
                    project.workspace_events.tell,
                    project.store,
                )
                project.close_runs = self._close
            return self._service

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
        return await self.service.list(RunQuery(user, limit, place))

    list_sync = sync_of(list)  # noqa: A003 - the method above

    async def get(self, run_id: str, *, user: str | None = None) -> RunView:
        """Return one run with its steps.

        Args:
            run_id: The run.
            user: Only if it belongs to this user.

        Raises:
            NotFoundError: The run does not exist.
        """
        view = await self.service.show(run_id)
        await self._check(run_id, user)
        return view

    get_sync = sync_of(get)

    async def trace(self, run_id: str, *, user: str | None = None) -> RunTrace:
        """Return the calls of a run so far, and the state of each step.

        Args:
            run_id: The run.
            user: Only if it belongs to this user.

        Raises:
            NotFoundError: The run does not exist.
        """
        traced = await self.service.trace(run_id)
        await self._check(run_id, user)
        return traced

    trace_sync = sync_of(trace)

    async def follow(self, run_id: str, *, user: str | None = None) -> AsyncIterator[RunTrace]:
        """Yield the trace of a run of any process, now and after each change, until the run ends.

        Args:
            run_id: The run.
            user: Only if it belongs to this user.

        Raises:
            NotFoundError: The run does not exist.
        """
        import asyncio

        known: object = None
        while True:
            view = await self.get(run_id, user=user)
            now = (view.state, len(view.entries), view.questions)
            if now != known:
                known, traced = now, await self.service.trace(run_id)
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
        await self._check(run_id, user)
        return await self.service.resume(run_id, ask=ask, on_event=on_event, user=user)

    resume_sync = sync_of(resume)

    async def cancel(self, run_id: str, *, user: str | None = None) -> Result:
        """Stop a run before its next call, and undo what it did.

        Args:
            run_id: The run.
            user: Only if it belongs to this user.

        Raises:
            NotFoundError: The run does not exist.
        """
        await self._check(run_id, user)
        return await self.service.cancel(run_id)

    cancel_sync = sync_of(cancel)

    async def answer(
        self, run_id: str, answer: YesOrNo, *, key: str | None = None, user: str | None = None
    ) -> Result:
        """Answer a question of a run and continue the run; the first answer counts.

        Args:
            run_id: The run.
            answer: Yes or no, or an Answer with a person's words or with other arguments.
            key: The question's key; optional if only one question is open.
            user: The person who answers.

        Raises:
            NotFoundError: The run does not exist, or it has no open question.
            ToolmdError: several questions are open, and no key names one.
        """
        await self._check(run_id, user)
        given = Answer(approved=answer) if isinstance(answer, bool) else answer
        if key is None:
            key = await self._only_key(run_id)
        result = await self.service.decide(run_id, key, given._replace(by=given.by or user), user)
        if result is None:
            raise NotFoundError(f"there is no run {run_id!r}; `toolmd runs` lists them")
        return result

    answer_sync = sync_of(answer)

    async def start(self) -> bool:
        """Execute interrupted and due runs until the workspace closes.

        Returns:
            False if runs are kept in memory only, so that nothing was started.
        """
        from toolmd._workspace.runs.schedules import Schedules

        engines = self.service.engines
        if engines.keep:
            engine = await off_loop(engines.durable)
            if engine.each_second is None:
                engine.each_second = Schedules(self.service, engine).look
            await off_loop(engine.start)
        return engines.keep

    start_sync = sync_of(start)

    async def may_be_due(self) -> bool:
        """Return whether there is anything for `start`: a durable skill, or a kept run."""
        skills = self._project.live.registry.skills.values()
        if any(bound.spec.durable for bound in skills):
            return True
        return await off_loop(self.service.engines.holds_runs)

    may_be_due_sync = sync_of(may_be_due)

    async def unfinished(self) -> Mapping[RunState, int]:
        """Return the number of unfinished runs by state: `running`, `waiting`, `stuck`."""
        return await off_loop(self.service.engines.unfinished)

    unfinished_sync = sync_of(unfinished)

    async def fleet(self) -> Fleet:
        """Return the processes that execute runs, what waits for them, and the use of limits."""
        from toolmd._workspace.runs.fleet import read_fleet

        return await off_loop(read_fleet, self._project, self.service)

    fleet_sync = sync_of(fleet)

    async def stop(self, timeout_s: float, on_hold: Callable[[], None] | None = None) -> None:
        """Stop to execute runs here, for good; the next start or another process continues them.

        Each run stops at its next recorded step. Callers that wait for one get a ToolmdError.

        Args:
            timeout_s: The time in seconds for the calls of runs to end.
            on_hold: Called in a thread once no further step begins here.
        """
        await off_loop(self.service.engines.stop, timeout_s, on_hold)

    stop_sync = sync_of(stop)

    def _close(self) -> None:
        if self._service is not None:
            self._service.close()

    async def _check(self, run_id: str, user: str | None) -> None:
        if user is not None and await self.service.user_of(run_id) != user:
            raise NotFoundError(f"there is no run {run_id!r} of this user")

    async def _only_key(self, run_id: str) -> str:
        questions = (await self.service.show(run_id)).questions
        keys = [question.key for question in questions if question.asks]
        if not keys:
            raise NotFoundError(f"run {run_id} waits for no answer")
        if len(keys) > 1:
            raise ToolmdError(f"run {run_id} asks several things: name one key of {keys}")
        return keys[0]
