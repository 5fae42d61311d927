"""Run a skill's Python: each call is recorded and must be listed in the file."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from toolmd._skills.action import StepActions, require
from toolmd._skills.frame import DeclinedError, Frame, InsteadError, StepError
from toolmd._skills.journal import CancelledRunError, ParkedError, loaded
from toolmd._types.result import Failure, Result, SkillResult
from toolmd._types.skill import Step
from toolmd.errors import ToolError, ToolmdError, logged

_PARTS = {"success", "message", "data", "error"}


async def run_python(frame: Frame, actions: StepActions) -> SkillResult:
    """Run the implementation with the skill's inputs and build a SkillResult from its value.

    A resumed implementation runs from its beginning, and its calls return their recorded results:
    it must make the same calls with the same arguments in the same order. Once its result is
    recorded, it does not run again. Raises ParkedError and CancelledRunError.
    """
    key = f"{frame.prefix}{result_key(frame.spec.name)}"
    ran = None if frame.journal.has(key) else await _run(frame, actions)
    if ran is not None and ran.code == "cancelled":
        return ran

    async def came_to() -> dict[str, Any]:
        assert ran is not None
        return {**ran.to_dict(), "code": ran.code}

    return SkillResult(**await frame.perform(key, came_to))


def result_key(name: str) -> str:
    """Return the end of the key under which the record stores the result of a skill's Python."""
    return f"{name}:result"


async def _run(frame: Frame, actions: StepActions) -> SkillResult:
    """Run the implementation from its beginning."""
    spec = frame.spec
    calls = _Calls(frame, actions)
    call = frame.call(spec.name, frame.names, f"{frame.prefix}{spec.name}")
    try:
        value = await loaded(
            frame.journal, call.key or "", lambda: frame.executor.python(call, calls.through)
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

    def __init__(self, frame: Frame, actions: StepActions) -> None:
        self._frame = frame
        self._actions = actions
        self._made = 0
        self.parked: ParkedError | None = None
        self.strayed: StepError | None = None
        """Why the skill can make no more calls: one of them differs from the recorded one."""

    async def through(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Make a call and return its result; a failure is a result, not an exception."""
        self._made += 1
        number = str(self._made)
        frame = self._frame
        step = Step(id=number, title=name)
        try:
            if self.strayed is not None:
                raise self.strayed
            require(frame, name)
            await self._same(number, name, arguments)
            frame.tell("started", step)
            data = await self._actions.call(frame, step, name, dict(arguments))
        except StepError as error:
            frame.tell("failed", step, error.message)
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
        frame.tell("done", step)
        return Result(success=True, tool=name, outcome="ok", data=data)

    async def _same(self, number: str, name: str, arguments: Mapping[str, Any]) -> None:
        """Record what the call is, and raise an error where a resumed run makes another one."""

        async def said() -> dict[str, Any]:
            return {"name": name, "arguments": dict(arguments)}

        frame = self._frame
        recorded = await frame.perform(f"{frame.prefix}{number}:call", said)
        was, now = _shown(recorded["name"], recorded["arguments"]), _shown(name, arguments)
        if was != now:
            message = (
                f"call {number} was {was} and is now {now}: when a run resumes, the Python of "
                f"{frame.spec.name} must make the same calls in the same order; it must take "
                f"values that vary (time, randomness, the order of a set) from a call"
            )
            self.strayed = StepError("not_repeatable", message)
            raise self.strayed


def _shown(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as text that is the same for the same arguments as JSON."""
    return (
        f"{name}({json.dumps(to_jsonable_python(arguments), sort_keys=True, ensure_ascii=False)})"
    )
