"""The runs of a workspace: ordered, each on the snapshot on which it began, and looked after."""

import asyncio
import inspect
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from toolmd._call.redact import changes, redacted, without_sensitive
from toolmd._call.threads import AROUND
from toolmd._model.call import NOBODY, Call, Caller
from toolmd._model.held import HeldCall
from toolmd._model.plan import Plan
from toolmd._model.registry import Bound, Specs
from toolmd._model.result import SkillResult
from toolmd._model.run import (
    Answer,
    Asker,
    Clock,
    Order,
    Question,
    RunListener,
    RunTrace,
    RunView,
)
from toolmd._model.skill import SkillSpec
from toolmd._model.tool import ToolSpec
from toolmd._run.engine import OpenQuestion
from toolmd._run.engine.memory import utc_now
from toolmd._run.interpreter import Interpreter
from toolmd._run.journal import Journal, ParkedError
from toolmd._run.plan import make_plan
from toolmd._run.retrace import trace
from toolmd._values import MalformedError, read_object
from toolmd._workspace.listeners import NoticeListener
from toolmd._workspace.names import known_name
from toolmd._workspace.runs.engines import Engines
from toolmd._workspace.runs.executor import DoorExecutor
from toolmd._workspace.runs.journal import NotifyingJournal
from toolmd._workspace.runs.pinned import PinnedLives, python_gone
from toolmd._workspace.snapshot.live import Live
from toolmd.errors import ImplementationError, NotFoundError

FOLLOW_S = 0.2
"""How often a run of another process is looked at, in seconds."""
_OVER = frozenset(("done", "failed", "cancelled", "stuck"))


class Runs:
    """Starts runs and keeps their snapshots alive until they end."""

    def __init__(
        self,
        current: Callable[[], Live],
        clock: Clock | None,
        tell: NoticeListener,
        given: Mapping[str, object] | None = None,
    ) -> None:
        """Play runs on the snapshot that `current` gives when they begin; `tell` of them.

        `given` are the plugins that the workspace was opened with, by name.
        """
        self._current = current
        self._pinned = PinnedLives(current, given)
        self._tell = tell
        self._lives: dict[str, Live] = {}
        self._marks: dict[str, set[tuple[str, str, str]]] = {}
        self.engines = Engines(self._play, clock or utc_now, current().settings)

    async def run(  # noqa: PLR0913 - the face of a run, by keyword
        self,
        name: str,
        inputs: Mapping[str, Any] | str | bytes,
        *,
        caller: Caller = NOBODY,
        confidence: float | None = None,
        ask: Asker | None = None,
        on_event: RunListener | None = None,
        run_id: str | None = None,
    ) -> SkillResult:
        """Run a skill to its end, or until it waits for a person; see `Workspace.run`."""
        live = self._current()
        skill = live.registry.skills[known_name(name, live.registry, "skill")]
        try:
            given = read_object(inputs)
        except MalformedError as error:
            return SkillResult.failed("malformed_call", str(error))
        engine, code = await self.engines.begin(skill, live)
        plan = _plan(skill.spec, live, code)
        order = Order(run_id or new_run_id(), plan, given, caller, confidence)
        self._lives.setdefault(order.id, live)
        result = await engine.run(order, ask=ask and asking(ask), watch=on_event)
        return await self._ended(order.id, result)

    async def show(self, run_id: str) -> RunView:
        """Give one run step by step; raises NotFoundError."""
        return await (await self.engines.of(run_id)).show(run_id)

    async def trace(self, run_id: str) -> RunTrace:
        """Give what a run did so far, and how its steps fare; raises NotFoundError."""
        view = await self.show(run_id)
        order = await asyncio.to_thread(self.engines.order, run_id)
        if order is None:
            raise NotFoundError(
                f"run {run_id!r} is kept no more; `toolmd runs` lists those that are"
            )
        return await trace(order, view)

    async def follow(self, run_id: str, heard: Callable[[RunTrace], None]) -> RunTrace:
        """Tell of a run each time that it got further, until it ends; raises NotFoundError."""
        known: object = None
        while True:
            view = await self.show(run_id)
            now = (view.state, len(view.entries), view.questions)
            if now != known:
                known, traced = now, await self.trace(run_id)
                heard(traced)
                if traced.view.state in _OVER:
                    return traced
            await asyncio.sleep(FOLLOW_S)

    async def answer(self, run_id: str, key: str, answer: Answer) -> SkillResult:
        """Answer a run's question and run on; raises NotFoundError where it is open no more."""
        engine = await self.engines.of(run_id)
        return await self._ended(run_id, await engine.answer(run_id, key, answer))

    async def resume(
        self, run_id: str, *, ask: Asker | None = None, on_event: RunListener | None = None
    ) -> SkillResult:
        """Take up a run that stands still; raises NotFoundError."""
        engine = await self.engines.of(run_id)
        result = await engine.resume(run_id, ask=ask and asking(ask), watch=on_event)
        return await self._ended(run_id, result)

    async def cancel(self, run_id: str) -> SkillResult:
        """Stop a run before its next call, and undo what it did; raises NotFoundError."""
        engine = await self.engines.of(run_id)
        return await self._ended(run_id, await engine.cancel(run_id))

    def is_repeatable(self, name: str) -> bool:
        """Tell whether a skill may be run again whatever became of a run: all its tools may."""
        live = self._current()
        skill = live.registry.skills.get(name)
        if skill is None:
            return False
        return all(tool.is_repeatable for tool in _plan(skill.spec, live, "").tools.values())

    def pending(self) -> tuple[HeldCall, ...]:
        """Give the questions of waiting runs, as calls that are held."""
        return self._waiting()

    def _waiting(self, run_id: str | None = None) -> tuple[HeldCall, ...]:
        return tuple(map(self._held, self.engines.waiting(run_id)))

    def close(self) -> None:
        """End what is under way here; runs that are kept go on at the next start."""
        self.engines.close()
        self._pinned.close()

    def changed(self, question: Question, edit: Mapping[str, Any] | None) -> tuple[str, ...]:
        """Say what an edit of an open question's call changes."""
        before = question.arguments
        if not before or not edit:
            return ()
        return changes(before, {**before, **edit}, self._asked(question).parameters)

    def _asked(self, question: Question) -> ToolSpec | SkillSpec:
        """Give whose call a question is about; the run's skill where it is about none."""
        order = self.engines.order(question.run_id)
        assert order is not None
        name, plan = question.tool or "", order.plan
        return plan.tools.get(name) or plan.skills.get(name) or plan.skill

    def _held(self, one: OpenQuestion) -> HeldCall:
        question = one.question
        order = self.engines.order(question.run_id)
        assert order is not None
        plan = order.plan
        asked = self._asked(question)
        given = (question.arguments if question.tool is not None else order.inputs) or {}
        prompt = without_sensitive(question.prompt, given, asked.parameters)
        prompt = without_sensitive(prompt, order.inputs, plan.skill.parameters)
        name = f"{question.run_id}/{question.key}"
        call = Call(question.tool or plan.skill.name, given, name, caller=order.caller)
        shown = redacted(given, asked.parameters)
        return HeldCall(name, question.kind or "confirm", call, "", prompt, question.sensitivity,
                        one.opened, one.expires, shown=shown)  # fmt: skip

    async def _ended(self, run_id: str, result: SkillResult) -> SkillResult:
        if result.code not in {"waiting", "stuck"}:
            self._lives.pop(run_id, None)
        elif result.code == "waiting":
            await self._tell_waiting(run_id)
        return result

    async def _tell_waiting(self, run_id: str) -> None:
        """Tell what a run asks once `pending` lists it; its steps tell of it a moment before."""
        for one in await asyncio.to_thread(self._waiting, run_id):
            told = {"id": one.id, "state": "pending", "tool": one.call.tool}
            self._tell("pending", told, one.call.caller.user)

    async def _play(self, order: Order, journal: Journal) -> SkillResult:
        noted = self._marks.setdefault(order.id, set())
        notifying = NotifyingJournal(order, journal, self._tell, noted)
        notifying.state("running")
        try:
            live, order = await self._taken_up(order, notifying)
            with live.snapshot.resources.hold():
                executor = DoorExecutor(live.door or live.open_door())
                result = await Interpreter(executor).play(order, notifying)
        except ParkedError as parked:
            notifying.parked(parked)
            raise
        self._marks.pop(order.id, None)
        self._lives.pop(order.id, None)
        notifying.ended(result)
        return result

    async def _taken_up(self, order: Order, journal: NotifyingJournal) -> tuple[Live, Order]:
        """Give the snapshot on which a run goes on: its own, under today's policy where stricter.

        Where its Python can't be had any more a person decides; raises ParkedError.
        """
        live = self._lives.get(order.id)
        if live is None:
            try:
                engine = self.engines.durable()
                live = await asyncio.to_thread(self._pinned.began_on, order, engine.code.find)
            except ImplementationError as error:
                await journal.agreed(python_gone(order, error))
                live = self._current()
            self._lives[order.id] = live
        if live is self._current():
            return live, order
        return await asyncio.to_thread(self._pinned.strictest, order, live)


def new_run_id() -> str:
    """Give a name that no run has."""
    return f"run-{secrets.token_hex(8)}"


def _plan(spec: SkillSpec, live: Live, code: str) -> Plan:
    """Pin what a run is interpreted by."""
    tools, skills = live.registry.tools, live.registry.skills
    python = [name for name, bound in skills.items() if bound.binding.kind != "none"]
    every: list[tuple[str, Bound[Any]]] = [*tools.items(), *skills.items()]
    foreign = [name for name, bound in every if bound.binding.kind == "entry_point"]
    return make_plan(spec, Specs(tools), Specs(skills), python, foreign, code)


def asking(ask: Asker) -> Callable[[Question], Awaitable[Answer | None]]:
    """Make a coroutine function of what asks a person, whichever way it does.

    Who is at hand is the run's own user: a review waits for somebody else.
    """

    async def asked(question: Question) -> Answer | None:
        if question.kind == "review":
            return None
        if inspect.iscoroutinefunction(ask):
            reply = await ask(question)
        else:
            # Someone at a terminal takes long: time-outs and parallel steps must not wait.
            reply = await AROUND.run(lambda: ask(question))
            reply = await reply if inspect.isawaitable(reply) else reply
        return Answer(approved=reply) if isinstance(reply, bool) else reply

    return asked
