"""Run skills, and look after the runs: those under way, those that wait, those that ended."""

from collections.abc import Callable, Mapping
from typing import Any

from toolmd._model.call import Caller
from toolmd._model.result import SkillResult
from toolmd._model.run import Answer, Asker, RunListener, RunTrace, RunView
from toolmd._workspace.opened import OpenProject
from toolmd.errors import NotFoundError


class RunControl(OpenProject):
    """The runs of a workspace, by their id, whichever process began them."""

    async def run(  # noqa: PLR0913 - the face of a run, by keyword
        self,
        name: str,
        inputs: Mapping[str, Any] | str | bytes = "{}",
        *,
        confidence: float | None = None,
        message: str = "",
        user: str | None = None,
        patient: str | None = None,
        conversation: str | None = None,
        ask: Asker | None = None,
        on_event: RunListener | None = None,
        run_id: str | None = None,
    ) -> SkillResult:
        """Run a skill to its end, or until it waits for a person (`code` is then `waiting`).

        `ask` takes a Question and gives an Answer, yes or no, or None where nobody is at hand.
        `on_event` hears of each step. Raises NotFoundError for a skill that is not there.
        """
        result: SkillResult = await self._all_runs().run(
            name,
            inputs,
            caller=Caller(user, patient, message, conversation),
            confidence=confidence,
            ask=ask,
            on_event=on_event,
            run_id=run_id,
        )
        return result

    def run_sync(
        self, name: str, inputs: Mapping[str, Any] | str | bytes = "{}", **options: Any
    ) -> SkillResult:
        """Do as `run`, for those who can't await; the calling thread waits."""
        return self._loop.run(self.run(name, inputs, **options))

    def runs(self, user: str | None = None) -> tuple[RunView, ...]:
        """Give the runs that are kept, the latest first, without their steps.

        Those of one user, or of all.
        """
        views: tuple[RunView, ...] = self._loop.run(self._all_runs().engines.runs())
        return tuple(view for view in views if user is None or self._user_of(view.id) == user)

    def show_run(self, run_id: str, user: str | None = None) -> RunView:
        """Give one run step by step; raises NotFoundError, also for a run of another user."""
        view: RunView = self._loop.run(self._all_runs().show(run_id))
        if user is not None and self._user_of(run_id) != user:
            raise NotFoundError(f"there is no run {run_id!r} of this user")
        return view

    async def trace_run(self, run_id: str) -> RunTrace:
        """Give what a run did so far, and how each of its steps fares; raises NotFoundError."""
        traced: RunTrace = await self._all_runs().trace(run_id)
        return traced

    def trace_run_sync(self, run_id: str) -> RunTrace:
        """Do as `trace_run`, for those who can't await; the calling thread waits."""
        return self._loop.run(self.trace_run(run_id))

    def follow_run_sync(self, run_id: str, heard: Callable[[RunTrace], None]) -> RunTrace:
        """Tell of a run each time that it got further, whoever plays it, until it ends.

        The calling thread waits. Raises NotFoundError.
        """
        traced: RunTrace = self._loop.run(self._all_runs().follow(run_id, heard))
        return traced

    def _user_of(self, run_id: str) -> str | None:
        order = self._all_runs().engines.order(run_id)
        return None if order is None else order.caller.user

    async def resume_run(
        self, run_id: str, *, ask: Asker | None = None, on_event: RunListener | None = None
    ) -> SkillResult:
        """Take up a run that stands still, in this process; raises NotFoundError."""
        result: SkillResult = await self._all_runs().resume(run_id, ask=ask, on_event=on_event)
        return result

    async def cancel_run(self, run_id: str) -> SkillResult:
        """Stop a run before its next call, and undo what it did; raises NotFoundError."""
        result: SkillResult = await self._all_runs().cancel(run_id)
        return result

    def resume_run_sync(self, run_id: str, **options: Any) -> SkillResult:
        """Do as `resume_run`, for those who can't await; the calling thread waits."""
        return self._loop.run(self.resume_run(run_id, **options))

    def cancel_run_sync(self, run_id: str) -> SkillResult:
        """Do as `cancel_run`, for those who can't await; the calling thread waits."""
        return self._loop.run(self.cancel_run(run_id))

    def resolve_run_sync(self, run_id: str, key: str, *, done: bool) -> SkillResult:
        """Say whether a call took effect over which a process died, and run on."""
        answer = Answer(approved=done)
        result: SkillResult = self._loop.run(self._all_runs().answer(run_id, key, answer))
        return result

    def start_runs(self) -> bool:
        """Play from now on what was cut off, and what gets due, until the workspace closes.

        False where runs are in memory only, and nothing can be taken up.
        """
        engines = self._all_runs().engines
        if engines.keep:
            engines.durable().start()
        return bool(engines.keep)

    def _all_runs(self) -> Any:
        from toolmd._workspace.runs.runs import Runs

        with self._lock:
            self._check_open()
            if self._runs is None:
                self._runs = Runs(
                    lambda: self._live, self._clock, self._notices.tell, self._plugins
                )
            return self._runs
