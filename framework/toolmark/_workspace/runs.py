"""The runs of a workspace: ordered, each on the snapshot on which it began, and looked after."""

import inspect
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from toolmark._bind.checks import Specs
from toolmark._call.threads import in_thread
from toolmark._model.call import NOBODY, Caller
from toolmark._model.result import SkillResult
from toolmark._model.run import Answer, Order, Question
from toolmark._run.engine import Engine
from toolmark._run.engine.memory import MemoryEngine, utc_now
from toolmark._run.interpreter import Interpreter
from toolmark._run.journal import Journal
from toolmark._run.plan import make_plan
from toolmark._values import MalformedError, read_object
from toolmark._workspace.hands import DoorHands
from toolmark._workspace.listeners import Asker, Clock, Watcher
from toolmark._workspace.live import Live
from toolmark._workspace.outward import known_name

Play = Callable[[Order, Journal], Awaitable[SkillResult]]


class Runs:
    """Starts runs and keeps their snapshots alive until they end."""

    def __init__(self, current: Callable[[], Live], clock: Clock | None = None) -> None:
        self._current = current
        self._lives: dict[str, Live] = {}
        self.engine: Engine = MemoryEngine(self._play, clock=clock or utc_now)

    async def run(  # noqa: PLR0913 - the face of a run, by keyword
        self,
        name: str,
        inputs: Mapping[str, Any] | str | bytes,
        *,
        caller: Caller = NOBODY,
        confidence: float | None = None,
        ask: Asker | None = None,
        on_event: Watcher | None = None,
        run_id: str | None = None,
    ) -> SkillResult:
        """Run a skill to its end, or until it waits for a person; see `Workspace.run`."""
        live = self._current()
        skills = live.registry.skills
        skill = skills[known_name(name, skills, "skill")]
        try:
            given = read_object(inputs)
        except MalformedError as error:
            told = f"malformed_call: {error}"
            return SkillResult(success=False, message=str(error), error=told, code="malformed_call")
        python = [known for known, bound in skills.items() if bound.binding.kind != "none"]
        plan = make_plan(skill.spec, Specs(live.registry.tools), Specs(skills), python)
        order = Order(run_id or f"run-{secrets.token_hex(8)}", plan, given, caller, confidence)
        self._lives.setdefault(order.id, live)
        with live.snapshot.resources.hold():
            result = await self.engine.run(order, ask=ask and _asking(ask), watch=on_event)
        if result.code != "waiting":
            self._lives.pop(order.id, None)
        return result

    async def answer(self, run_id: str, key: str, answer: Answer) -> SkillResult:
        """Answer a run's question and run on; raises NotFoundError where it is open no more."""
        live = self._lives.get(run_id) or self._current()
        with live.snapshot.resources.hold():
            result = await self.engine.answer(run_id, key, answer)
        if result.code != "waiting":
            self._lives.pop(run_id, None)
        return result

    async def _play(self, order: Order, journal: Journal) -> SkillResult:
        live = self._lives.get(order.id) or self._current()
        hands = DoorHands(live.door or live.open_door())
        return await Interpreter(hands).play(order, journal)


def _asking(ask: Asker) -> Callable[[Question], Awaitable[Answer | None]]:
    async def asked(question: Question) -> Answer | None:
        if inspect.iscoroutinefunction(ask):
            reply = await ask(question)
        else:
            # Someone at a terminal takes long: time-outs and parallel steps must not wait.
            reply = await in_thread(lambda: ask(question))
            reply = await reply if inspect.isawaitable(reply) else reply
        return Answer(approved=reply) if isinstance(reply, bool) else reply

    return asked
