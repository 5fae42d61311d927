"""Processes share one rate: each requests its starts and waits by its own clock."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_time import VirtualTime, most_in_a_window, run, take

from toolmd._call.denial import CallDenied
from toolmd._call.limits.counter import CallCounter
from toolmd._call.limits.postgres_rates import PostgresRates
from toolmd._call.limits.rate_limiter import RateLimiter
from toolmd._call.limits.shared_rates import STARTS_FILE, SqliteRates, shared_rates
from toolmd._call.limits.timing import MACHINE, Timing
from toolmd._types.call_spec import Limits, Rate
from toolmd._types.settings import Settings as Project


class Server:
    """SharedRates that another machine keeps: each answer takes its time, as `delays` tells."""

    def __init__(self, world, delays=()):
        self.world, self.delays = world, iter(delays)
        self.last, self.asked = float("-inf"), []

    async def ready(self, tool):
        self.asked.append(f"ready {tool}")

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
    return RateLimiter("act", rate, CallCounter(), world.timing, server)


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


@settings(max_examples=60)
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
    assert server.asked == ["ready act", "take act"] * 6


def test_a_start_of_another_process_is_waited_for_without_asking_again():
    world = VirtualTime()
    server = Server(world)
    here, there = pace_of(world, server), pace_of(world, server)
    first, second = start_all(world, [there, here])
    assert second - first == pytest.approx(0.34)
    assert server.asked.count("take act") == 3
    # Who knows of a start refuses without asking anybody.
    with pytest.raises(CallDenied) as refused:
        here.check(0.1)
    assert refused.value.failure.retry_after_ms == 340
    assert there.check(0.1) is None


def test_a_call_that_would_wait_too_long_for_another_process_is_denied():
    world = VirtualTime()
    server = Server(world)
    there, here = (pace_of(world, server, calls=1, per_s=60) for _ in range(2))
    start_all(world, [there])
    with pytest.raises(CallDenied) as refused:
        start_all(world, [here], longest=30)
    assert refused.value.failure.retry_after_ms == 61_200
    assert not here._counter.tickets


def test_a_dry_run_reads_the_last_start(harness, tool, tmp_path):
    made = tool("act", dict, limits=Limits(rate=Rate(calls=1, per_s=3600)))
    shared = Project(root=tmp_path, state=tmp_path, audit=False)
    dispatcher = harness(made, settings=shared)
    assert dispatcher.call("act", dry_run=True).outcome == "allowed"
    assert dispatcher.call("act").success
    assert dispatcher.call("act", dry_run=True).error.code == "rate_limited"


def test_each_tool_has_its_own_starts_in_the_file_of_a_machine(tmp_path):
    now = [1000.0]
    starts, others = (SqliteRates(tmp_path, Timing(epoch=lambda: now[0])) for _ in range(2))
    assert take(starts, "act", 10.0) == 0.0
    assert take(others, "act", 10.0) == 10.0
    assert take(others, "other", 10.0) == 0.0
    now[0] += 4.0
    assert take(others, "act", 10.0) == 6.0
    # Who only asked moved nothing.
    now[0] += 6.0
    assert take(others, "act", 10.0) == 0.0
    assert take(starts, "act", 10.0) == 10.0


def test_only_the_owner_reads_the_file_of_the_starts(tmp_path):
    take(SqliteRates(tmp_path / "state", MACHINE), "act", 1.0)
    assert (tmp_path / "state" / STARTS_FILE).stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(tmp_path / "state" / STARTS_FILE)) as store:
        # Who only reads waits for nobody.
        assert store.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_rate_without_a_folder_denies(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CallDenied) as refused:
        take(SqliteRates(tmp_path / "file" / "below", MACHINE), "act", 1.0)
    assert refused.value.failure.code == "internal_guard_error"


@pytest.mark.parametrize("content", [b"no data base", b""])
def test_a_file_without_starts_denies_and_stays_unchanged(tmp_path, content):
    (tmp_path / STARTS_FILE).write_bytes(content)
    if not content:
        with sqlite3.connect(tmp_path / STARTS_FILE) as store:
            store.execute("CREATE TABLE turn (odd TEXT) STRICT")
        store.close()
    with pytest.raises(CallDenied) as refused:
        take(SqliteRates(tmp_path, MACHINE), "act", 1.0)
    assert refused.value.failure.code == "internal_guard_error"
    assert "its rate could not be decided" in refused.value.failure.message


def test_a_waiting_call_learns_of_the_start_of_another_process():
    world = VirtualTime()
    server = Server(world)
    there, here = pace_of(world, server), pace_of(world, server)
    start_all(world, [there])
    with pytest.raises(CallDenied):
        start_all(world, [here], longest=0.1)
    with pytest.raises(CallDenied) as refused:
        here.check(0.1)
    assert refused.value.failure.retry_after_ms == 340


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
    rate_limiter = pace_of(world, None)
    start_all(world, [rate_limiter])
    world.moment += 0.34 - 0.0004
    with pytest.raises(CallDenied) as refused:
        rate_limiter.check(0.0)
    assert refused.value.failure.retry_after_ms == 1


@pytest.mark.parametrize(
    ("engine", "kind"),
    [
        ("memory", type(None)),
        ("sqlite", SqliteRates),
        ("postgresql://nobody@127.0.0.1:1/none", PostgresRates),
    ],
)
def test_starts_are_stored_in_the_engines_database(tmp_path, engine, kind):
    project = Project(root=tmp_path, state=tmp_path, store=engine)
    assert type(shared_rates(project, MACHINE)) is kind
    assert (shared_rates(project, MACHINE) is shared_rates(project, MACHINE)) is (
        kind is not SqliteRates
    )
