"""Processes share one rate: each requests its starts and waits by its own clock."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.definitions import limited
from virtual_time import VirtualTime, most_in_a_window, run

from toolmd._call.denial import CallDenied
from toolmd._call.limits import CallLimits
from toolmd._types.call_spec import Limits, Rate
from toolmd._types.settings import AuditSettings
from toolmd._types.settings import Settings as Project


class Server:
    """SharedRates that another machine keeps: each answer takes its time, as `delays` tells."""

    def __init__(self, world, delays=()):
        self.world, self.delays = world, iter(delays)
        self.last, self.asked = float("-inf"), []

    @property
    def limits(self):
        return self

    async def take(self, tool, apart):
        self.asked.append(f"take {tool}")
        now = self.world.now()
        wait = self.last + apart - now
        if wait < 1e-6:
            self.last, wait = now, 0.0
        if delay := next(self.delays, 0.0):
            # The way back is what makes a start late.
            await self.world.sleep(delay)
        return wait


def pace_of(world, server, calls=3, per_s=1.0):
    rate = Rate(calls=calls, per_s=per_s)
    return Asking(limited(Limits(rate=rate)), server, world.timing)


class Asking(CallLimits):
    async def _ask(self, limit, question):
        return await question()


def start_all(world, paces, longest=1e6):
    """Let each pace start once for each time it is named; give the moments of the starts."""
    starts = []

    async def one(rate_limiter):
        await rate_limiter.wait(longest)
        starts.append(world.now())

    async def work():
        await asyncio.gather(*(one(rate_limiter) for rate_limiter in paces))

    run(world, work)
    return starts


@settings(max_examples=settings.default.max_examples // 2)
@given(
    calls=st.integers(1, 5),
    arrivals=st.lists(st.integers(0, 2), min_size=1, max_size=15),
    delays=st.lists(st.sampled_from([0.0, 0.001, 0.02, 0.5, 3.0]), max_size=30),
)
def test_no_window_has_more_starts_of_all_processes_however_late_a_reply_comes(
    calls, arrivals, delays
):
    world = VirtualTime()
    server = Server(world)
    paces = [pace_of(world, server, calls) for _ in range(3)]
    # Each has seen by then how quick an answer can be.
    starts = start_all(world, paces)
    server.delays = iter(delays)
    starts += start_all(world, [paces[process] for process in arrivals])
    assert len(starts) == 3 + len(arrivals)
    assert most_in_a_window(starts, 1.0) <= calls


def test_a_start_that_arrives_late_is_dropped_and_another_requested():
    world = VirtualTime()
    server = Server(world, [0.0, 0.2])
    rate_limiter = pace_of(world, server)
    first, second = start_all(world, [rate_limiter, rate_limiter])
    # The second asked 0.34 s later, heard it 0.2 s later, and took the turn after that one.
    assert second - first == pytest.approx(0.34 + 0.2 + 0.34, abs=0.01)


def test_a_reply_is_late_by_the_usual_delay():
    world = VirtualTime()
    server = Server(world, [0.3, 0.3, 0.3])
    rate_limiter = pace_of(world, server)
    first, second = start_all(world, [rate_limiter, rate_limiter])
    assert first == 1000.3
    assert second - first == pytest.approx(0.34)


def test_a_very_short_wait_is_not_a_start():
    world = VirtualTime()
    server = Server(world)
    server.last = 1000.0 - 0.34 + 2e-6
    start_all(world, [pace_of(world, server)])
    assert server.asked.count("take act") == 2


def test_waiting_calls_ask_at_their_expected_start_and_not_before():
    world = VirtualTime()
    server = Server(world)
    starts = start_all(world, [pace_of(world, server)] * 6)
    assert len(starts) == 6
    assert server.asked == ["take act"] * 6


def test_a_call_that_would_wait_too_long_for_another_process_is_denied():
    world = VirtualTime()
    server = Server(world)
    there, here = (pace_of(world, server, calls=1, per_s=60) for _ in range(2))
    start_all(world, [there])
    with pytest.raises(CallDenied) as refused:
        start_all(world, [here], longest=30)
    assert refused.value.failure.retry_after_ms == 61_200
    assert not here._waiting


def test_a_dry_run_reads_the_last_start(harness, tool, tmp_path):
    made = tool("act", dict, limits=Limits(rate=Rate(calls=1, per_s=3600)))
    shared = Project(root=tmp_path, state=tmp_path, audit=AuditSettings(enabled=False))
    dispatcher = harness(made, settings=shared)
    assert dispatcher.call("act", dry_run=True).outcome == "allowed"
    assert dispatcher.call("act").success
    assert dispatcher.call("act", dry_run=True).error.code == "rate_limited"


def test_a_late_reply_with_a_wait_is_used():
    world = VirtualTime()
    server = Server(world)
    rate_limiter = pace_of(world, server)
    start_all(world, [rate_limiter])
    world.moment, server.last, server.delays = 1000.6, 1000.5, iter([0.05])
    # It asked at 1000.6, was told 0.24 s, and heard it 0.05 s later.
    assert start_all(world, [rate_limiter]) == [pytest.approx(1000.89)]


def test_a_wait_below_a_millisecond_is_one_millisecond():
    world = VirtualTime()
    rate_limiter = pace_of(world, Server(world))
    start_all(world, [rate_limiter])
    world.moment += 0.34 - 0.0004
    with pytest.raises(CallDenied) as refused:
        rate_limiter.check_queue(0.0)
    assert refused.value.failure.retry_after_ms == 1


def test_a_start_of_another_process_is_waited_for_without_asking_again():
    world = VirtualTime()
    server = Server(world)
    here, there = pace_of(world, server), pace_of(world, server)
    first, second = start_all(world, [there, here])
    assert second - first == pytest.approx(0.34)
    assert server.asked.count("take act") == 3
    # Who knows of a start refuses without asking anybody.
    with pytest.raises(CallDenied) as refused:
        here.check_queue(0.1)
    assert refused.value.failure.retry_after_ms == 340
    there.check_queue(0.1)


def test_a_waiting_call_learns_of_the_start_of_another_process():
    world = VirtualTime()
    server = Server(world)
    there, here = pace_of(world, server), pace_of(world, server)
    start_all(world, [there])
    with pytest.raises(CallDenied):
        start_all(world, [here], longest=0.1)
    with pytest.raises(CallDenied) as refused:
        here.check_queue(0.1)
    assert refused.value.failure.retry_after_ms == 340
