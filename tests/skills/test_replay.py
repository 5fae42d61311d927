"""Replay: a run's events follow from its record alone."""

import asyncio
from typing import Any

import pytest
from run_world import NO, YES, World, skill, tool
from test_runs import STEPS, small_world

from toolmd._skills.graph import chart_of, states_of, svg
from toolmd._skills.replay import trace
from toolmd._types.run import Answer, RunEvent
from toolmd._types.skill import SkillSpec
from toolmd.errors import ToolError

ASKING = """1. **Make one**
   - **Use**: make
   - **With**:
     - name: n1
   - **Save as**: made
   - **Undo**: drop
     - name: `made.id`
2. **Never**
   - **When**: `made.id == 'other'`
   - **Use**: read
3. **Agree**
   - **Ask**: Go on?
   - **If no**: go to Back
4. **Look**
   - **For each**: n in `[1, 2, 3]`
   - **At Once**: 2
   - **Use**: read
   - **Save as**: looks
5. **Return**:
   - n: `size(looks)`

### Back

1. **Stop**: Not agreed.
"""


def told(world: World, spec: SkillSpec, *answers: Answer | None) -> tuple[Any, ...]:
    """Run a skill, and return its events, the replayed ones, and its view."""

    async def run() -> tuple[Any, ...]:
        result = await world.run(spec, answers=answers)
        view = await world.engine.show(result.run_id or "")
        return world.events, (await trace(*world.engine.store.orders([view.id]), view)).events, view

    return asyncio.run(run())


def steps(events: Any) -> list[RunEvent]:
    """Return the events in a loop's order, without the engine's waiting events."""
    return sorted(event for event in events if event.kind != "waiting")


@pytest.mark.parametrize("answers", [(None,), (YES,), (NO,)], ids=["waits", "yes", "no"])
def test_a_replay_reports_the_same_events(answers: tuple[Answer | None, ...]) -> None:
    world = small_world()
    events, anew, _ = told(world, skill(ASKING, "make, drop, read"), *answers)
    calls = len(world.calls)
    assert steps(anew) == steps(events)
    assert len(world.calls) == calls


def test_a_run_of_every_kind_of_step_is_replayed() -> None:
    events, anew, _ = told(small_world(), skill(STEPS, "make, drop, read"), YES)
    assert steps(anew) == steps(events)


def test_a_cancelled_run_is_replayed() -> None:
    world = small_world()
    spec = skill(ASKING, "make, drop, read")

    async def run() -> Any:
        waiting = await world.run(spec)
        await world.engine.cancel(waiting.run_id or "")
        view = await world.engine.show(waiting.run_id or "")
        return (await trace(*world.engine.store.orders([view.id]), view)).events

    events = asyncio.run(run())
    assert ("undone", "1") in {(event.kind, event.step) for event in events}
    states = states_of("trial", events)
    assert states == {"1": "undone", "2": "skipped", "3": "failed"}
    assert [event.text for event in events if event.kind == "failed"] == ["Trial was cancelled."]


def test_each_step_of_a_waiting_run_has_its_state() -> None:
    _, anew, view = told(small_world(), skill(ASKING, "make, drop, read"))
    states = states_of("trial", anew, view.questions)
    assert states == {"1": "done", "2": "skipped", "3": "waiting"}


@pytest.mark.parametrize("fails", [True, False])
def test_a_step_whose_undo_fails_stays_done_and_says_that_it_was_not_undone(fails: bool) -> None:
    world = small_world()

    def drop(name: str) -> Any:
        if fails:
            raise ToolError("stuck", code="stuck")
        return {}

    world.functions["drop"] = drop
    _, anew, view = told(world, skill(ASKING, "make, drop, read"), NO)
    states = states_of("trial", anew, view.questions)
    assert states["1"] == ("done" if fails else "undone")
    kept = [event.text for event in anew if event.kind == "kept"]
    assert kept == (["Not undone: step 1 (Make one): drop: stuck."] if fails else [])


def test_a_declined_run_took_another_path_and_undid_its_steps() -> None:
    spec = skill(ASKING, "make, drop, read")
    _, anew, view = told(small_world(), spec, NO)
    states = states_of("trial", anew, view.questions)
    assert states == {"1": "undone", "2": "skipped", "3": "failed", "Back/1": "done"}
    assert 'class="edge taken" data-from="3" data-to="Back/1"' in svg(chart_of(spec), states)


def test_a_skill_in_python_is_replayed_from_its_recorded_calls() -> None:
    ran: list[str] = []

    async def inside(through: Any, **_: Any) -> Any:
        ran.append("inside")
        made = await through("make", {"name": "a"})
        await through("guarded", {})
        return {"id": made.data["id"]}

    within = skill("Prose.", "make, guarded", name="inside")
    world = small_world(inside=within)
    world.python_skills["inside"] = inside
    spec = skill(
        "1. **Within**\n   - **Use**: inside\n   - **Save as**: it\n"
        "2. **Return**:\n   - id: `it.id`",
        metadata="- **Required Skills**: inside\n",
    )
    events, anew, view = told(world, spec, None)
    assert steps(anew) == steps(events)
    assert states_of("trial", anew, view.questions) == {"1": "waiting"}
    assert ran == ["inside"]


def test_a_skill_in_python_that_came_to_its_end_runs_no_more() -> None:
    ran: list[str] = []

    async def inside(through: Any, **_: Any) -> Any:
        ran.append("inside")
        return {"id": (await through("make", {"name": "a"})).data["id"]}

    world = small_world(inside=skill("Prose.", "make", name="inside"))
    world.python_skills["inside"] = inside
    spec = skill(
        "1. **Within**\n   - **Use**: inside\n2. **Agree**\n   - **Ask**: Go on?\n"
        "3. **Return**: Done.",
        metadata="- **Required Skills**: inside\n",
    )
    events, anew, _ = told(world, spec, YES)
    assert ran == ["inside"]
    assert steps(anew) == steps(events)
    assert world.called == ["make"]


def test_a_loop_that_waits_for_one_item_reports_the_others() -> None:
    world = World(tool("agreed", more="## Safety\n\n- **Requires Confirmation**: true"))
    spec = skill(
        "1. **All**\n   - **For each**: n in `[1, 2]`\n   - **At Once**: 2\n   - **Use**: agreed\n",
        "agreed",
    )
    _, anew, view = told(world, spec)
    assert states_of("trial", anew, view.questions) == {"1": "waiting"}
