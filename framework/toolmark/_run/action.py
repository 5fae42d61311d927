"""Do what a step says: ask, use a tool or a skill, choose; each thing once, by its key."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from toolmark._model.result import Held, Result, SkillResult
from toolmark._model.run import Answer, Question
from toolmark._model.skill import Call as Use
from toolmark._model.skill import Step
from toolmark._model.tool import ToolSpec
from toolmark._run.frame import Frame, RefusedError, StepError, Undo

MAX_PROMPTS = 3
"""How often one call may come back for another yes: what was shown may grow stale."""
PASSING = frozenset({"failed", "unknown"})

logger = logging.getLogger(__name__)
RunSkill = Callable[[Frame, str, dict[str, Any], str], Awaitable[SkillResult]]


class Done(NamedTuple):
    """A call as the record holds it: JSON."""

    outcome: str
    data: Any
    code: str
    message: str
    held: Held | None

    @classmethod
    def of(cls, result: Result) -> "Done":
        """Keep what a run needs of a result."""
        error = result.error
        code, said = (error.code, error.message) if error else ("", result.message)
        return cls(result.outcome, result.data, code, said, result.confirmation)

    def to_json(self) -> dict[str, Any]:
        """Give the record."""
        kept = self._asdict()
        return {**kept, "held": self.held and self.held._asdict()}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> "Done":
        """Read a record."""
        held = record["held"]
        return cls(**{**record, "held": Held(**held) if held else None})


class Actions:
    """Carries out steps; a skill within a skill is run by what `run_skill` is."""

    def __init__(self, run_skill: RunSkill) -> None:
        self._run_skill = run_skill

    async def ask(self, frame: Frame, step: Step, index: int | None = None) -> Any:
        """Ask a person and give their words, or true; raises RefusedError."""
        assert step.ask is not None
        answer = await _answered(frame, step, _question(frame, step, index, frame.text(step.ask)))
        return True if answer.text is None else answer.text

    async def use(self, frame: Frame, step: Step, index: int | None = None) -> Any:
        """Call the step's tool or skill and give its data; raises RefusedError and StepError.

        The step's Ask approves exactly these arguments. A failure that may pass is tried again as
        often as the step says. Undo is bound as soon as the call has taken effect.
        """
        use = step.use
        assert use is not None
        _require(frame, use.name)
        arguments = _arguments(frame, use)
        approved = False
        if step.ask is not None:
            question = _question(frame, step, index, frame.text(step.ask), use.name, arguments)
            answer = await _answered(frame, step, question)
            arguments = {**arguments, **(answer.arguments or {})}
            approved = True
        tries = 1 + (step.on_error.retries if step.on_error else 0)
        for attempt in range(1, tries + 1):
            try:
                value = await self._once(frame, step, index, arguments, attempt, approved=approved)
            except StepError as error:
                if attempt == tries or not error.passing:
                    raise
                frame.tell("progress", step, f"{error.message} Trying again.", index)
            else:
                return value
        raise AssertionError("a step is tried at least once")

    async def _once(  # noqa: PLR0913 - one attempt, told whole
        self,
        frame: Frame,
        step: Step,
        index: int | None,
        arguments: dict[str, Any],
        attempt: int,
        *,
        approved: bool,
    ) -> Any:
        use = step.use
        assert use is not None
        key = _keyed(f"{frame.key(step, index)}:{use.name}", attempt)
        value = await self.call(frame, step, use.name, arguments, key, approved=approved)
        names = {step.save_as: value} if step.save_as else {}
        inner = frame.within(names)
        if step.undo is not None:
            bound = _bound(inner, step, frame.key(step, index))
            frame.undos[:] = [*(u for u in frame.undos if u.key != bound.key), bound]
        if step.check is not None and step.for_each is None and not inner.holds(step.check):
            message = f"the check `{step.check.cel}` does not hold"
            raise StepError("check_failed", message, passing=True)
        return value

    async def call(  # noqa: PLR0913 - one call, told whole
        self,
        frame: Frame,
        step: Step,
        name: str,
        arguments: dict[str, Any],
        key: str,
        *,
        approved: bool = False,
        undoing: bool = False,
    ) -> Any:
        """Call a tool or a skill once by its key and give its data, or raise StepError."""
        if name in frame.order.plan.skills:
            return _data(await self._run_skill(frame, name, arguments, f"{key}/"))
        done = await _take(frame, step, name, arguments, key, undoing=undoing)
        for number in range(MAX_PROMPTS):
            if done.outcome != "confirm" or done.held is None:
                break
            if not approved:
                question = _confirmation(frame, step, name, arguments, key, number, done.held)
                answer = await _answered(frame, step, question)
                arguments = {**arguments, **(answer.arguments or {})}
            approved = False
            done = await _confirm(frame, name, arguments, f"{key}:confirm{number}", done.held,
                                  undoing=undoing)  # fmt: skip
        if done.outcome == "ok":
            return done.data
        raise _failure(name, done)


def _require(frame: Frame, name: str) -> None:
    """Hold the skill to its list: the restriction is enforced at each call."""
    if name not in frame.spec.required_tools and name not in frame.spec.required_skills:
        message = f"{frame.spec.name} does not list {name} among its Required Tools or Skills"
        raise StepError("not_required", message)


def _arguments(frame: Frame, use: Use) -> dict[str, Any]:
    plan = frame.order.plan
    spec = plan.tools.get(use.name) or plan.skills.get(use.name)
    if spec is None:
        raise StepError("unknown_tool", f"there is no tool or skill {use.name}")
    return frame.arguments(use.arguments, spec.parameters)


def _bound(frame: Frame, step: Step, key: str) -> Undo:
    undo = step.undo
    assert undo is not None
    _require(frame, undo.name)
    try:
        return Undo(key, step, undo.name, _arguments(frame, undo))
    except StepError as error:
        message = f"it was done, but can't be undone later: {error.message}"
        raise StepError(error.code, message) from None


def _question(  # noqa: PLR0913, PLR0917 - a question told whole
    frame: Frame,
    step: Step,
    index: int | None,
    prompt: str,
    tool: str | None = None,
    arguments: dict[str, Any] | None = None,
) -> Question:
    key = f"{frame.key(step, index)}:ask"
    sensitivity = "low"
    if tool is not None and (spec := frame.order.plan.tools.get(tool)) is not None:
        sensitivity = spec.safety.sensitivity or "low"
    return Question(frame.order.id, key, frame.spec.name, step.title, prompt, tool, arguments,
                    sensitivity, step.timeout_s)  # fmt: skip


def _confirmation(  # noqa: PLR0913, PLR0917 - a question told whole
    frame: Frame,
    step: Step,
    name: str,
    arguments: dict[str, Any],
    key: str,
    number: int,
    held: Held,
) -> Question:
    return Question(frame.order.id, f"{key}:ask{number}", frame.spec.name, step.title, held.prompt,
                    name, arguments, held.sensitivity, step.timeout_s)  # fmt: skip


async def _answered(frame: Frame, step: Step, question: Question) -> Answer:
    answer = await frame.journal.answer(question)
    if not answer.approved:
        raise RefusedError(late=answer.late)
    frame.tell("progress", step, "approved")
    return answer


async def _take(  # noqa: PLR0913 - one call, told whole
    frame: Frame,
    step: Step,
    name: str,
    arguments: dict[str, Any],
    key: str,
    *,
    undoing: bool,
) -> Done:
    async def effect() -> dict[str, Any]:
        call = frame.call(name, arguments, key)
        try:
            async with asyncio.timeout(step.timeout_s):
                return (await _reached(name, frame.hands.call(call))).to_json()
        except TimeoutError:
            return _late(frame.order.plan.tools.get(name), name, step.timeout_s).to_json()

    return Done.from_json(await frame.journal.perform(key, effect, undoing=undoing))


async def _confirm(  # noqa: PLR0913 - one call, told whole
    frame: Frame,
    name: str,
    arguments: dict[str, Any],
    key: str,
    held: Held,
    *,
    undoing: bool,
) -> Done:
    async def effect() -> dict[str, Any]:
        call = frame.call(name, arguments, key)
        return (await _reached(name, frame.hands.confirm(held.id, call))).to_json()

    return Done.from_json(await frame.journal.perform(key, effect, undoing=undoing))


async def _reached(name: str, answer: Awaitable[Result]) -> Done:
    """Give what came back; a fault on the way is a failure, so that what was done is undone."""
    try:
        return Done.of(await answer)
    except Exception:
        logger.exception("the call of %s did not reach its tool", name)
        message = "the call broke on its way; the log holds the reason."
        return Done("unknown", None, "outcome_unknown", message, None)


def _late(tool: ToolSpec | None, name: str, timeout_s: float | None) -> Done:
    within = f"{name} did not answer within {timeout_s:g} s"
    if tool is not None and (tool.read_only or tool.idempotent != "no"):
        return Done("failed", None, "timeout", f"{within}.", None)
    message = f"{within}; it may have taken effect all the same."
    return Done("unknown", None, "outcome_unknown", message, None)


def _failure(name: str, done: Done) -> StepError:
    code = done.code or {"confirm": "confirmation_required", "review": "held_for_review"}.get(
        done.outcome, "tool_error"
    )
    passing = done.outcome in PASSING or code == "rate_limited"
    return StepError(code, f"{name}: {done.message or code}", passing=passing)


def _data(result: SkillResult) -> Any:
    if result.success:
        return result.data
    raise StepError(result.code or "skill_failed", result.message)


def _keyed(key: str, attempt: int) -> str:
    return key if attempt == 1 else f"{key}#{attempt}"
