"""Runs that are scheduled: they wait for their start in this process's memory."""

import asyncio
import datetime as dt

import pytest
from run_world import MAKE_ONE, START, YES, skill, small_world

from toolmd._skills.replay import trace
from toolmd.errors import NotFoundError, ToolmdError

LATER = START + dt.timedelta(hours=2)
NOW = (
    MAKE_ONE
    + "2. **Say when**\n   - **Choose**: `string(now())`\n   - **Save as**: at\n"
    + ("3. **Return**:\n   - at: `at`\n")
)


def test_a_scheduled_run_starts_at_its_time_and_not_before() -> None:
    async def scene() -> None:
        world = small_world()
        order = world.order(skill(NOW, "make, drop"), run_id="r")
        assert (await world.engine.schedule(order, LATER)).code == "waiting"
        assert (await world.engine.resume("r")).code == "waiting"
        (view,) = await world.engine.runs()
        assert (view.state, view.began) == ("scheduled", LATER.isoformat())
        assert [q.prompt for q in view.questions] == ["Starts at 2026-03-02 11:00:00 UTC."]
        assert (await trace(order, view)).events == ()
        assert world.called == []
        world.time = LATER
        view = await world.engine.show("r")
        assert view.state == "done"
        assert view.result is not None
        assert view.result.data["at"].startswith("2026-03-02T11:00:")

    asyncio.run(scene())


def test_a_scheduled_run_is_ordered_once() -> None:
    async def scene() -> None:
        world = small_world()
        order = world.order(skill(NOW, "make, drop"), run_id="r")
        await world.engine.schedule(order, LATER)
        await world.engine.schedule(order, LATER + dt.timedelta(hours=1))
        assert [view.began for view in await world.engine.runs()] == [LATER.isoformat()]
        with pytest.raises(ToolmdError, match="the id of another run"):
            await world.engine.schedule(order._replace(inputs={"other": 1}), LATER)

    asyncio.run(scene())


def test_a_scheduled_run_can_be_cancelled_and_not_answered() -> None:
    async def scene() -> None:
        world = small_world()
        await world.engine.schedule(world.order(skill(NOW, "make, drop"), run_id="r"), LATER)
        with pytest.raises(NotFoundError):
            await world.engine.answer("r", "start:wait", YES)
        assert (await world.engine.cancel("r")).code == "cancelled"
        world.time = LATER
        assert (await world.engine.show("r")).state == "cancelled"
        assert world.called == []

    asyncio.run(scene())
