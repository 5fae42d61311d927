"""Compensations: of nested skills, by skills, with questions, in cancelled runs."""

import asyncio
from typing import Any

import pytest
from run_world import NO, READ, WORD, YES, World, skill, tool

from toolmd._skills.replay import trace
from toolmd._types.call import Caller
from toolmd._types.result import SkillResult
from toolmd._types.skill import SkillSpec

NAME = "- `name` (string, required)"
MAKE = (
    "{n}. **Make {name}**\n   - **Use**: make\n   - **With**:\n     - name: {name}\n"
    "   - **Save as**: made{n}\n   - **Undo**: drop\n     - name: `made{n}.id`\n"
)


def make(n: int, name: str) -> str:
    return MAKE.replace("{n}", str(n)).replace("{name}", name)


def use(n: int, name: str, more: str = "") -> str:
    return f"{n}. **Use {name}**\n   - **Use**: {name}\n{more}"


def inner(steps: str, name: str = "inner", inputs: str = "None") -> SkillSpec:
    return skill(steps, "make, drop, guarded_drop", inputs, name=name)


def outer(steps: str, *names: str) -> SkillSpec:
    needed = f"- **Required Skills**: {', '.join(names)}\n" if names else ""
    return skill(steps, "make, drop, guarded_drop", metadata=needed)


def world_with(*skills: SkillSpec) -> World:
    guarded = "## Safety\n\n- **Requires Confirmation**: true"
    world = World(
        tool("make", NAME), tool("drop", NAME), tool("guarded_drop", NAME, more=guarded),
        skills=skills,
    )  # fmt: skip
    world.functions["make"] = lambda name: {"id": name}
    return world


def told(world: World) -> list[str]:
    return [f"{name} {arguments['name']}" for name, arguments in world.calls]


def run(world: World, spec: SkillSpec) -> SkillResult:
    return asyncio.run(world.run(spec, run_id="r"))


def test_a_nested_skill_is_undone_when_the_outer_one_stops_later() -> None:
    world = world_with(inner(make(1, "b") + make(2, "c") + "3. **Return**:\n   - x: 1\n"))
    steps = make(1, "a") + use(2, "inner") + make(3, "d") + "4. **Stop**: Enough.\n"
    result = run(world, outer(steps, "inner"))
    assert (result.code, result.message) == ("stopped", "Enough.")
    assert told(world) == ["make a", "make b", "make c", "make d",
                           "drop d", "drop c", "drop b", "drop a"]  # fmt: skip
    undone = [(event.skill, event.step) for event in world.events if event.kind == "undone"]
    assert undone == [("trial", "3"), ("inner", "2:inner/2"), ("inner", "2:inner/1"),
                      ("trial", "1")]  # fmt: skip
    assert len(set(world.keys)) == len(world.keys)


def test_a_nested_skill_is_not_undone_when_the_outer_one_succeeds() -> None:
    world = world_with(inner(make(1, "b")))
    assert run(world, outer(use(1, "inner"), "inner")).success
    assert told(world) == ["make b"]


def test_a_step_with_its_own_undo_undoes_a_skill_by_that_alone() -> None:
    world = world_with(inner(make(1, "b")))
    steps = use(1, "inner", "   - **Undo**: drop\n     - name: all\n") + "2. **Stop**: Enough.\n"
    run(world, outer(steps, "inner"))
    assert told(world) == ["make b", "drop all"]


def test_each_item_of_a_loop_over_a_skill_is_undone_last_first() -> None:
    steps = (
        "1. **Make**\n   - **Use**: make\n   - **With**:\n     - name: `who`\n"
        "   - **Undo**: drop\n     - name: `who`\n"
    )
    world = world_with(inner(steps, inputs="- `who` (string, required)"))
    loop = "   - **For each**: w in `['x', 'y']`\n   - **With**:\n     - who: `w`\n"
    run(world, outer(use(1, "inner", loop) + "2. **Stop**: Enough.\n", "inner"))
    assert told(world) == ["make x", "make y", "drop y", "drop x"]


def test_a_skill_that_undoes_a_step_is_not_undone_itself() -> None:
    back = inner(make(1, "back"), "back")
    undo = "   - **Undo**: back\n"
    world = world_with(back)
    steps = use(1, "make", "   - **With**:\n     - name: a\n" + undo) + "2. **Stop**: Enough.\n"
    run(world, outer(steps, "back"))
    assert told(world) == ["make a", "make back"]


ASKED = "2. **Go on**\n   - **Ask**: Go on?\n"


def test_a_cancelled_run_is_undone_by_skills_too() -> None:
    async def scene() -> None:
        loop = "   - **For each**: w in `['x', 'y']`\n   - **With**:\n     - name: `w`\n"
        world = world_with(inner(use(1, "drop", loop), "back"))
        steps = use(1, "make", "   - **With**:\n     - name: a\n   - **Undo**: back\n") + ASKED
        await world.run(outer(steps, "back"), run_id="r")
        result = await world.engine.cancel("r")
        assert (result.code, result.message) == ("cancelled", "Trial was cancelled.")
        assert told(world) == ["make a", "drop x", "drop y"]

    asyncio.run(scene())


def guarded(n: int, name: str) -> str:
    return make(n, name).replace("**Undo**: drop", "**Undo**: guarded_drop")


def test_a_cancelled_run_asks_for_the_undo_that_needs_a_yes_and_then_ends() -> None:
    for answer, left in ((YES, ["guarded_drop b", "drop a"]), (NO, ["drop a"])):
        asyncio.run(_cancelled(answer, left))


async def _cancelled(answer: object, left: list[str]) -> None:
    world = world_with()
    steps = make(1, "a") + guarded(2, "b") + ASKED.replace("2.", "3.")
    await world.run(outer(steps), run_id="r")
    waiting = await world.engine.cancel("r")
    assert (waiting.code, waiting.message) == ("waiting", "Shall I guarded_drop?")
    [one] = world.engine.store.open()
    assert one.question.undoes
    view = await world.engine.show("r")
    assert (view.state, len(view.questions)) == ("waiting", 1)
    (order,) = world.engine.store.orders(["r"])
    assert (await trace(order, view)).states["2"] == "waiting"
    result = await world.engine.answer("r", one.question.key, answer)  # type: ignore[arg-type]
    assert result.code == "cancelled"
    assert ("Not undone: step 2 (Make b): it was declined." in result.message) == (answer is NO)
    fares = (await trace(order, await world.engine.show("r"))).states
    assert fares["2"] == ("done" if answer is NO else "undone")
    assert told(world) == ["make a", "make b", *left]
    assert world.engine.store.open() == ()
    assert (await world.engine.show("r")).state == "cancelled"


def held_up(world: World, name: str) -> tuple[asyncio.Event, asyncio.Event]:
    """Make a tool wait; return the event of its call, and the event that continues it."""
    called, release = asyncio.Event(), asyncio.Event()

    async def wait(**arguments: object) -> dict[str, object]:
        called.set()
        await release.wait()
        return {"id": "made"}

    world.functions[name] = wait
    return called, release


async def cancelled_within(world: World, spec: SkillSpec, name: str) -> list[SkillResult]:
    """Cancel a run while it calls this tool; return the results of both."""
    called, release = held_up(world, name)
    running = asyncio.create_task(world.run(spec, run_id="r"))
    await called.wait()
    cancelling = asyncio.create_task(world.engine.cancel("r"))
    await asyncio.sleep(0)
    release.set()
    return [await running, await cancelling]


def test_a_run_that_is_cancelled_during_its_last_call_is_cancelled_and_undone() -> None:
    async def scene() -> None:
        world = world_with()
        steps = make(1, "a") + "2. **Return**:\n   - id: `made1.id`\n"
        results = await cancelled_within(world, outer(steps), "make")
        assert [result.code for result in results] == ["cancelled", "cancelled"]
        assert told(world) == ["make a", "drop made"]

    asyncio.run(scene())


def test_a_cancelled_nested_skill_is_not_treated_as_failed() -> None:
    async def scene() -> None:
        world = world_with(inner(make(1, "b") + ASKED))
        steps = make(1, "a") + use(2, "inner", "   - **On error**: continue\n")
        spec = outer(steps + "3. **Return**:\n   - x: 1\n", "inner")
        assert (await world.run(spec, run_id="r")).code == "waiting"
        result = await world.engine.cancel("r")
        assert (result.code, result.message) == ("cancelled", "Trial was cancelled.")
        assert told(world) == ["make a", "make b", "drop b", "drop a"]

    asyncio.run(scene())


def test_python_that_ignores_a_cancel_is_cancelled() -> None:
    async def scene() -> None:
        world = world_with()

        async def python(through: Any) -> dict[str, Any]:
            said: list[str] = []
            for name in "ab":
                try:
                    said.append((await through("make", {"name": name})).outcome)
                except Exception:  # noqa: BLE001 - it is stubborn
                    said.append("none")
            return {"said": said}

        world.python_skills["trial"] = python
        results = await cancelled_within(world, outer("Prose."), "make")
        assert [result.code for result in results] == ["cancelled", "cancelled"]
        says = "Trial was cancelled. Not undone: step 1 (make) has no Undo."
        assert [result.message for result in results] == [says, says]
        assert told(world) == ["make a"]

    asyncio.run(scene())


def test_python_within_a_cancelled_run_is_undone_by_the_skill_around_it_alone() -> None:
    async def scene() -> None:
        world = world_with(inner("Prose."))

        async def python(through: Any) -> dict[str, Any]:
            return {"outcome": (await through("make", {"name": "b"})).outcome}

        world.python_skills["inner"] = python
        steps = make(1, "a") + use(2, "inner") + ASKED.replace("2.", "3.")
        assert (await world.run(outer(steps, "inner"), run_id="r")).code == "waiting"
        assert (await world.engine.cancel("r")).code == "cancelled"
        assert told(world) == ["make a", "make b", "drop a"]

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        (use(1, "make", "   - **With**:\n     - name: a\n"),
         " Not undone: step 1 (Use make) has no Undo."),
        (use(1, "make", "   - **With**:\n     - name: `w`\n"
                        "   - **For each**: w in `['x', 'y']`\n"),
         " Not undone: step 1 (Use make) took effect 2 times and has no Undo."),
        (use(1, "inner"), " Not undone: step 1:inner/1 (Use make) has no Undo."),
        (use(1, "inner", "   - **Undo**: drop\n     - name: all\n"), ""),
        (use(1, "in_python"), " Not undone: step 1:in_python/1 (make) has no Undo."),
        (use(1, "look"), ""),
        (make(1, "a"), ""),
    ],
)  # fmt: skip
def test_a_cancelled_run_names_the_effects_whose_step_has_no_undo(steps: str, says: str) -> None:
    async def scene() -> None:
        plain = inner(use(1, "make", "   - **With**:\n     - name: b\n"))
        world = world_with(plain, skill("Prose.", "make", name="in_python"))
        world.tools["look"] = tool("look", metadata=READ)

        async def python(through: Any) -> dict[str, Any]:
            return {"outcome": (await through("make", {"name": "c"})).outcome}

        world.python_skills["in_python"] = python
        needs = "- **Required Skills**: inner, in_python\n"
        spec = skill(steps + ASKED, "make, drop, look", metadata=needs)
        assert (await world.run(spec, run_id="r")).code == "waiting"
        result = await world.engine.cancel("r")
        assert result.message == f"Trial was cancelled.{says}"
        view = await world.engine.show("r")
        assert view.result is not None
        assert view.result.error is not None
        assert view.result.error.message == result.message

    asyncio.run(scene())


def guarded_world(*skills: SkillSpec) -> World:
    signed_in, of_patient = "- **Requires Auth**: true", "- **Requires Context**: patient"
    world = World(
        tool("make", NAME),
        tool("drop", NAME, metadata=signed_in),
        tool("chart", NAME, metadata=of_patient),
        skills=skills,
    )
    world.functions["make"] = lambda name: {"id": name}
    return world


@pytest.mark.parametrize("within", [False, True])
def test_a_run_whose_undo_needs_a_user_is_denied_before_its_first_effect(within: bool) -> None:
    spec = skill(make(1, "a") + make(2, "b"), "make, drop", name="inner")
    world = guarded_world(spec)
    if within:
        steps = "1. **Make**\n   - **Use**: make\n   - **With**:\n     - name: z\n"
        needed = "- **Required Skills**: inner\n"
        spec = skill(steps + use(2, "inner"), "make", metadata=needed)
    result = asyncio.run(world.run(spec, caller=Caller()))
    assert (result.success, result.code) == (False, "auth_required")
    assert "because drop does" in result.message
    assert not world.calls
    assert asyncio.run(world.run(spec, caller=Caller("u1"))).success


def test_a_run_whose_later_step_needs_a_fact_is_denied_before_its_first_effect() -> None:
    world = guarded_world()
    steps = "1. **Make**\n   - **Use**: make\n   - **With**:\n     - name: z\n"
    spec = skill(steps + use(2, "chart", "   - **With**:\n     - name: z\n"), "make, chart")
    result = asyncio.run(world.run(spec, caller=Caller("u1")))
    assert (result.code, world.calls) == ("context_required", [])
    assert "needs the patient" in result.message
    known = Caller("u1", {"patient": "p1"})
    assert asyncio.run(world.run(spec, caller=known)).success


def test_a_context_that_an_inner_skill_takes_from_its_input_is_not_asked_of_the_caller() -> None:
    chart = use(1, "chart", "   - **With**:\n     - name: z\n")
    takes = "- **Context**: patient from word\n"
    inner_skill = skill(chart, "chart", WORD, name="inner", metadata=takes)
    call = use(1, "inner", "   - **With**:\n     - word: p1\n")
    spec = skill(call, metadata="- **Required Skills**: inner\n")
    assert asyncio.run(guarded_world(inner_skill).run(spec, caller=Caller("u1"))).success
