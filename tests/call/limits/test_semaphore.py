"""Semaphores are acquired in order and released once; conversations are counted."""

import asyncio
import threading

import pytest
from virtual_time import leap

from toolmd._call.denial import CallDenied
from toolmd._call.limits.call_limits import CallLimits
from toolmd._call.limits.counter import MAX_CONVERSATIONS, CallCounter
from toolmd._call.limits.semaphore import CallSemaphore
from toolmd._call.limits.timing import MACHINE
from toolmd._types.call import Budget, Call, Caller
from toolmd._types.call_spec import Limits, Rate


async def denied(work):
    with pytest.raises(CallDenied) as caught:
        await work
    assert "are running: try later" in caught.value.failure.message
    return caught.value.failure.code


def test_waiting_calls_start_in_order():
    async def main():
        places, came = CallSemaphore("act", 2, CallCounter()), []

        async def one(name):
            await places.enter(100)
            came.append(name)
            await asyncio.sleep(1)
            places.leave()

        await asyncio.gather(*(one(name) for name in range(7)))
        return came

    assert leap(main()) == (list(range(7)), 4.0)


def test_a_call_that_waits_too_long_is_denied_at_that_time():
    async def main():
        counter = CallCounter()
        places = CallSemaphore("act", 1, counter)
        await places.enter(5)
        assert await denied(places.enter(5)) == "rate_limited"
        assert not counter.wakers
        places.leave()
        await places.enter(5)
        return counter.running

    assert leap(main()) == (1, 5.0)


def test_a_thousand_calls_may_wait_and_no_more():
    async def main():
        counter = CallCounter()
        places = CallSemaphore("act", 1, counter)
        await places.enter(1)
        waiting = [asyncio.create_task(places.enter(100)) for _ in range(999)]
        await asyncio.sleep(0)
        places.check()
        waiting.append(asyncio.create_task(places.enter(100)))
        await asyncio.sleep(0)
        with pytest.raises(CallDenied):
            places.check()
        assert await denied(places.enter(100)) == "rate_limited"
        for task in waiting:
            places.leave()
            await task
        places.leave()
        return counter.running

    assert leap(main()) == (0, 0)


@pytest.mark.parametrize("ends", ["cancelled", "too late"])
def test_a_call_that_ends_as_it_acquires_the_semaphore_releases_it(ends):
    async def main():
        counter = CallCounter()
        places = CallSemaphore("act", 1, counter)
        await places.enter(1)
        second = asyncio.create_task(places.enter(5))
        third = asyncio.create_task(places.enter(100))
        await asyncio.sleep(0)
        if ends == "too late":
            # Its timer comes first, in the same round of the loop.
            asyncio.get_running_loop().call_at(5, places.leave)
            assert await denied(second) == "rate_limited"
        else:
            places.leave()
            second.cancel()
            with pytest.raises(asyncio.CancelledError):
                await second
        await third
        assert counter.running == 1
        places.leave()
        return counter.running

    assert leap(main())[0] == 0


def test_a_waiter_of_a_closed_loop_is_skipped():
    counter = CallCounter()
    places = CallSemaphore("act", 1, counter)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(places.enter(1))
    gone = loop.create_task(places.enter(100))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()

    async def main():
        third = asyncio.create_task(places.enter(100))
        await asyncio.sleep(0)
        places.leave()
        await third
        return counter.running

    assert leap(main())[0] == 1
    # It can't be ended any more; what it would have logged is of no use.
    gone._log_destroy_pending = False


def test_a_lowered_limit_applies_before_the_next_call():
    async def main():
        counter = CallCounter()
        before, after = CallSemaphore("act", 2, counter), CallSemaphore("act", 1, counter)
        await before.enter(1)
        await before.enter(1)
        waiting = asyncio.create_task(after.enter(100))
        await asyncio.sleep(1)
        after.leave()
        await asyncio.sleep(1)
        assert (counter.running, waiting.done()) == (1, False)
        after.leave()
        await waiting
        return counter.running

    assert leap(main()) == (1, 2.0)


def test_a_waiting_call_is_woken_from_another_thread():
    async def main():
        places = CallSemaphore("act", 1, CallCounter())
        await places.enter(1)
        waiting = asyncio.create_task(places.enter(60))
        await asyncio.sleep(0)
        threading.Thread(target=places.leave).start()
        await waiting

    asyncio.run(main())


def limits_of(counter, **limits):
    return CallLimits("act", Limits(**limits), counter, MACHINE, None)


def test_a_call_is_denied_at_once_if_the_queue_is_full():
    counter = CallCounter()
    limits = limits_of(counter, max_concurrent=1)
    asyncio.run(limits.check(Call("act", {})))
    counter.wakers.extend([bool] * 1000)
    with pytest.raises(CallDenied):
        asyncio.run(limits.check(Call("act", {})))


def test_a_call_that_would_start_too_late_releases_the_semaphore():
    async def main():
        counter = CallCounter()
        limits = limits_of(counter, max_concurrent=2, max_calls=3, rate=Rate(1, 3600.0))
        call = Call("act", {}, caller=Caller(user="ada"))
        await limits.start(call)
        for _ in range(5):
            with pytest.raises(CallDenied) as late:
                await limits.start(call)
            assert late.value.failure.code == "rate_limited"
        assert (counter.running, counter.made_by(("ada", None))) == (1, 1)
        limits.end()
        return counter.running

    assert leap(main())[0] == 0


@pytest.mark.parametrize(("most", "told"), [(1, "once"), (2, "2 times"), (0, "0 times")])
def test_a_call_beyond_the_limit_is_denied_with_the_limit(most, told):
    async def main():
        limits = limits_of(CallCounter(), max_calls=most)
        for _ in range(most):
            await limits.start(Call("act", {}))
        with pytest.raises(CallDenied) as often:
            await limits.start(Call("act", {}))
        assert f"called {told} in a conversation" in often.value.failure.message

    leap(main())


@pytest.mark.parametrize(
    ("limits", "binds"),
    [({}, False), ({"max_calls": 0}, True), ({"max_concurrent": 1}, True), ({"retries": 1}, False)],
)
def test_limits_apply_only_if_they_are_set(limits, binds):
    assert limits_of(CallCounter(), **limits).binds is binds


def test_a_call_waits_as_long_as_it_might_run():
    for timeout_s, budget_ms, waits in ((5.0, None, 5.0), (None, None, 30.0), (5.0, 2000, 2.0)):
        budget = None if budget_ms is None else Budget(10, 1000, budget_ms)

        async def main(timeout_s=timeout_s, budget=budget):
            limits = limits_of(CallCounter(), max_concurrent=1, timeout_s=timeout_s)
            await limits.start(Call("act", {}))
            with pytest.raises(CallDenied):
                await limits.start(Call("act", {}, budget=budget))

        assert leap(main())[1] == waits


def test_the_conversation_with_the_oldest_call_is_evicted_first():
    counter = CallCounter()
    for who in ("ada", "bob", "ada"):
        counter.count((who, None), 1)
    for number in range(MAX_CONVERSATIONS - 2):
        counter.count((None, str(number)), 1)
    assert (counter.made_by(("ada", None)), counter.made_by(("bob", None))) == (2, 1)
    counter.count((None, "one more"), 1)
    assert (counter.made_by(("ada", None)), counter.made_by(("bob", None))) == (2, 0)
    assert counter.made_by((None, "one more")) == 1
    assert MAX_CONVERSATIONS == 100_000
