"""Run a skill's Python: each call is recorded and must be listed in the file."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from toolmd._skills.call import DeclinedError, InsteadError, StepError
from toolmd._skills.journal import CancelledRunError, ParkedError, loaded
from toolmd._skills.run import Run, ToolCall
from toolmd._types.result import Failure, Result, SkillResult
from toolmd._types.skill import Step
from toolmd.errors import ToolError, ToolmdError, logged

_PARTS = {"success", "message", "data", "error"}


async def run_python(run: Run) -> SkillResult:
    """Run the implementation with the skill's inputs and build a SkillResult from its value.

    A resumed implementation runs from its beginning, and its calls return their recorded results:
    it must make the same calls with the same arguments in the same order. Once its result is
    recorded, it does not run again. Raises ParkedError and CancelledRunError.
    """
    key = f"{run.prefix}{result_key(run.spec.name)}"
    result = None if run.journal.has(key) else await _execute(run)
    if result is not None and result.code == "cancelled":
        return result

    async def record() -> dict[str, Any]:
        assert result is not None
        return {**result.to_dict(), "code": result.code}

    return SkillResult(**await run.perform(key, record))


def result_key(name: str) -> str:
    """Return the end of the key under which the record stores the result of a skill's Python."""
    return f"{name}:result"


async def _execute(run: Run) -> SkillResult:
    """Run the implementation from its beginning."""
    spec, calls = run.spec, _Calls(run)
    call = run.call(spec.name, run.names, f"{run.prefix}{spec.name}")
    try:
        value = await loaded(
            run.journal, call.key or "", lambda: run.executor.python(call, calls.through)
        )
    except ToolError as error:
        value = SkillResult.failed(error.code, str(error))
    except CancelledRunError:
        value = SkillResult.failed("cancelled", f"{spec.title} was cancelled.")
    except ParkedError as parked:
        raise parked from None
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
        was, now = _shown(recorded["name"], recorded["arguments"]), _shown(name, arguments)
        if was != now:
            message = (
                f"call {step.id} was {was} and is now {now}: when a run resumes, the Python of "
                f"{self._run.spec.name} must make the same calls in the same order; it must take "
                f"values that vary (time, randomness, the order of a set) from a call"
            )
            self.strayed = StepError("not_repeatable", message)
            raise self.strayed


def _shown(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as text that is the same for the same arguments as JSON."""
    return (
        f"{name}({json.dumps(to_jsonable_python(arguments), sort_keys=True, ensure_ascii=False)})"
    )
