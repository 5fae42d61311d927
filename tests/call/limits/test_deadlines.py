"""One timer for all that wait: each call is late at its own time, and nothing else is."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from virtual_time import leap

from toolmd._call.invoke import DeadlineError, within
from toolmd._types.call_spec import DEFAULT_TIMEOUT_S

LONG = 3600.0


async def forever():
    await asyncio.Event().wait()


async def held(seconds, work):
    async with within(seconds):
        return await work


def test_a_short_deadline_is_met_while_a_long_one_waits():
    async def main():
        long = asyncio.create_task(held(LONG, forever()))
        await asyncio.sleep(0)
        with pytest.raises(DeadlineError) as late:
            await held(0.01, forever())
        assert not long.done()
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        return late.value.seconds

    assert asyncio.run(main()) == 0.01


def test_late_tasks_end_and_tasks_in_time_return_their_values():
    async def main():
        gate = asyncio.Event()
        in_time = [asyncio.create_task(held(LONG, gate.wait())) for _ in range(3)]
        late = [held(0.01 + n / 1000, forever()) for n in range(3)]
        found = await asyncio.gather(*late, return_exceptions=True)
        gate.set()
        return found, await asyncio.gather(*in_time)

    late, in_time = asyncio.run(main())
    assert [type(error) for error in late] == [DeadlineError] * 3
    assert in_time == [True] * 3


def test_a_task_cancelled_by_others_too_is_cancelled():
    async def main():
        task = asyncio.create_task(held(0.001, stubborn()))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def stubborn():
        try:
            await forever()
        finally:
            started.set()
            # Cancelled a second time here, by somebody else.
            await forever()

    started = asyncio.Event()
    asyncio.run(main())


def test_a_deadline_within_a_deadline_ends_alone():

    async def work():
        with pytest.raises(DeadlineError):
            await held(0.001, forever())
        return "went on"

    assert asyncio.run(held(LONG, work())) == "went on"


def test_the_outer_of_two_deadlines_ends_both():
    with pytest.raises(DeadlineError) as late:
        asyncio.run(held(0.001, held(LONG, forever())))
    assert late.value.seconds == 0.001


def test_a_task_that_returns_despite_cancellation_has_returned():
    async def tidy():
        try:
            await forever()
        except asyncio.CancelledError:
            return "tidied"

    async def main():
        value = await held(0.001, tidy())
        # Nothing of the cancellation is left in the task.
        await asyncio.sleep(0)
        return value, asyncio.current_task().cancelling()

    assert asyncio.run(main()) == ("tidied", 0)


def test_loops_one_after_another_and_side_by_side_share_deadlines():
    late = []

    def loop():
        try:
            asyncio.run(held(0.01, forever()))
        except DeadlineError:
            late.append(True)

    for _ in range(2):
        threads = [threading.Thread(target=loop) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(late) == 6


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20), st.integers(1, 30)), max_size=8))
def test_each_call_is_late_at_its_own_time_or_not_at_all(calls):
    async def one(begins, seconds, needs):
        await asyncio.sleep(begins)
        late = None
        try:
            # Half a second more, so that no call ends in the moment in which it would be late.
            await held(seconds, asyncio.sleep(needs + 0.5))
        except DeadlineError as error:
            late = error.seconds
        took = asyncio.get_running_loop().time() - begins
        # What was late once is not ended again.
        await asyncio.sleep(100)
        in_time = needs < seconds
        assert late == (None if in_time else seconds)
        assert took == pytest.approx(needs + 0.5 if in_time else seconds)

    async def main():
        await asyncio.gather(*(one(*call) for call in calls))

    leap(main())


def test_a_tool_without_a_timeout_has_half_a_minute(harness, tool):
    made = harness(tool("act", forever))
    result, seconds = leap(made.dispatcher.call("act", "{}"))
    assert (result.error.code, seconds) == ("outcome_unknown", 30.0)
    assert DEFAULT_TIMEOUT_S == 30.0
