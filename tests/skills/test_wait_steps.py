"""A step's Wait: read, checked, waited for, cancelled, and drawn."""

import asyncio
import datetime as dt
import re
from typing import Any

import pytest
from run_world import MAKE_ONE, START, YES, World, skill, small_world

from toolmd._parse import skill_text
from toolmd._skills.check import check_skill
from toolmd._skills.graph import chart_of, mermaid
from toolmd._skills.journal import ParkedError
from toolmd._skills.replay import trace
from toolmd._types.run import Question
from toolmd._types.skill import step_json
from toolmd.errors import NotFoundError

LATER = (
    MAKE_ONE
    + "2. **Later**\n   - **Wait**: {wait}\n   - **Use**: make\n"
    + ("   - **With**:\n     - name: two\n")
)
DAY = "- `day` (string, required): A time.\n- `many` (integer, required)\n- `on` (date, required)"


def later(wait: str, inputs: str = "None") -> Any:
    """Return a skill that makes one thing at once and another one later."""
    return skill(LATER.replace("{wait}", wait), "make, drop", inputs)


def plain(drawing: str) -> str:
    """Return a drawing's text without its marks."""
    return re.sub(r"</?[a-z]+>", "", drawing)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2h", {"wait_s": 7200.0}),
        ("90 minutes", {"wait_s": 5400.0}),
        ("until timestamp(day)", {"wait_until": "timestamp(day)"}),
        ("until `timestamp(day)`", {"wait_until": "timestamp(day)"}),
        ("`duration('2h')`", {"wait_until": "duration('2h')"}),
    ],
)
def test_a_wait_is_a_duration_or_an_expression(text: str, written: dict[str, object]) -> None:
    spec = later(text, DAY)
    (_, step) = spec.workflow_sections[0].steps
    again = skill(skill_text(spec).partition("## Workflow")[2].partition("## Input")[0], "", DAY)

    assert {k: v for k, v in step_json(step).items() if k.startswith("wait")} == written
    assert step_json(again.workflow_sections[0].steps[1]) == step_json(step)


@pytest.mark.parametrize("value", ["`many`", "`on`", "`many > 2`", "`[day]`"])
def test_a_wait_for_neither_a_time_nor_a_duration_is_an_error(value: str) -> None:
    found = check_skill(later(value, DAY), {}, {}, partial=True)

    assert [one.code for one in found if one.severity == "error"] == ["not-a-time"]


@pytest.mark.parametrize("value", ["`day`", "`timestamp(day)`", "`duration('1h')`", "1d"])
def test_a_wait_for_a_time_or_a_duration_has_no_finding(value: str) -> None:
    assert not check_skill(later(value, DAY), {}, {}, partial=True)


def test_a_run_that_waits_goes_on_when_the_time_has_come() -> None:
    async def scene() -> None:
        world = small_world()
        result = await world.run(later("2h"), run_id="r")
        assert (result.code, world.called) == ("waiting", ["make"])
        view = await world.engine.show("r")
        (question,) = view.questions
        assert (view.state, question.key, question.kind) == ("waiting", "2:wait", "wait")
        until = dt.datetime.fromisoformat(question.until or "")
        assert dt.timedelta(hours=2) < until - START < dt.timedelta(hours=2, minutes=1)
        world.time += dt.timedelta(hours=1)
        assert (await world.engine.show("r")).state == "waiting"
        world.time += dt.timedelta(hours=1)
        assert (await world.engine.show("r")).state == "done"
        assert world.called == ["make", "make"]

    asyncio.run(scene())


@pytest.mark.parametrize("value", ["2026-03-02T08:00:00Z", "2026-03-02T10:00:00+02:00", "-5s"])
def test_a_time_in_the_past_is_no_wait(value: str) -> None:
    world = small_world()
    inputs = {"day": value, "many": 1, "on": "2026-03-02"}

    assert asyncio.run(world.run(later("`day`", DAY), inputs)).success
    assert not world.questions


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("tomorrow", "neither a time nor a duration"),
        ("2026-03-02T10:00:00", "has no time zone"),
        ("999999999999s", "too far away"),
    ],
)
def test_a_value_that_is_no_time_fails_the_step_and_undoes_the_others(
    value: str, says: str
) -> None:
    world = small_world()
    inputs = {"day": value, "many": 1, "on": "2026-03-02"}
    result = asyncio.run(world.run(later("`day`", DAY), inputs))

    assert says in result.message
    assert world.called == ["make", "drop"]


def test_nobody_is_asked_and_nobody_can_answer_a_wait() -> None:
    async def scene() -> None:
        world = small_world()
        await world.run(later("2h"), run_id="r", answers=(YES,))
        assert not world.questions
        with pytest.raises(NotFoundError):
            await world.engine.answer("r", "2:wait", YES)
        assert (await world.engine.show("r")).state == "waiting"

    asyncio.run(scene())


def test_a_cancelled_wait_undoes_the_steps_before_it() -> None:
    async def scene() -> None:
        world = small_world()
        await world.run(later("2h"), run_id="r")
        assert (await world.engine.cancel("r")).code == "cancelled"
        world.time += dt.timedelta(hours=3)
        assert (await world.engine.show("r")).state == "cancelled"
        assert world.called == ["make", "drop"]

    asyncio.run(scene())


def test_a_step_without_another_action_may_wait() -> None:
    async def scene() -> None:
        world = small_world()
        steps = (
            "1. **Wait**: 2h\n2. **When it is odd**\n   - **When**: `false`\n   - **Wait**: 1h\n"
        )
        await world.run(skill(steps), run_id="r")
        world.time += dt.timedelta(hours=2)
        assert (await world.engine.show("r")).state == "done"

    asyncio.run(scene())


def test_each_item_of_a_loop_waits_for_its_own_time() -> None:
    steps = (
        '1. **Remind**\n   - **For each**: hour in `["1h", "3h"]`\n   - **At Once**: 2\n'
        "   - **Wait**: `duration(hour)`\n   - **Use**: make\n"
        "   - **With**:\n     - name: `hour`\n"
    )

    async def scene() -> None:
        world = small_world()
        await world.run(skill(steps, "make"), run_id="r")
        view = await world.engine.show("r")
        assert [q.key for q in view.questions] == ["1[0]:wait", "1[1]:wait"]
        world.time += dt.timedelta(hours=1)
        assert [q.key for q in (await world.engine.show("r")).questions] == ["1[1]:wait"]
        assert [arguments["name"] for _, arguments in world.calls] == ["1h"]
        world.time += dt.timedelta(hours=2)
        assert (await world.engine.show("r")).state == "done"
        assert [arguments["name"] for _, arguments in world.calls] == ["1h", "3h"]

    asyncio.run(scene())


def test_a_person_is_asked_while_another_item_waits() -> None:
    parked = ParkedError(
        Question("r", "1[0]:wait", "s", "t", "Waits.", kind="wait"),
        Question("r", "1[1]:ask", "s", "t", "Shall I?"),
    )

    assert [one.key for one in parked.questions] == ["1[1]:ask", "1[0]:wait"]


def test_the_clock_of_a_run_goes_on_with_its_wait() -> None:
    steps = "1. **Wait**: 2h\n2. **Look**\n   - **Choose**: `string(now())`\n   - **Save as**: at\n"
    steps += "3. **Return**:\n   - at: `at`\n"

    async def scene() -> None:
        world = small_world()
        await world.run(skill(steps), run_id="r")
        world.time += dt.timedelta(hours=2)
        result = (await world.engine.show("r")).result
        assert result is not None
        assert result.data["at"].startswith("2026-03-02T11:00:")

    asyncio.run(scene())


def test_a_wait_is_drawn_and_its_step_waits() -> None:
    async def scene(world: World) -> None:
        order = world.order(later("2h"), run_id="r")
        await world.engine.run(order)
        traced = await trace(order, await world.engine.show("r"))
        assert traced.states == {"1": "done", "2": "waiting"}

    asyncio.run(scene(small_world()))
    assert "wait 7200s" in plain(mermaid(chart_of(later("2h"))))
    assert "wait until timestamp(day)" in plain(mermaid(chart_of(later("`timestamp(day)`", DAY))))
