"""Failing steps: their errors, retries, jumps and compensations."""

import asyncio
from typing import Any

import pytest
from run_world import MAKE_ONE, NO, World, failing, play_steps, tool

from toolmd.errors import ToolError


def test_a_failure_names_the_step_the_tool_and_the_code(world: World) -> None:
    world.functions["make"] = failing(1, "full")
    result = play_steps(
        world, "1. **Make it**\n   - **Use**: make\n   - **With**:\n     - name: x\n"
    )
    assert result.to_dict() == {
        "success": False,
        "message": "Step 1 (Make it) failed: make: out of order.",
        "data": {},
        "error": "full: make: out of order",
        "run_id": "run-1",
    }


@pytest.mark.parametrize(
    ("way", "success", "message"),
    [
        ("continue", True, "Trial: done. Not done: List."),
        ('stop "Sorry."', False, "Sorry."),
        ("go to Help", False, "Help came."),
    ],
)
def test_on_error_leads_on(world: World, way: str, *, success: bool, message: str) -> None:
    world.functions["list"] = failing(9)
    steps = (
        f"1. **List**\n   - **Use**: list\n   - **On error**: {way}\n\n### Help\n\n"
        f"1. **Stop**: Help came.\n"
    )
    result = play_steps(world, steps)
    assert (result.success, result.message) == (success, message)


@pytest.mark.parametrize(("fails", "calls", "success"), [(2, 3, True), (3, 3, False)])
def test_a_reading_tool_is_retried(world: World, fails: int, calls: int, *, success: bool) -> None:
    world.functions["list"] = failing(fails)
    steps = '1. **List**\n   - **Use**: list\n   - **On error**: retry 2 times, then stop "No."\n'
    assert play_steps(world, steps).success == success
    assert len(world.calls) == calls
    assert [key.split("/", 1)[1] for key in world.keys] == ["1:list"] * 3


def test_a_permanent_failure_is_not_retried(world: World) -> None:
    steps = (
        "1. **Echo**\n   - **Use**: echo\n   - **With**:\n     - text: `dyn(1)`\n"
        "   - **On error**: retry 5 times, then continue\n"
    )
    assert play_steps(world, steps).success
    assert [event.kind for event in world.events if event.kind == "progress"] == []


@pytest.mark.parametrize(("name", "code"), [("list", "timeout"), ("make", "outcome_unknown")])
def test_a_timeout_with_a_possible_effect_is_unknown(world: World, name: str, code: str) -> None:
    async def forever(**_: Any) -> None:
        await asyncio.Event().wait()

    world.functions[name] = forever
    given = "   - **With**:\n     - name: x\n" if name == "make" else ""
    result = play_steps(
        world, f"1. **Wait**\n   - **Use**: {name}\n{given}   - **Timeout**: 10ms\n"
    )
    assert result.code == code
    assert "within 0.01 s" in result.message


@pytest.mark.parametrize(("silent", "message"), [(2, "Trial: done."), (3, "Second best.")])
def test_a_repeatable_call_without_an_answer_is_made_again_before_on_error_leads_on(
    world: World, silent: int, message: str
) -> None:
    left = iter([True] * silent)

    async def book(**_: Any) -> dict[str, str]:
        if next(left, False):
            await asyncio.Event().wait()
        return {"id": "made"}

    world.tools["make"] = tool("make", metadata="- **Idempotent**: keyed\n")
    world.functions["make"] = book
    result = play_steps(
        world,
        "1. **Book**\n   - **Use**: make\n   - **Timeout**: 10ms\n   - **Undo**: drop\n"
        "     - name: x\n   - **On error**: go to Second\n\n### Second\n\n"
        "1. **Stop**: Second best.\n",
    )
    assert result.message == message
    assert world.called == ["make"] * 3
    assert len(set(world.keys)) == 1


def test_a_failing_dispatcher_means_an_unknown_outcome(
    world: World,
) -> None:
    def broken() -> None:
        raise RuntimeError("the door is off its hinges")

    world.functions["list"] = broken
    result = play_steps(world, MAKE_ONE + "2. **List**\n   - **Use**: list\n")
    assert result.code == "outcome_unknown"
    assert world.called == ["make", "list", "list", "list", "drop"]


# Undo


@pytest.mark.parametrize(
    "ending",
    [
        "2. **Stop**: Enough.\n",
        "2. **Ask**\n   - **Ask**: Go on?\n",
        '2. **Empty**\n   - **Use**: echo\n   - **If empty**: stop "Empty."\n',
        "2. **Fail**\n   - **Choose**: `1 / 0`\n",
        (
            "2. **Look**\n   - **Use**: echo\n   - **If empty**: go to End\n\n### End\n\n"
            "1. **Stop**: x.\n"
        ),
    ],
)
def test_a_skill_that_stops_undoes_what_it_did(world: World, ending: str) -> None:
    assert not play_steps(world, MAKE_ONE + ending, answers=(NO,)).success
    assert [call for call in world.calls if call[0] != "echo"] == [
        ("make", {"name": "one"}),
        ("drop", {"name": "id-one"}),
    ]


def test_a_skill_that_returns_undoes_nothing(world: World) -> None:
    assert play_steps(world, MAKE_ONE + "2. **Return**:\n   - id: `made.id`\n").data == {
        "id": "id-one"
    }
    assert world.called == ["make"]


def test_the_last_step_is_undone_first(world: World) -> None:
    steps = (
        "1. **Make**\n   - **For each**: n in `['x', 'y', 'z']`\n   - **At Once**: 3\n"
        "   - **Use**: make\n   - **With**:\n     - name: `n`\n   - **Save as**: made\n"
        "   - **Undo**: drop\n     - name: `made.id`\n2. **Stop**: {size(made)} made.\n"
    )
    result = play_steps(world, steps)
    assert result.message == "3 made."
    assert [arguments["name"] for name, arguments in world.calls if name == "drop"] == [
        "id-z",
        "id-y",
        "id-x",
    ]


def test_a_failing_undo_is_reported_and_the_others_run(world: World) -> None:
    def drop(name: str) -> dict[str, Any]:
        if name == "id-y":
            raise ToolError("stuck", code="stuck")
        return {}

    world.functions["drop"] = drop
    steps = (
        "1. **Make**\n   - **For each**: n in `['x', 'y', 'z']`\n   - **Use**: make\n"
        "   - **With**:\n     - name: `n`\n   - **Save as**: made\n"
        "   - **Undo**: drop\n     - name: `made.id`\n2. **Stop**: Enough.\n"
    )
    result = play_steps(world, steps)
    assert result.message == "Enough. Not undone: step 1[1] (Make): drop: stuck."
    assert world.called.count("drop") == 3


def test_a_call_whose_check_fails_is_undone_too(world: World) -> None:
    steps = MAKE_ONE + "   - **Check**: `made.id == 'other'`\n"
    assert play_steps(world, steps).code == "check_failed"
    assert world.called == ["make", "drop"]
