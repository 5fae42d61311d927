"""Run a skill: a small machine interprets its steps in order over a record."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolmd._skills.action import StepActions, roll_back
from toolmd._skills.choose import chosen
from toolmd._skills.frame import (
    MAX_SKILL_DEPTH,
    DeclinedError,
    End,
    Frame,
    Go,
    ItemError,
    Jump,
    StepError,
)
from toolmd._skills.journal import CancelledRunError, Executor, Journal
from toolmd._skills.jump import cancelled, failure, jump_of, rejection, stopped
from toolmd._skills.loop import each
from toolmd._skills.plan import lacking
from toolmd._skills.python import run_python
from toolmd._skills.section import section_index
from toolmd._skills.text import sentence, value_of
from toolmd._skills.wait import waited
from toolmd._types.result import SkillResult
from toolmd._types.run import Order
from toolmd._types.schema import Schema
from toolmd._types.skill import Step, WorkflowSection
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError
from toolmd._validation.redact import Secrets
from toolmd.errors import hiding

_ANYTHING = Schema()
MAX_NOTES = 16
"""How many failed steps a result names; a loop may have a thousand."""


class Interpreter:
    """Executes runs; it keeps no state of a run except the executor."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._actions = StepActions(self._within)
        self.secrets = Secrets()
        """The Sensitive values of the latest run, which must not be shown."""

    async def execute(self, order: Order, journal: Journal) -> SkillResult:
        """Run the order as far as possible and return its result.

        Effects in the journal are not repeated, so executing a run again resumes it after it was
        parked or its process died. Raises ParkedError.
        """
        self.secrets = Secrets()
        frame = Frame(
            order.plan.skill,
            order,
            journal,
            journal.reach(self._executor),
            order.caller,
            dict(order.inputs),
            secrets=self.secrets,
        )
        with hiding(self.secrets.hide if order.plan.holds_sensitive else None):
            result = await self._skill(frame)
        hide = self.secrets.hide
        error = None if result.error is None else hide(result.error)
        message = hide(result.message + _left_undone(frame, result))
        notes = tuple(map(hide, (*result.notes, *_notes(frame))))
        return replace(result, run_id=order.id, message=message, error=error, notes=notes)

    async def _within(
        self, frame: Frame, name: str, inputs: dict[str, Any], prefix: str
    ) -> SkillResult:
        """Run a skill, or its Python, for a step; Python undoes its own steps."""
        around = None if frame.spec.name in frame.order.plan.python else frame
        inner = replace(
            frame,
            spec=frame.order.plan.skills[name],
            names=inputs,
            prefix=prefix,
            depth=frame.depth + 1,
            undos=[],
        )
        return await self._skill(inner, around)

    async def _skill(self, frame: Frame, around: Frame | None = None) -> SkillResult:
        """Run a skill; on success, its compensations pass to the enclosing frame `around`.

        Raises CancelledRunError to the enclosing skill, which must not continue as after a failure.
        """
        ready = _admitted(frame)
        if isinstance(ready, SkillResult):
            return ready
        in_python = ready.spec.name in ready.order.plan.python
        if not (in_python or ready.spec.executable):
            message = (
                f"{ready.spec.name} can't run: its workflow is prose, and no Python is "
                f"next to {ready.spec.source.path}"
            )
            return SkillResult.failed("not_executable", message)
        try:
            if in_python:
                return await run_python(ready, self._actions)
            end = await self._sections(ready)
            if end.success and around is not None:
                around.undos.extend(ready.undos)
            elif end.success:
                await ready.journal.go_on()
        except CancelledRunError:
            if around is not None:
                around.undos.extend(ready.undos)
                raise
            end = cancelled(ready)
        except StepError as error:
            end = End(success=False, message=error.message, code=error.code)
        return await self._ended(ready, end)

    async def _ended(self, frame: Frame, end: End) -> SkillResult:
        if end.success:
            message = end.message or f"{frame.spec.title}: done."
            return SkillResult(success=True, message=message, data=dict(end.data))
        left = [*frame.doubts, *await roll_back(frame, self._actions)]
        message = " ".join([sentence(end.message), *left]) if left else end.message
        said = end.error or end.message
        return SkillResult(success=False, message=message, error=said, code=end.code)

    async def _sections(self, frame: Frame) -> End:
        sections = frame.spec.workflow_sections
        at = 0
        while True:
            jump = await self._section(frame, sections[at])
            if not isinstance(jump, Go):
                return jump or End(success=True)
            at = section_index(sections, jump.target, after=at)

    async def _section(self, frame: Frame, section: WorkflowSection) -> Jump:
        for step in section.steps:
            if (jump := await self._step(frame, step)) is not None:
                return jump
        return None

    async def _step(self, frame: Frame, step: Step) -> Jump:
        if not step.acts:
            return None
        try:
            if step.when is not None and not frame.holds(step.when):
                frame.tell("skipped", step)
                return None
            frame.tell("started", step)
            jump = await self._act(frame, step)
        except DeclinedError as declined:
            return rejection(frame, step, declined)
        except ItemError as item:
            frame.tell("failed", step, f"at {item.key}")
            return item.jump
        except StepError as error:
            frame.tell("failed", step, error.message)
            return failure(frame, step, error)
        frame.tell("done", step)
        return jump

    async def _act(self, frame: Frame, step: Step) -> Jump:
        if step.for_each is not None:
            value: Any = await each(frame, step, self._actions)
            return value if isinstance(value, (Go, End)) else self._saved(frame, step, value)
        if step.wait is not None:
            await waited(frame, step)
        if step.use is not None:
            value = await self._actions.use(frame, step)
        else:
            value = await self._actions.ask(frame, step) if step.ask is not None else None
            if step.returns is not None:
                message = "" if step.message is None else frame.text(step.message)
                return End(success=True, message=message, data=_returned(frame, step))
            if step.stop is not None:
                return stopped(frame.text(step.stop))
            if step.choose is not None:
                value = await chosen(frame, step)
                if isinstance(value, (Go, End)):
                    return value
        return self._saved(frame, step, value)

    def _saved(self, frame: Frame, step: Step, value: Any) -> Jump:
        if step.save_as is not None:
            frame.names[step.save_as] = value
        if step.if_empty is not None and _is_empty(value):
            return jump_of(frame, step.if_empty)
        # RecordedCall evaluates the check of a call, because it can retry the call.
        checked = step.use is not None and step.for_each is None
        if step.check is not None and not checked and not frame.holds(step.check):
            raise StepError("check_failed", f"the check `{step.check.cel}` does not hold")
        return None


def _left_undone(frame: Frame, result: SkillResult) -> str:
    """Return what a message of success must not hide."""
    if not result.success or not frame.failures:
        return ""
    titles = dict.fromkeys(failed.title for failed in frame.failures)
    return f" Not done: {', '.join(titles)}."


def _notes(frame: Frame) -> list[str]:
    """Return the reasons of failed steps, at most `MAX_NOTES`."""
    notes = [failed.note for failed in frame.failures]
    more = len(notes) - MAX_NOTES
    return [*notes[:MAX_NOTES], f"{more} more of its steps failed."] if more > 0 else notes


def _admitted(frame: Frame) -> Frame | SkillResult:
    """Check the inputs against the Input Schema, and add the caller's context from them."""
    spec = frame.spec
    if frame.depth > MAX_SKILL_DEPTH:
        message = f"more than {MAX_SKILL_DEPTH} skills use one another"
        return SkillResult.failed("too_deep", message)
    try:
        inputs = ArgumentsValidator(spec.parameters).validate(frame.names)
    except InvalidArgumentsError as error:
        said = "; ".join(problem.message for problem in error.problems)
        return SkillResult.failed("invalid_arguments", f"{spec.name} can't begin: {said}")
    caller = frame.caller
    supplied = {fact: inputs[name] for fact, name in spec.context.items() if inputs.get(name)}
    for fact, value in supplied.items():
        if caller.context.get(fact, value) != value:
            message = f"{spec.context[fact]} names another {fact} than the caller's context"
            return SkillResult.failed("context_required", message)
    if supplied:
        caller = caller._replace(context={**caller.context, **supplied})
    if (denied := lacking(spec, frame.order.plan, caller)) is not None:
        return denied
    frame.secrets.learn(inputs, spec.parameters)
    return replace(frame, caller=caller, names=inputs)


def _returned(frame: Frame, step: Step) -> Mapping[str, Any]:
    written = step.returns or ()
    return {a.name: value_of(a.value, _ANYTHING, frame.evaluate) for a in written}


def _is_empty(value: Any) -> bool:
    """Return whether a result is null, or text, a list or an object without content."""
    return value is None or (isinstance(value, (str, list, dict)) and not value)
