"""Calls keep their rate, wait in order, and are denied if they would wait too long."""

import asyncio
import itertools
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.definitions import few, limited
from virtual_time import VirtualTime, most_in_a_window, run

from toolmd._call.denial import CallDenied
from toolmd._call.limits import MAX_WAITING, CallLimits
from toolmd._store.store import Store
from toolmd._types.call import Call
from toolmd._types.call_spec import Limits, Rate
from toolmd._types.settings import AuditSettings, Settings


def pace_of(world, calls=3, per_s=1.0):
    rate = Rate(calls=calls, per_s=per_s)
    store = Store("memory", Path(), epoch=world.timing.epoch)
    return CallLimits(limited(Limits(rate=rate)), store, world.timing)


def starts_of(world, rate_limiter, arrivals, longest=1e6):
    """Give the moments at which calls start that arrive at these moments."""
    starts = []

    async def one(at):
        await world.sleep(at - world.now())
        await rate_limiter.wait(longest)
        starts.append(world.now())

    async def work():
        await asyncio.gather(*(one(world.moment + at) for at in arrivals))

    run(world, work)
    return starts


def test_calls_beyond_the_rate_wait():
    world = VirtualTime()
    starts = starts_of(world, pace_of(world), [0.0] * 7)
    assert len(starts) == 7
    gaps = [later - sooner for sooner, later in itertools.pairwise(starts)]
    assert all(1 / 3 < gap < 0.35 for gap in gaps)


@settings(max_examples=settings.default.max_examples // 2)
@given(
    calls=st.integers(1, 8),
    per_s=st.sampled_from([0.5, 1.0, 60.0]),
    arrivals=st.lists(st.floats(0, 5), min_size=1, max_size=40),
    late=st.lists(st.floats(0, 2), min_size=1, max_size=20),
)
def test_no_window_has_more_starts_than_the_rate_however_late_a_call_wakes(
    calls, per_s, arrivals, late
):
    how_late = iter(late * 10_000)
    world = VirtualTime(lambda: next(how_late))
    starts = starts_of(world, pace_of(world, calls, per_s), arrivals)
    assert len(starts) == len(arrivals)
    assert most_in_a_window(starts, per_s) <= calls


def test_a_thousand_calls_may_wait_and_no_more():
    world = VirtualTime()
    rate_limiter = pace_of(world, calls=1000, per_s=1)
    refused = []

    async def one():
        try:
            await rate_limiter.wait(1e6)
        except CallDenied as refusal:
            refused.append(refusal.failure)

    async def work():
        await asyncio.gather(*(one() for _ in range(MAX_WAITING + 5)))

    run(world, work)
    assert MAX_WAITING == 1000
    assert [failure.code for failure in refused] == ["rate_limited"] * 4
    assert refused[0].retry_after_ms == pytest.approx(1020, abs=5)


def test_a_call_that_would_start_too_late_is_denied_with_a_retry_time():
    world = VirtualTime()
    rate_limiter = pace_of(world, calls=1, per_s=60)

    async def work():
        await rate_limiter.wait(30)
        with pytest.raises(CallDenied) as refused:
            await rate_limiter.wait(30)
        return refused.value.failure

    failure = run(world, work)
    assert (failure.code, failure.retry_after_ms) == ("rate_limited", 61_200)
    assert not world.slept


def test_a_cancelled_call_leaves_its_start_to_others():
    world = VirtualTime()
    rate_limiter = pace_of(world)
    starts = []

    async def one(name):
        await rate_limiter.wait(100)
        starts.append(name)

    async def work():
        tasks = [asyncio.create_task(one(n)) for n in range(4)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run(world, work)
    assert starts == [0, 2, 3]


def test_calls_of_all_users_wait_in_one_queue(harness, tool):
    world = VirtualTime()
    starts = []

    async def act():
        starts.append(world.now())

    limits = Limits(rate=Rate(calls=3, per_s=1))
    memory = Settings(root=Path.cwd(), audit=AuditSettings(enabled=False), store="memory")
    dispatcher = harness(
        tool("act", act, limits=limits), settings=memory, timing=world.timing
    ).dispatcher

    async def work():
        # The first call loads the function in a thread, which no virtual time waits for.
        await dispatcher.call("act", "{}", user="u0")
        starts.clear()
        return await asyncio.gather(
            *(dispatcher.call("act", "{}", user=f"u{n}") for n in range(10))
        )

    assert all(result.success for result in run(world, work))
    assert most_in_a_window(starts, 1.0) == 3


def test_a_call_that_waits_longer_than_a_second_says_how_long(harness, tool):
    world = VirtualTime()

    async def act():
        return None

    limits = Limits(rate=Rate(calls=1, per_s=0.8))
    memory = Settings(root=Path.cwd(), audit=AuditSettings(enabled=False), store="memory")
    dispatcher = harness(
        tool("act", act, limits=limits), settings=memory, timing=world.timing
    ).dispatcher
    heard = []

    async def work():
        return await asyncio.gather(
            *(dispatcher.dispatch(Call("act", {}, f"c{n}"), heard.append) for n in range(3))
        )

    assert all(result.success for result in run(world, work))
    (event,) = heard
    assert (event.kind, event.tool, event.call_id) == ("progress", "act", "c2")
    assert event.data["text"] == "act waits 1.6 s, because of its Rate"
    assert event.data["wait_s"] == pytest.approx(1.632, abs=0.01)


def test_a_call_beyond_the_deadline_is_denied_with_a_time(harness, tool):
    async def act():
        return None

    limits = Limits(rate=Rate(calls=1, per_s=1), timeout_s=0.5)
    memory = Settings(root=Path.cwd(), audit=AuditSettings(enabled=False), store="memory")
    dispatcher = harness(tool("act", act, limits=limits), settings=memory)
    assert dispatcher.call("act").success
    refused = dispatcher.call("act")
    assert (refused.outcome, refused.attempts) == ("denied", 0)
    assert refused.error.code == "rate_limited"
    assert 500 < refused.error.retry_after_ms <= 1020
    assert dispatcher.call("act", dry_run=True).error.code == "rate_limited"


def test_a_new_dispatcher_continues_the_rate_of_the_old_one(harness, tool):
    async def act():
        return None

    memory = Settings(root=Path.cwd(), audit=AuditSettings(enabled=False), store="memory")
    act_rarely = tool("act", act, limits=Limits(rate=Rate(calls=1, per_s=3600), quotas=few(5)))
    store = Store("memory", Path())
    assert harness(act_rarely, settings=memory, store=store).call("act").success
    later = harness(act_rarely, settings=memory, store=store).call("act")
    assert later.error.code == "rate_limited"


def test_dispatchers_of_one_state_folder_share_a_rate(harness, tool, tmp_path):
    async def act():
        return None

    shared = Settings(root=tmp_path, state=tmp_path / "state", audit=AuditSettings(enabled=False))
    act_rarely = tool("act", act, limits=Limits(rate=Rate(calls=1, per_s=3600)))
    assert harness(act_rarely, settings=shared).call("act").success
    other = harness(act_rarely, settings=shared).call("act")
    assert other.error.code == "rate_limited"
    assert other.error.retry_after_ms > 3_000_000


def test_a_rate_that_cannot_be_stored_denies(harness, tool, tmp_path):
    async def act():
        return None

    (tmp_path / "state").write_text("no folder", encoding="utf-8")
    broken = Settings(root=tmp_path, state=tmp_path / "state", audit=AuditSettings(enabled=False))
    bound = tool("act", act, limits=Limits(rate=Rate(calls=1, per_s=1)))
    refused = harness(bound, settings=broken).call("act")
    assert (refused.outcome, refused.error.code) == ("denied", "internal_guard_error")


def test_a_clock_that_was_set_back_denies_no_call(tmp_path):
    now = [10_000.0]
    with closing(Store("sqlite", tmp_path, epoch=lambda: now[0])) as store:
        starts = store.limits
        assert starts.take("act", 1.0) == 0.0
        now[0] -= 5000
        assert 0 < starts.take("act", 1.0) <= 1.0
        now[0] += 1.0
        assert starts.take("act", 1.0) == 0.0


def test_a_call_waits_for_a_start_at_the_last_moment():
    world = VirtualTime()
    rate_limiter = pace_of(world, calls=1, per_s=50)
    starts = []

    async def work():
        for _ in range(2):
            await rate_limiter.wait(51.0)
            starts.append(world.now())

    run(world, work)
    assert starts == [1000.0, 1051.0]
