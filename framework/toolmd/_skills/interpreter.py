"""Run skills: admit their inputs and their caller, go through their steps, undo a failed one."""

from dataclasses import replace

from toolmd._skills.call import StepError
from toolmd._skills.journal import CancelledRunError, Executor, Journal
from toolmd._skills.plan import lacking
from toolmd._skills.python import run_python
from toolmd._skills.run import End, Run
from toolmd._skills.text import sentence
from toolmd._types.result import SkillResult
from toolmd._types.run import Order
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError
from toolmd._validation.redact import Secrets
from toolmd.errors import hiding

MAX_SKILL_DEPTH = 8
"""How deep skills may be nested."""
MAX_NOTES = 16
"""How many failed steps a result names; a loop may have a thousand."""


class Interpreter:
    """Executes runs; it keeps no state of a run except the executor."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.secrets = Secrets()
        """The Sensitive values of the latest run, which must not be shown."""

    async def execute(self, order: Order, journal: Journal) -> SkillResult:
        """Run the order as far as possible and return its result.

        Effects in the journal are not repeated, so executing a run again resumes it after it was
        parked or its process died. Raises ParkedError.
        """
        self.secrets, plan = Secrets(), order.plan
        hide, sensitive = self.secrets.hide, plan.holds_sensitive
        run = Run(
            plan.skill, order, journal, self._executor, order.caller,
            dict(order.inputs), _run_skill, secrets=self.secrets if sensitive else None,
        )  # fmt: skip
        with hiding(hide if sensitive else None):
            result = await _run_skill(run, None)
        error = None if result.error is None else hide(result.error)
        message, notes = result.message, [note for _, note in run.failures]
        if result.success and run.failures:
            message += f" Not done: {', '.join(dict(run.failures))}."
        if (more := len(notes) - MAX_NOTES) > 0:
            notes[MAX_NOTES:] = [f"{more} more of its steps failed."]
        hidden = tuple(map(hide, (*result.notes, *notes)))
        return replace(result, run_id=order.id, message=hide(message), error=error, notes=hidden)


async def _run_skill(run: Run, around: Run | None) -> SkillResult:
    """Run a skill, or its Python; on success, its compensations pass to the run `around` it.

    Raises CancelledRunError to the enclosing skill, which must not continue as after a failure.
    """
    ready = _admit(run)
    if isinstance(ready, SkillResult):
        return ready
    spec = ready.spec
    in_python = spec.name in ready.order.plan.python
    if not (in_python or spec.executable):
        message = (
            f"{spec.name} can't run: its workflow is prose, and no Python is "
            f"next to {spec.source.path}"
        )
        return SkillResult.failed("not_executable", message)
    try:
        if in_python:
            return await run_python(ready)
        end = await ready.sections()
        if end.success and around is None:
            await ready.journal.go_on()
    except CancelledRunError:
        if around is not None:
            around.undos.extend(ready.undos)
            raise
        end = End.stop(f"{spec.title} was cancelled.", "cancelled")
    except StepError as error:
        end = End(success=False, message=error.message, code=error.code)
    if end.success:
        if around is not None:
            around.undos.extend(ready.undos)
        message = end.message or f"{spec.title}: done."
        return SkillResult(success=True, message=message, data=dict(end.data))
    left = [*ready.doubts, *await ready.roll_back()]
    message = " ".join([sentence(end.message), *left]) if left else end.message
    why = end.error or end.message
    return SkillResult(success=False, message=message, error=why, code=end.code)


def _admit(run: Run) -> Run | SkillResult:
    """Check the inputs against the Input Schema, and add the caller's context from them."""
    spec, caller = run.spec, run.caller
    if run.depth > MAX_SKILL_DEPTH:
        message = f"more than {MAX_SKILL_DEPTH} skills use one another"
        return SkillResult.failed("too_deep", message)
    try:
        inputs = ArgumentsValidator(spec.parameters).validate(run.names)
    except InvalidArgumentsError as error:
        problems = "; ".join(problem.message for problem in error.problems)
        return SkillResult.failed("invalid_arguments", f"{spec.name} can't begin: {problems}")
    supplied = {fact: inputs[name] for fact, name in spec.context.items() if inputs.get(name)}
    for fact, value in supplied.items():
        if caller.context.get(fact, value) != value:
            message = f"{spec.context[fact]} names another {fact} than the caller's context"
            return SkillResult.failed("context_required", message)
    if supplied:
        caller = caller._replace(context={**caller.context, **supplied})
    if (denied := lacking(spec, run.order.plan, caller)) is not None:
        return denied
    if run.secrets is not None:
        run.secrets.learn(inputs, spec.parameters)
    return replace(run, caller=caller, names=inputs)
