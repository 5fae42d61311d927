"""Run skills: admit their inputs and their caller, then run their steps or their Python."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from toolmd._skills.call import DeclinedError, End, InsteadError, StepError
from toolmd._skills.journal import CancelledRunError, Executor, Journal, ParkedError, load
from toolmd._skills.plan import find_lack
from toolmd._skills.run import Run, ToolCall, Undo
from toolmd._skills.text import sentence
from toolmd._types.result import Failure, Result, SkillResult
from toolmd._types.run import Order
from toolmd._types.skill import Step
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError
from toolmd._validation.redact import Secrets
from toolmd.errors import ToolError, ToolmdError, hiding, logged

MAX_SKILL_DEPTH = 8
"""How deep skills may be nested."""
MAX_NOTES = 16
"""How many failed steps a result names; a loop may have a thousand."""
RESULT = ":result"
"""The end of the key under which the record stores the result of a skill's Python."""
_PARTS = {"success", "message", "data", "error"}


async def interpret(
    order: Order, journal: Journal, executor: Executor, secrets: Secrets | None = None
) -> SkillResult:
    """Run an order as far as possible and return its result.

    Effects in the journal are not repeated, so running an order again resumes it after it was
    parked or its process died. `secrets` learns the Sensitive values, which the result hides.
    Raises ParkedError.
    """
    secrets, sensitive = secrets or Secrets(), order.plan.holds_sensitive
    hide = secrets.hide
    run = Run(
        order.plan.skill, order, journal, executor, order.caller,
        dict(order.inputs), _run_skill, secrets=secrets if sensitive else None,
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
            result = await _run_python(ready)
            if around is not None:
                around.undos.extend(ready.undos)
            elif result.code == "cancelled":
                message = " ".join([sentence(result.message), *ready.report_staying()])
                result = replace(result, message=message)
            return result
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
    if around is not None:
        around.undos.extend(ready.undos)
    elif end.code == "cancelled":
        left += ready.report_staying()
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
    if (denied := find_lack(spec, run.order.plan, caller)) is not None:
        return denied
    if run.secrets is not None:
        run.secrets.learn(inputs, spec.parameters)
    return replace(run, caller=caller, names=inputs)


async def _run_python(run: Run) -> SkillResult:
    """Run the implementation with the skill's inputs and build a SkillResult from its value.

    A resumed implementation runs from its beginning, and its calls return their recorded results:
    it must make the same calls with the same arguments in the same order. Once its result is
    recorded, it does not run again. Raises ParkedError and CancelledRunError.
    """
    key = f"{run.prefix}{run.spec.name}{RESULT}"
    result = None if run.journal.has(key) else await _execute(run)
    if result is not None and result.code == "cancelled":
        return result

    async def record() -> dict[str, Any]:
        assert result is not None
        effects = [[one.step.id, one.step.title] for one in run.undos]
        return {**result.to_dict(), "code": result.code, "effects": effects}

    recorded = dict(await run.perform(key, record))
    steps = [Step(id=number, title=title) for number, title in recorded.pop("effects", ())]
    run.undos[:] = [Undo(run.key(step), step, "", {}, run) for step in steps]
    return SkillResult(**recorded)


async def _execute(run: Run) -> SkillResult:
    """Run the implementation from its beginning."""
    spec, calls = run.spec, _Calls(run)
    call = run.call(spec.name, run.names, f"{run.prefix}{spec.name}")
    try:
        value = await load(
            run.journal, call.key or "", lambda: run.executor.python(call, calls.through)
        )
    except ToolError as error:
        value = SkillResult.failed(error.code, str(error))
    except CancelledRunError:
        value = SkillResult.failed("cancelled", f"{spec.title} was cancelled.")
    except ParkedError:
        raise
    except ToolmdError as error:
        value = SkillResult.failed("tool_error", str(error))
    except Exception as error:  # noqa: BLE001 - its errors must not leave its run
        reference = logged(error, "the Python of %s failed", spec.name)
        message = f"{spec.name} raised an error; its log reference is {reference}."
        value = SkillResult.failed("tool_error", message)
    # An implementation that catches every exception must not finish a waiting run.
    if calls.parked is not None:
        raise calls.parked
    if calls.strayed is not None:
        return SkillResult.failed(calls.strayed.code, calls.strayed.message)
    try:
        return result_of(value, spec.title)
    except (PydanticSerializationError, ValueError) as error:
        return SkillResult.failed("tool_error", f"{spec.name} returned no JSON: {error}")


def result_of(value: Any, title: str) -> SkillResult:
    """Build a SkillResult from a SkillResult, its parts by name, or data alone.

    A Result of one of its calls becomes the skill's result.
    """
    if isinstance(value, Result):
        if value.error is not None:
            return SkillResult.failed(value.error.code, value.error.message)
        value = value.data
    if isinstance(value, SkillResult):
        return replace(value, data=_data(value.data))
    if not isinstance(value, Mapping) or "success" not in value or not set(value) <= _PARTS:
        return SkillResult(success=True, message=f"{title}: done.", data=_data(value))
    success = value["success"] is True
    message = str(value.get("message") or f"{title}{': done.' if success else ' failed.'}")
    error = None if success else str(value.get("error") or message)
    code = "" if success else "skill_failed"
    return SkillResult(success, message, _data(value.get("data")), error, code=code)


def _data(value: Any) -> dict[str, Any]:
    value = to_jsonable_python(value)
    if isinstance(value, Mapping):
        return dict(value)
    return {} if value is None else {"value": value}


class _Calls:
    """The calls of one Python skill, numbered as they are made."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._number = 0
        self.parked: ParkedError | None = None
        self.strayed: StepError | None = None
        """Why the skill can make no more calls: one of them differs from the recorded one."""

    async def through(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Make a call and return its result; a failure is a result, not an exception."""
        self._number += 1
        run, step = self._run, Step(id=str(self._number), title=name)
        key = f"{run.key(step)}:{name}"
        try:
            if self.strayed is not None:
                raise self.strayed
            run.require(name)
            await self._compare(step, name, arguments)
            run.tell("started", step)
            data = await ToolCall(run, step, name, dict(arguments), key, key).once(approved=False)
        except StepError as error:
            run.tell("failed", step, error.message)
            failure = Failure(error.code, error.message)
            return Result(success=False, tool=name, outcome="failed", error=failure)
        except InsteadError as instead:
            data = instead.words
        except DeclinedError:
            failure = Failure("refused", f"{name} was not approved.")
            return Result(success=False, tool=name, outcome="denied", error=failure)
        except ParkedError as parked:
            self.parked = parked
            raise
        run.tell("done", step)
        return Result(success=True, tool=name, outcome="ok", data=data)

    async def _compare(self, step: Step, name: str, arguments: Mapping[str, Any]) -> None:
        """Record what the call is, and raise an error where a resumed run makes another one."""

        async def describe() -> dict[str, Any]:
            return {"name": name, "arguments": dict(arguments)}

        recorded = await self._run.perform(f"{self._run.key(step)}:call", describe)
        was, now = (
            _describe_call(recorded["name"], recorded["arguments"]),
            _describe_call(name, arguments),
        )
        if was != now:
            message = (
                f"call {step.id} was {was} and is now {now}: when a run resumes, the Python of "
                f"{self._run.spec.name} must make the same calls in the same order; it must take "
                f"values that vary (time, randomness, the order of a set) from a call"
            )
            self.strayed = StepError("not_repeatable", message)
            raise self.strayed


def _describe_call(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as text that is the same for the same arguments as JSON."""
    return (
        f"{name}({json.dumps(to_jsonable_python(arguments), sort_keys=True, ensure_ascii=False)})"
    )
