"""What takes steps back: of skills within skills, by skills, with questions, in cancelled runs."""

import asyncio

from run_world import NO, YES, World, skill, tool

from toolmark._model.result import SkillResult
from toolmark._model.skill import SkillSpec
from toolmark._run.retrace import trace

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


def test_what_a_skill_within_did_is_undone_when_the_outer_one_stops_later() -> None:
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


def test_what_a_skill_within_did_stays_when_the_outer_one_ends_well() -> None:
    world = world_with(inner(make(1, "b")))
    assert run(world, outer(use(1, "inner"), "inner")).success
    assert told(world) == ["make b"]


def test_a_step_with_an_undo_of_its_own_takes_a_skill_back_by_that_alone() -> None:
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


def test_a_skill_that_takes_a_step_back_is_not_taken_back_itself() -> None:
    back = inner(make(1, "back"), "back")
    undo = "   - **Undo**: back\n"
    world = world_with(back)
    steps = use(1, "make", "   - **With**:\n     - name: a\n" + undo) + "2. **Stop**: Enough.\n"
    run(world, outer(steps, "back"))
    assert told(world) == ["make a", "make back"]


ASKED = "2. **Go on**\n   - **Ask**: Go on?\n"


def test_a_cancelled_run_is_taken_back_by_skills_too() -> None:
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
    [one] = world.engine.waiting()
    assert one.question.undoes
    view = await world.engine.show("r")
    assert (view.state, len(view.questions)) == ("waiting", 1)
    assert (await trace(world.engine.order("r"), view)).states["2"] == "waiting"
    result = await world.engine.answer("r", one.question.key, answer)  # type: ignore[arg-type]
    assert result.code == "cancelled"
    assert ("Not undone" in result.message) == (answer is NO)
    assert told(world) == ["make a", "make b", *left]
    assert world.engine.waiting() == ()
    assert (await world.engine.show("r")).state == "cancelled"
