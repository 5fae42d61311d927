"""Runs that wait for a person: answered once, in time or too late, cancelled, shown."""

import asyncio
import datetime as dt

import pytest
from run_world import MAKE, NO, YES, World, skill, small_world

from toolmd._types.result import SkillResult
from toolmd._types.run import Answer, JournalEntry, Question
from toolmd.errors import NotFoundError

ASKING = (
    MAKE.replace("{n}", "1")
    + '2. **Go on**\n   - **Ask**: Go on?\n   - **Timeout**: 1h\n   - **If no**: stop "No."\n'
    "3. **Return**:\n   - id: `made1.id`\n"
)


def test_an_answer_resumes_a_waiting_run_to_its_end() -> None:
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


def test_the_first_answer_counts_and_a_second_gets_an_error() -> None:
    async def scene() -> None:
        world = small_world()
        await world.run(skill(ASKING, "make, drop"), run_id="r")
        assert (await world.engine.answer("r", "2:ask", YES)).success
        with pytest.raises(NotFoundError, match="no open question '2:ask'"):
            await world.engine.answer("r", "2:ask", NO)
        assert (await world.engine.resume("r")).success

    asyncio.run(scene())


def test_an_answer_from_another_client_ends_the_local_prompt() -> None:
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


def test_a_look_up_ends_an_expired_wait() -> None:
    async def scene() -> None:
        world = small_world()
        await world.run(skill(ASKING, "make, drop"), run_id="r")
        assert (await world.engine.show("r")).state == "waiting"
        world.time += dt.timedelta(hours=2)
        assert [view.state for view in await world.engine.runs()] == ["failed"]
        kept, result = (await world.engine.show("r")).result, await world.engine.resume("r")
        assert (kept.message, kept.data or {}) == (result.message, result.data)
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


def test_an_expired_question_ends_the_local_prompt() -> None:
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


def test_an_expired_question_is_a_no() -> None:
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


def test_a_missing_answer_is_a_no() -> None:
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


def test_cancelling_a_run_rejects_its_pending_confirmation() -> None:
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
