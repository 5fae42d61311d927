"""Skills in Python: calls are recorded, and the returned value becomes the result."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from run_world import YES, World, skill, small_world

from toolmd._types.call import Caller
from toolmd._types.result import SkillResult
from toolmd.errors import ToolError

PROSE = "1. First this\n2. Then that\n"


def python_world(function: Callable[..., Any]) -> World:
    world = small_world()
    world.python_skills["trial"] = function
    return world


def test_a_prose_workflow_without_python_is_not_executable() -> None:
    result = asyncio.run(small_world().run(skill(PROSE)))
    assert result.code == "not_executable"
    assert "trial.skill.md" in result.message


def test_python_runs_in_place_of_the_steps_and_calls_through_the_record() -> None:
    async def trial(through: Any, who: str) -> dict[str, Any]:
        made = await through("make", {"name": who})
        looked = await through("read", {})
        return {"id": made.data["id"], "n": looked.data["n"]}

    world = python_world(trial)
    spec = skill(PROSE, "make, read", "- `who` (string, required)")
    result = asyncio.run(
        world.run(spec, {"who": "x"}, run_id="r", caller=Caller("u1", {"patient": "p1"}))
    )
    assert result.data == {"id": "id-x", "n": 3}
    assert world.keys == ["r/1:make", "r/2:read"]
    assert world.callers == [Caller("u1", {"patient": "p1"})] * 2


def test_python_may_call_only_what_the_file_lists() -> None:
    async def trial(through: Any) -> dict[str, Any]:
        result = await through("make", {"name": "x"})
        return {"success": result.success, "error": result.error.code}

    world = python_world(trial)
    result = asyncio.run(world.run(skill(PROSE, "read")))
    assert (result.success, result.error) == (False, "not_required")
    assert world.calls == []


@pytest.mark.parametrize(
    ("given_value", "expected"),
    [
        (None, (True, "Trial: done.", {}, None)),
        ({"a": 1}, (True, "Trial: done.", {"a": 1}, None)),
        ([1], (True, "Trial: done.", {"value": [1]}, None)),
        ({"success": True, "message": "m", "data": {"a": 1}}, (True, "m", {"a": 1}, None)),
        ({"success": False, "error": "e"}, (False, "Trial failed.", {}, "e")),
        (SkillResult(success=False, message="m", error="e"), (False, "m", {}, "e")),
    ],
)
def test_a_value_returned_by_python_becomes_a_skill_result(given_value: Any, expected: Any) -> None:
    async def trial(through: Any) -> Any:
        del through
        return given_value

    result = asyncio.run(python_world(trial).run(skill(PROSE)))
    assert (result.success, result.message, result.data, result.error) == expected


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (ToolError("closed today", code="closed"), "closed", "closed today"),
        (ZeroDivisionError("secret"), "tool_error", "raised an error"),
    ],
)
def test_python_that_raises_is_a_failed_skill(error: Exception, code: str, says: str) -> None:
    async def trial(through: Any) -> Any:
        del through
        raise error

    result = asyncio.run(python_world(trial).run(skill(PROSE)))
    assert result.code == code
    assert says in result.message
    assert "secret" not in str(result.to_dict())


def test_python_that_returns_a_value_outside_json_is_a_failed_skill() -> None:
    async def trial(through: Any) -> Any:
        del through
        return {"odd": object()}

    result = asyncio.run(python_world(trial).run(skill(PROSE)))
    assert result.code == "tool_error"
    assert "no JSON" in result.message


def test_python_that_waits_for_a_person_resumes_without_calling_twice() -> None:
    async def trial(through: Any) -> dict[str, Any]:
        made = await through("make", {"name": "x"})
        with contextlib.suppress(Exception):
            await through("guarded", {})
        return {"id": made.data["id"]}

    async def scene() -> None:
        world = python_world(trial)
        waiting = await world.run(skill(PROSE, "make, guarded"), run_id="r")
        assert waiting.code == "waiting"
        [question] = (await world.engine.show("r")).questions
        result = await world.engine.answer("r", question.key, YES)
        assert result.data == {"id": "id-x"}
        assert world.called == ["make", "guarded"]

    asyncio.run(scene())


def test_python_that_makes_other_calls_when_resumed_is_an_error() -> None:
    names = iter(["make", "read", "read", "read"])

    async def trial(through: Any) -> dict[str, Any]:
        name = next(names)
        first = await through(name, {"name": "x"} if name == "make" else {})
        await through("guarded", {})
        return {"code": first.error.code if first.error else None}

    async def scene() -> None:
        world = python_world(trial)
        await world.run(skill(PROSE, "make, read, guarded"), run_id="r")
        [question] = (await world.engine.show("r")).questions
        result = await world.engine.answer("r", question.key, YES)
        assert (result.success, result.code) == (False, "not_repeatable")
        # Neither a changed call nor the calls after it are made.
        assert world.called == ["make"]

    asyncio.run(scene())
