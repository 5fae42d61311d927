"""A clock that jumps: nothing is approved that was too late, and no deadline hangs on it."""

import asyncio

import pytest
from deciding import approve, reject, respond

from toolmd._call.audit.reader import AuditReader
from toolmd._types.call_spec import Limits, Safety
from toolmd._types.settings import Settings

YEAR_S = 365 * 86_400.0


class WallClock:
    """The clock of the wall, which somebody sets."""

    def __init__(self):
        self.now = 1_000_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def wall():
    return WallClock()


@pytest.fixture
def settings(tmp_path):
    return Settings(root=tmp_path, state=tmp_path)


@pytest.fixture
def dispatcher(harness, settings, wall):
    return lambda *tools: harness(*tools, settings=settings, clock=wall)


@pytest.mark.parametrize("decide", [approve, reject, respond])
def test_an_expired_confirmation_stays_expired(dispatcher, tool, wall, decide):
    ran = []

    async def act():
        ran.append(1)

    one = dispatcher(tool("act", act, safety=Safety(requires_confirmation=True)))
    held = one.call("act").confirmation.id
    wall.now += YEAR_S
    given = ("It is done.",) if decide is respond else ()
    late = asyncio.run(decide(one.dispatcher.confirmations, held, *given))
    wall.now -= YEAR_S

    assert late.error.code == "confirmation_expired"
    assert (
        asyncio.run(approve(one.dispatcher.confirmations, held)).error.code
        == "confirmation_expired"
    )
    assert ran == []


def test_a_pending_call_from_the_future_cannot_be_approved_for_a_year(dispatcher, tool, wall):
    async def act():
        raise AssertionError("nobody agreed in time")

    one = dispatcher(tool("act", act, safety=Safety(requires_confirmation=True)))
    held = one.call("act").confirmation.id
    wall.now -= YEAR_S
    assert tuple(one.dispatcher.confirmations.pending()) == ()
    assert (
        asyncio.run(approve(one.dispatcher.confirmations, held)).error.code
        == "confirmation_expired"
    )


def test_a_clock_that_is_set_back_a_little_prevents_no_decision(dispatcher, tool, wall):
    async def act():
        return {}

    one = dispatcher(tool("act", act, safety=Safety(requires_confirmation=True)))
    held = one.call("act").confirmation.id
    wall.now -= 60
    assert [waiting.id for waiting in one.dispatcher.confirmations.pending()] == [held]
    assert asyncio.run(approve(one.dispatcher.confirmations, held)).success


@pytest.mark.parametrize("jump", [-YEAR_S, YEAR_S])
def test_a_deadline_does_not_depend_on_the_wall_clock(dispatcher, tool, wall, jump, settings):
    async def quick():
        wall.now += jump
        await asyncio.sleep(0)

    async def endless():
        wall.now += jump
        await asyncio.Event().wait()

    one = dispatcher(
        tool("quick", quick, limits=Limits(timeout_s=30)),
        tool("endless", endless, limits=Limits(timeout_s=0.05), read_only=True),
    )

    assert one.call("quick").success
    assert one.call("endless").error.code == "timeout"
    assert AuditReader(settings).verify().sound


@pytest.mark.parametrize("jump", [-YEAR_S, YEAR_S])
def test_the_records_keep_their_order(dispatcher, tool, wall, jump, settings):
    async def act():
        return {}

    one = dispatcher(tool("act", act))
    one.call("act", call_id="first")
    wall.now += jump
    one.call("act", call_id="second")

    assert [r.record["call"] for r in AuditReader(settings).records()] == ["first", "second"]
    assert AuditReader(settings).verify().sound
