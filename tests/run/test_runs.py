"""Runs as a whole: taken up again, waiting, cancelled, one skill within another, in Python."""

import asyncio
import contextlib
import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_world import NO, YES, World, skill, tool

from toolmark._model.call import Caller
from toolmark._model.result import SkillResult
from toolmark._model.run import Answer, JournalEntry, Order, Question, RunEvent
from toolmark._model.skill import SkillSpec
from toolmark._run.interpreter import Interpreter
from toolmark._run.journal import Doubt, Effect, ParkedError
from toolmark.errors import NotFoundError, ToolError

NAMES = ("make", "drop", "read")
MAKE = """{n}. **Make {n}**
   - **Use**: make
   - **With**:
     - name: n{n}
   - **Save as**: made{n}
   - **Undo**: drop
     - name: `made{n}.id`
"""


def small_world(**skills: SkillSpec) -> World:
    world = World(
        tool("make", "- `name` (string, required)"),
        tool("drop", "- `name` (string, required)"),
        tool("read", metadata="- **Read Only**: true"),
        tool("guarded", more="## Safety\n\n- **Requires Confirmation**: true"),
        skills=tuple(skills.values()),
    )
    world.functions["make"] = lambda name: {"id": f"id-{name}"}
    world.functions["read"] = lambda: {"n": 3}
    return world


class DyingError(Exception):
    """The process dies here."""


class KeptJournal:
    """A journal over a dict that outlives the interpreter, and may die before or after a call."""

    def __init__(self, entries: dict[str, Any], dies: Callable[[str], bool] = lambda _: False):
        self.entries = entries
        self.dies = dies

    def now(self) -> dt.datetime:
        return dt.datetime(2026, 3, 2, tzinfo=dt.UTC)

    def holds(self, key: str) -> bool:
        return key in self.entries

    async def perform(
        self, key: str, effect: Effect, *, undoing: bool = False, doubt: Doubt | None = None
    ) -> Any:
        del undoing, doubt
        if key not in self.entries:
            if self.dies(f"before {key}"):
                raise DyingError
            value = await effect()
            if self.dies(f"after {key}"):
                raise DyingError
            self.entries[key] = value
        return self.entries[key]

    async def answer(self, question: Question) -> Answer:
        if question.key not in self.entries:
            raise ParkedError(question)
        return Answer(*self.entries[question.key])

    async def go_on(self) -> None:
        """Nobody cancels it."""

    def tell(self, event: RunEvent) -> None:
        del event

    def reach(self, hands: World) -> World:
        return hands


def play(world: World, order: Order, journal: KeptJournal) -> SkillResult:
    return asyncio.run(Interpreter(world).play(order, journal))


STEPS = (
    MAKE.replace("{n}", "1")
    + "2. **Each**\n   - **For each**: n in `['x', 'y']`\n   - **Use**: make\n   - **With**:\n"
    "     - name: `n`\n   - **Save as**: each\n   - **Undo**: drop\n     - name: `each.id`\n"
    + MAKE.replace("{n}", "3")
    + "4. **Look**\n   - **Use**: read\n   - **Save as**: look\n"
    "   - **On error**: retry 1 time, then continue\n"
    "5. **End**\n   - **When**: `!has(look)`\n   - **Ask**: Stop?\n"
    "6. **Return**:\n   - n: `look.n`\n   - ids: `each.map(e, e.id) + [made1.id, made3.id]`\n"
)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("succeeds", [True, False], ids=["returns", "stops and undoes"])
def test_a_run_that_dies_anywhere_ends_as_if_it_had_not(when: str, *, succeeds: bool) -> None:
    steps = STEPS if succeeds else STEPS.replace("`look.n`", "`look.zzz`")
    spec = skill(steps, "make, drop, read")
    whole: dict[str, Any] = {}
    world = small_world()
    expected = play(world, world.order(spec, run_id="r"), KeptJournal(whole))
    assert expected.success == succeeds
    assert len(whole) == (6 if succeeds else 10)

    for death in whole:
        entries: dict[str, Any] = {}
        again = small_world()
        order = again.order(spec, run_id="r")
        with pytest.raises(DyingError):
            play(again, order, KeptJournal(entries, dies=f"{when} {death}".__eq__))
        result = play(again, order, KeptJournal(entries))
        assert result == expected
        assert entries == whole
        # What was cut between its effect and its record runs again, with the same key.
        repeated = [key for key in again.keys if again.keys.count(key) > 1]
        is_call = death.rsplit(":", 1)[-1] in NAMES
        assert set(repeated) == ({f"r/{death}"} if when == "after" and is_call else set())


def test_a_finished_run_taken_up_again_calls_nothing() -> None:
    spec = skill(STEPS, "make, drop, read")
    entries: dict[str, Any] = {}
    world = small_world()
    order = world.order(spec, run_id="r")
    first = play(world, order, KeptJournal(entries))
    calls = list(world.calls)
    assert play(world, order, KeptJournal(entries)) == first
    assert world.calls == calls


def test_the_plan_keeps_a_run_from_edits_of_its_files() -> None:
    world = small_world()
    order = world.order(skill(MAKE.replace("{n}", "1"), "make, drop"))
    world.tools.clear()
    kept = order.plan.model_validate_json(order.plan.model_dump_json())
    assert kept == order.plan
    assert set(kept.tools) == {"make", "drop"}


# Waiting

ASKING = (
    MAKE.replace("{n}", "1")
    + '2. **Go on**\n   - **Ask**: Go on?\n   - **Timeout**: 1h\n   - **If no**: stop "No."\n'
    "3. **Return**:\n   - id: `made1.id`\n"
)


def test_an_answer_takes_a_waiting_run_to_its_end() -> None:
    async def scene(world: World, answer: Answer) -> SkillResult:
        waiting = await world.run(skill(ASKING, "make, drop"), run_id="r")
        assert waiting.code == "waiting"
        view = await world.engine.show("r")
        assert (view.state, [q.key for q in view.questions]) == ("waiting", ["2:ask"])
        result = await world.engine.answer("r", "2:ask", answer)
        assert (await world.engine.show("r")).state == ("done" if result.success else "failed")
        return result

    world = small_world()
    assert asyncio.run(scene(world, YES)).data == {"id": "id-n1"}
    assert world.called == ["make"]
    world = small_world()
    assert asyncio.run(scene(world, NO)).message == "No."
    assert world.called == ["make", "drop"]


def test_the_first_answer_counts_and_a_second_is_told_so() -> None:
    async def scene() -> None:
        world = small_world()
        await world.run(skill(ASKING, "make, drop"), run_id="r")
        assert (await world.engine.answer("r", "2:ask", YES)).success
        with pytest.raises(NotFoundError, match="no open question '2:ask'"):
            await world.engine.answer("r", "2:ask", NO)
        assert (await world.engine.resume("r")).success

    asyncio.run(scene())


def test_an_answer_from_elsewhere_wins_over_one_who_is_still_thinking() -> None:
    async def scene() -> None:
        world = small_world()
        order = world.order(skill(ASKING, "make, drop"), run_id="r")
        asked = asyncio.Event()

        async def never(question: Question) -> Answer | None:
            del question
            asked.set()
            await asyncio.Event().wait()
            return None

        run = asyncio.create_task(world.engine.run(order, ask=never))
        await asked.wait()
        assert (await world.engine.answer("r", "2:ask", YES)).success
        assert (await run).success

    asyncio.run(scene())


def test_whoever_looks_finds_that_a_wait_past_its_time_is_over() -> None:
    async def scene() -> None:
        world = small_world()
        await world.run(skill(ASKING, "make, drop"), run_id="r")
        assert (await world.engine.show("r")).state == "waiting"
        world.time += dt.timedelta(hours=2)
        assert [view.state for view in await world.engine.runs()] == ["failed"]
        assert (await world.engine.show("r")).result == await world.engine.resume("r")
        assert world.called == ["make", "drop"]

    asyncio.run(scene())


def test_a_run_goes_on_after_an_answer_that_came_too_late() -> None:
    async def scene() -> None:
        world = small_world()
        await world.run(skill(ASKING, "make, drop"), run_id="r")
        world.time += dt.timedelta(hours=2)
        with pytest.raises(NotFoundError):
            await world.engine.answer("r", "2:ask", YES)
        assert (await world.engine.show("r")).state == "failed"

    asyncio.run(scene())


def test_the_clock_ends_the_wait_for_one_who_is_still_thinking() -> None:
    async def scene() -> None:
        world = small_world()

        async def never(question: Question) -> Answer | None:
            del question
            world.time += dt.timedelta(hours=2)
            await asyncio.Event().wait()
            return None

        order = world.order(skill(ASKING, "make, drop"), run_id="r")
        result = await world.engine.run(order, ask=never)
        assert result.message == "No."
        assert world.called == ["make", "drop"]

    asyncio.run(scene())


def test_a_wait_ends_by_itself_when_its_time_is_up() -> None:
    async def scene() -> None:
        world = small_world()
        over = asyncio.Event()

        def drop(**arguments: object) -> dict[str, object]:
            over.set()
            return arguments

        world.functions["drop"] = drop
        steps = ASKING.replace("1h", "1s")
        await world.run(skill(steps, "make, drop"), run_id="r")
        await asyncio.wait_for(over.wait(), 20)
        assert world.called == ["make", "drop"]

    asyncio.run(scene())


def test_a_question_past_its_time_is_a_no() -> None:
    async def scene() -> None:
        world = small_world()
        await world.run(skill(ASKING, "make, drop"), run_id="r")
        assert (await world.engine.resume("r")).code == "waiting"
        world.time += dt.timedelta(hours=2)
        with pytest.raises(NotFoundError):
            await world.engine.answer("r", "2:ask", YES)
        assert (await world.engine.resume("r")).message == "No."
        assert world.called == ["make", "drop"]

    asyncio.run(scene())


def test_one_who_does_not_answer_in_time_has_said_no() -> None:
    async def scene() -> None:
        world = small_world()
        spec = skill(ASKING.replace("1h", "10ms").replace('   - **If no**: stop "No."\n', ""),
                     "make, drop")  # fmt: skip

        async def never(question: Question) -> Answer | None:
            del question
            await asyncio.Event().wait()
            return None

        result = await world.engine.run(world.order(spec), ask=never)
        assert result.message == "Nobody answered in time: Go on."

    asyncio.run(scene())


def test_a_cancelled_run_undoes_what_it_did() -> None:
    async def scene() -> None:
        world = small_world()
        await world.run(skill(ASKING, "make, drop"), run_id="r")
        result = await world.engine.cancel("r")
        assert (result.code, result.message) == ("cancelled", "Trial was cancelled.")
        assert world.called == ["make", "drop"]
        assert (await world.engine.show("r")).state == "cancelled"
        with pytest.raises(NotFoundError):
            await world.engine.answer("r", "2:ask", YES)

    asyncio.run(scene())


def test_a_run_that_is_cancelled_while_a_call_is_held_drops_the_hold() -> None:
    async def scene() -> None:
        world = small_world()
        spec = skill("1. **Do it**\n   - **Use**: guarded\n", "guarded")
        assert (await world.run(spec, run_id="r")).code == "waiting"
        assert (await world.engine.cancel("r")).code == "cancelled"
        assert world.rejected == ["held-1"]
        assert world.calls == []

    asyncio.run(scene())


def test_questions_of_parallel_items_wait_together() -> None:
    async def scene() -> None:
        world = small_world()
        steps = (
            "1. **Make**\n   - **For each**: n in `['x', 'y', 'z']`\n   - **At Once**: 2\n"
            "   - **Ask**: Make {n}?\n   - **If no**: continue\n   - **Use**: make\n"
            "   - **With**:\n     - name: `n`\n   - **Save as**: made\n"
            "2. **Return**:\n   - ids: `made.map(m, m.id)`\n"
        )
        await world.run(skill(steps, "make"), run_id="r")
        questions = (await world.engine.show("r")).questions
        assert [q.key for q in questions] == ["1[0]:ask", "1[1]:ask"]
        await world.engine.answer("r", "1[1]:ask", YES)
        await world.engine.answer("r", "1[0]:ask", NO)
        result = await world.engine.answer("r", "1[2]:ask", YES)
        assert result.data == {"ids": ["id-y", "id-z"]}

    asyncio.run(scene())


def test_runs_are_listed_the_latest_first_and_shown_step_by_step() -> None:
    async def scene() -> None:
        world = small_world()
        await world.run(skill(MAKE.replace("{n}", "1"), "make, drop"), run_id="a")
        await world.run(skill(ASKING, "make, drop"), run_id="b")
        assert [view.id for view in await world.engine.runs()] == ["b", "a"]
        shown = (await world.engine.show("a")).to_dict()
        [entry] = shown["steps"]
        assert (
            entry
            == JournalEntry(
                "1:make",
                {"outcome": "ok", "data": {"id": "id-n1"}, "code": "", "message": "", "held": None},
                entry["at"],
            )._asdict()
        )
        with pytest.raises(NotFoundError, match="no run 'c'"):
            await world.engine.show("c")

    asyncio.run(scene())


# Skills within skills

INNER = skill(
    MAKE.replace("{n}", "1") + "2. **Look**\n   - **Use**: read\n   - **Save as**: look\n"
    '   - **If empty**: stop "Nothing to see."\n'
    "3. **Return**:\n   - id: `made1.id`\n   - who: `who`\n",
    "make, drop, read",
    "- `who` (string, required)",
    name="inner",
)
OUTER = (
    "1. **Inside**\n   - **Use**: inner\n   - **With**:\n     - who: me\n   - **Save as**: got\n"
    "2. **Return**:\n   - id: `got.id`\n   - who: `got.who`\n"
)
USING = "- **Required Skills**: inner\n"


def test_a_skill_uses_another_and_sees_its_data() -> None:
    world = small_world(inner=INNER)
    result = asyncio.run(world.run(skill(OUTER, metadata=USING), run_id="r"))
    assert result.data == {"id": "id-n1", "who": "me"}
    assert world.keys == ["r/1:inner/1:make", "r/1:inner/2:read"]


def test_a_skill_that_stops_inside_another_undoes_its_own_and_fails_the_step() -> None:
    world = small_world(inner=INNER)
    world.functions["read"] = dict
    result = asyncio.run(world.run(skill(OUTER, metadata=USING)))
    assert result.message == "Step 1 (Inside) failed: Nothing to see."
    assert world.called == ["make", "read", "drop"]


def test_skills_that_use_themselves_come_to_an_end() -> None:
    loop = skill("1. **Again**\n   - **Use**: inner\n", metadata=USING, name="inner")
    world = small_world(inner=loop)
    result = asyncio.run(world.run(loop))
    assert not result.success
    assert "skills use one another" in result.message


# What is not required

STEP = "1. **Do**\n   - **Use**: make\n   - **With**:\n     - name: x\n"


@given(
    st.lists(st.sampled_from(["make", "drop", "read"]), max_size=4),
    st.sets(st.sampled_from(["make", "drop", "read"])),
)
@settings(deadline=None)
def test_no_tool_is_called_that_the_skill_does_not_require(
    used: list[str], required: set[str]
) -> None:
    steps = "".join(
        f"{n}. **Do {n}**\n   - **Use**: {name}\n"
        + ("   - **With**:\n     - name: x\n" if name != "read" else "")
        + "   - **On error**: continue\n"
        for n, name in enumerate(used, 1)
    )
    world = small_world()
    spec = skill(steps + f"{len(used) + 1}. **Stop**: End.\n", ", ".join(sorted(required)))
    asyncio.run(world.run(spec))
    assert world.called == [name for name in used if name in required]


@given(works=st.lists(st.booleans(), min_size=1, max_size=6), stops=st.booleans())
@settings(deadline=None)
def test_everything_done_is_undone_in_reverse_or_nothing_is(
    *, works: list[bool], stops: bool
) -> None:
    outcome = iter(works)

    def make(name: str) -> dict[str, str]:
        if not next(outcome):
            raise ToolError("no", code="no")
        return {"id": name}

    world = small_world()
    world.functions["make"] = make
    steps = "".join(
        MAKE.replace("{n}", str(n)) + "   - **On error**: continue\n"
        for n in range(1, len(works) + 1)
    )
    steps += f"{len(works) + 1}. **{'Stop' if stops else 'Return'}**: End.\n"
    asyncio.run(world.run(skill(steps, "make, drop")))
    made = [f"n{n}" for n, worked in enumerate(works, 1) if worked]
    undone = [arguments["name"] for name, arguments in world.calls if name == "drop"]
    assert undone == (made[::-1] if stops else [])


# Skills in Python

PROSE = "1. First this\n2. Then that\n"


def python_world(function: Callable[..., Any]) -> World:
    world = small_world()
    world.python_skills["trial"] = function
    return world


def test_a_prose_workflow_without_python_says_that_it_can_not_run() -> None:
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
    result = asyncio.run(world.run(spec, {"who": "x"}, run_id="r", caller=Caller("u1", "p1")))
    assert result.data == {"id": "id-x", "n": 3}
    assert world.keys == ["r/1:make", "r/2:read"]
    assert world.callers == [Caller("u1", "p1")] * 2


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
def test_what_python_gives_becomes_a_skill_result(given_value: Any, expected: Any) -> None:
    async def trial(through: Any) -> Any:
        del through
        return given_value

    result = asyncio.run(python_world(trial).run(skill(PROSE)))
    assert (result.success, result.message, result.data, result.error) == expected


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (ToolError("closed today", code="closed"), "closed", "closed today"),
        (ZeroDivisionError("secret"), "tool_error", "failed inside"),
    ],
)
def test_python_that_raises_is_a_failed_skill(error: Exception, code: str, says: str) -> None:
    async def trial(through: Any) -> Any:
        del through
        raise error

    result = asyncio.run(python_world(trial).run(skill(PROSE)))
    assert result.code == code
    assert says in result.message
    assert "secret" not in str(result)


def test_python_that_gives_what_is_no_json_is_a_failed_skill() -> None:
    async def trial(through: Any) -> Any:
        del through
        return {"odd": object()}

    result = asyncio.run(python_world(trial).run(skill(PROSE)))
    assert result.code == "tool_error"
    assert "no JSON" in result.message


def test_python_that_waits_for_a_person_is_taken_up_without_calling_twice() -> None:
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


def test_python_that_calls_something_else_when_taken_up_is_told() -> None:
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
        # What stands in another call's place is not made, and no call behind it.
        assert world.called == ["make"]

    asyncio.run(scene())
