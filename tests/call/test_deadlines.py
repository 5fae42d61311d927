"""One timer for all that wait: each call is late at its own time, and nothing else is."""

import asyncio
import threading

import pytest

from toolmark._call.limits.deadline import DeadlineError, Deadlines

LONG = 3600.0


async def forever():
    await asyncio.Event().wait()


async def held(deadlines, seconds, work):
    with deadlines.within(seconds):
        return await work


def test_a_short_deadline_is_met_while_a_long_one_waits():
    deadlines = Deadlines()

    async def main():
        long = asyncio.create_task(held(deadlines, LONG, forever()))
        await asyncio.sleep(0)
        with pytest.raises(DeadlineError) as late:
            await held(deadlines, 0.01, forever())
        assert not long.done()
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        return late.value.seconds

    assert asyncio.run(main()) == 0.01


def test_all_that_are_late_end_and_those_in_time_give_what_they_have():
    deadlines = Deadlines()

    async def main():
        gate = asyncio.Event()
        in_time = [asyncio.create_task(held(deadlines, LONG, gate.wait())) for _ in range(3)]
        late = [held(deadlines, 0.01 + n / 1000, forever()) for n in range(3)]
        found = await asyncio.gather(*late, return_exceptions=True)
        gate.set()
        return found, await asyncio.gather(*in_time)

    late, in_time = asyncio.run(main())
    assert [type(error) for error in late] == [DeadlineError] * 3
    assert in_time == [True] * 3


def test_who_is_cancelled_by_others_too_is_cancelled():
    async def main():
        task = asyncio.create_task(held(Deadlines(), 0.001, stubborn()))
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
    outer, inner = Deadlines(), Deadlines()

    async def work():
        with pytest.raises(DeadlineError):
            await held(inner, 0.001, forever())
        return "went on"

    assert asyncio.run(held(outer, LONG, work())) == "went on"


def test_the_outer_of_two_deadlines_ends_both():
    outer, inner = Deadlines(), Deadlines()
    with pytest.raises(DeadlineError) as late:
        asyncio.run(held(outer, 0.001, held(inner, LONG, forever())))
    assert late.value.seconds == 0.001


def test_what_answers_though_it_was_told_to_stop_has_answered():
    async def tidy():
        try:
            await forever()
        except asyncio.CancelledError:
            return "tidied"

    async def main():
        value = await held(Deadlines(), 0.001, tidy())
        # Nothing of the cancellation is left in the task.
        await asyncio.sleep(0)
        return value, asyncio.current_task().cancelling()

    assert asyncio.run(main()) == ("tidied", 0)


def test_loops_one_after_another_and_side_by_side_share_deadlines():
    deadlines = Deadlines()
    late = []

    def loop():
        try:
            asyncio.run(held(deadlines, 0.01, forever()))
        except DeadlineError:
            late.append(True)

    for _ in range(2):
        threads = [threading.Thread(target=loop) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(late) == 6
