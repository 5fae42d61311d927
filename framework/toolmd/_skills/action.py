"""Carry out a step: ask a person, or call a tool or skill once under its key; undo it."""

import itertools
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from toolmd._skills.frame import DeclinedError, Frame, InsteadError, StepError, Undo
from toolmd._skills.person import answered, question
from toolmd._skills.step_call import RecordedCall
from toolmd._skills.text import sentence
from toolmd._types.result import SkillResult
from toolmd._types.run import UNDOING
from toolmd._types.skill import Step, Use

MOST_SILENT = 3
"""How often a repeatable call is made that gives no answer, before it counts as failed."""
_SILENT = frozenset({"timeout", "outcome_unknown"})
RunSkill = Callable[[Frame, str, dict[str, Any], str], Awaitable[SkillResult]]


class StepActions:
    """Carries out steps; `run_skill` runs a skill that a step uses."""

    def __init__(self, run_skill: RunSkill) -> None:
        self._run_skill = run_skill

    async def ask(self, frame: Frame, step: Step, index: int | None = None) -> Any:
        """Ask a person and return their text, or true; raises DeclinedError."""
        answer = await answered(frame, step, question(frame, step, index))
        return True if answer.text is None else answer.text

    async def use(self, frame: Frame, step: Step, index: int | None = None) -> Any:
        """Call the step's tool or skill and return its data; raises DeclinedError and StepError.

        An answer in place of the call becomes its result; then there is nothing to undo.
        The step's Ask approves exactly these arguments. A failure that may pass is retried as often
        as the step allows. A repeatable call without an answer is made again under its key: its
        effect may be there, so On error waits, and an overloaded machine fails no run. Undo is
        bound as soon as the call has taken effect.
        """
        try:
            return await self._used(frame, step, index)
        except InsteadError as instead:
            _hold_check(frame, step, instead.words)
            return instead.words

    async def _used(self, frame: Frame, step: Step, index: int | None) -> Any:
        use = step.use
        assert use is not None
        require(frame, use.name)
        arguments = _arguments(frame, use)
        approved, by = step.ask is not None, None
        if approved:
            asked = question(frame, step, index, use.name, arguments)
            answer = await answered(frame, step, asked)
            # A person who edits a critical call sees it once more in the form that will run.
            approved = not (answer.arguments and asked.sensitivity == "critical")
            arguments, by = {**arguments, **(answer.arguments or {})}, answer.by
        for attempt in itertools.count(1):
            try:
                value = await self.call(
                    frame, step, use.name, arguments, index=index, attempt=attempt,
                    approved=approved, by=by,
                )  # fmt: skip
                _settle(frame, step, index, value)
            except StepError as error:
                if attempt >= _tries(frame, step, use.name, error):
                    raise
                frame.tell("progress", step, f"{error.message} Trying again.", index)
            else:
                return value
        raise AssertionError("counting does not end")

    async def call(  # noqa: PLR0913 - one call with all its parts
        self,
        frame: Frame,
        step: Step,
        name: str,
        arguments: dict[str, Any],
        *,
        index: int | None = None,
        attempt: int = 1,
        approved: bool = False,
        by: str | None = None,
    ) -> Any:
        """Call a tool or a skill for a step and return its data, or raise StepError.

        `by` is the person who approved it, where their name is known.
        """
        frame.secrets.learn(arguments, frame.parameters_of(name))
        place = f"{frame.key(step, index)}:{name}"
        key = place if attempt == 1 else f"{place}#{attempt}"
        if name in frame.order.plan.skills:
            return _data(await self._run_skill(frame, name, arguments, f"{key}/"))
        recorded_call = RecordedCall(frame, step, name, arguments, key, place, by=by)
        data = await recorded_call.run(approved=approved)
        tool = frame.order.plan.tools.get(name)
        frame.secrets.learn_result(data, None if tool is None else tool.returns)
        return data

    async def undo(self, undo: Undo) -> None:
        """Call the compensating tool or skill; its own effects are not undone in turn."""
        frame, key = undo.frame.within({}), f"{undo.key}{UNDOING}{undo.tool}"
        if undo.tool in frame.order.plan.skills:
            _data(await self._run_skill(frame, undo.tool, undo.arguments, f"{key}/"))
            return
        recorded_call = RecordedCall(frame, undo.step, undo.tool, undo.arguments, key, key)
        with suppress(InsteadError):  # A person undid the step by hand.
            await recorded_call.run(approved=False)


def require(frame: Frame, name: str) -> None:
    """Raise StepError where the skill's lists do not name the tool or skill."""
    if name not in frame.spec.required_tools and name not in frame.spec.required_skills:
        message = f"{frame.spec.name} does not list {name} among its Required Tools or Skills"
        raise StepError("not_required", message)


def _tries(frame: Frame, step: Step, name: str, error: StepError) -> int:
    """Return how often a call that failed so may be made; 1 where a second could act twice."""
    tool = frame.order.plan.tools.get(name)
    if tool is None or not tool.is_repeatable or not error.passing:
        return 1
    allowed = 1 if step.on_error is None else 1 + step.on_error.retries
    return max(allowed, MOST_SILENT) if error.code in _SILENT else allowed


def _arguments(frame: Frame, use: Use) -> dict[str, Any]:
    plan = frame.order.plan
    spec = plan.tools.get(use.name) or plan.skills.get(use.name)
    if spec is None:
        raise StepError("unknown_tool", f"there is no tool or skill {use.name}")
    made = frame.arguments(use.arguments, spec.parameters)
    frame.secrets.learn(made, spec.parameters)
    return made


def _settle(frame: Frame, step: Step, index: int | None, value: Any) -> None:
    """Bind the Undo of a call that took effect, and evaluate its Check."""
    if step.undo is not None:
        frame.bind(_bound(_with(frame, step, value), step, frame.key(step, index)))
    _hold_check(frame, step, value)


def _with(frame: Frame, step: Step, value: Any) -> Frame:
    return frame.within({step.save_as: value} if step.save_as else {})


def _hold_check(frame: Frame, step: Step, value: Any) -> None:
    if step.check is None or step.for_each is not None:
        return
    if not _with(frame, step, value).holds(step.check):
        message = f"the check `{step.check.cel}` does not hold"
        raise StepError("check_failed", message, passing=True)


def _bound(frame: Frame, step: Step, key: str) -> Undo:
    undo = step.undo
    assert undo is not None
    require(frame, undo.name)
    try:
        return Undo(key, step, undo.name, _arguments(frame, undo), frame)
    except StepError as error:
        message = f"it was done, but can't be undone later: {error.message}"
        raise StepError(error.code, message) from None


def _data(result: SkillResult) -> Any:
    if result.success:
        return result.data
    raise StepError(result.code or "skill_failed", result.message)


async def roll_back(frame: Frame, actions: StepActions) -> list[str]:
    """Run the bound compensations in reverse; return a sentence for each failure.

    A failure does not prevent the others from running.
    """
    left = []
    while frame.undos:
        undo = frame.undos.pop()
        try:
            await actions.undo(undo)
        except (StepError, DeclinedError) as error:
            reason = error.message if isinstance(error, StepError) else "it was declined"
            left.append(sentence(f"Not undone: step {undo.key} ({undo.step.title}): {reason}"))
            undo.frame.tell("kept", undo.step, left[-1])
        else:
            undo.frame.tell("undone", undo.step, undo.tool)
    return left
