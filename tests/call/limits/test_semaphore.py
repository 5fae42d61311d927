"""Places are taken in order and given back once; conversations are counted."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.definitions import few, limited
from virtual_time import leap

from toolmd._call.denial import CallDenied
from toolmd._call.limits import CallLimits, Timing
from toolmd._store.store import Store
from toolmd._types.call import Budget, Call, Caller
from toolmd._types.call_spec import Limits, Rate


def limits_of(store=None, **limits):
    loop_time = Timing(now=lambda: asyncio.get_running_loop().time())
    return CallLimits(limited(Limits(**limits)), store or Store("memory", Path()), loop_time)


def running(limits):
    return len(limits._store.limits._select("SELECT 1 FROM running_call"))


def test_waiting_calls_start_in_order():
    async def main():
        limits, came = limits_of(max_concurrent=2), []

        async def one(name):
            async with limits.place(Call("act", {}), {}):
                came.append(name)
                await asyncio.sleep(1)

        await asyncio.gather(*(one(name) for name in range(7)))
        return came

    came, took = leap(main())
    assert came == list(range(7))
    assert took == pytest.approx(4.0, abs=0.5)  # was exactly 4.0: a freed place is looked for


def test_a_call_that_waits_too_long_is_denied_at_that_time():
    async def main():
        limits = limits_of(max_concurrent=1, timeout_s=5.0)
        async with limits.place(Call("act", {}), {}):
            with pytest.raises(CallDenied) as late:
                async with limits.place(Call("act", {}), {}):
                    pass
            assert "are running: try later" in late.value.failure.message
        async with limits.place(Call("act", {}), {}):
            return running(limits)

    found, took = leap(main())
    assert found == 1
    assert took == pytest.approx(5.0, abs=0.11)


def test_a_cancelled_waiter_gives_its_place_to_the_next():
    async def main():
        limits = limits_of(max_concurrent=1)

        async def one(seconds):
            async with limits.place(Call("act", {}), {}):
                await asyncio.sleep(seconds)

        first, second, third = (asyncio.create_task(one(1)) for _ in range(3))
        await asyncio.sleep(0.5)
        second.cancel()
        await asyncio.gather(first, second, third, return_exceptions=True)
        return running(limits)

    assert leap(main())[0] == 0


def test_a_call_that_would_start_too_late_gives_back_place_and_count():
    async def main():
        limits = limits_of(max_concurrent=2, quotas=few(2), rate=Rate(1, 3600.0))
        call = Call("act", {}, caller=Caller(user="ada"))
        async with limits.place(call, {}):
            for _ in range(5):
                with pytest.raises(CallDenied) as late:
                    async with limits.place(call, {}):
                        pass
                assert late.value.failure.code == "rate_limited"
            assert running(limits) == 1
            await limits.quotas.look(call, {})  # only one is counted
        return running(limits)

    assert leap(main())[0] == 0


@pytest.mark.parametrize(("most", "told"), [(1, "1 call per"), (2, "2 calls per")])
def test_a_call_beyond_the_limit_is_denied_with_the_limit(most, told):
    async def main():
        limits = limits_of(quotas=few(most))
        for _ in range(most):
            async with limits.place(Call("act", {}), {}):
                pass
        with pytest.raises(CallDenied) as often:
            async with limits.place(Call("act", {}), {}):
                pass
        assert f"{most} of {told} conversation ever" in often.value.failure.message

    leap(main())


@pytest.mark.parametrize(
    ("limits", "binds"),
    [
        ({}, False),
        ({"quotas": few(3)}, True),
        ({"max_concurrent": 1}, True),
        ({"retries": 1}, False),
    ],
)
def test_limits_apply_only_if_they_are_set(limits, binds):
    assert limits_of(**limits).binds is binds


def test_a_call_waits_as_long_as_it_might_run():
    for timeout_s, budget_ms, waits in ((5.0, None, 5.0), (None, None, 30.0), (5.0, 2000, 2.0)):
        budget = None if budget_ms is None else Budget(10, 1000, budget_ms)

        async def main(timeout_s=timeout_s, budget=budget):
            limits = limits_of(max_concurrent=1, timeout_s=timeout_s)
            async with AsyncExitStack() as stack:
                await stack.enter_async_context(limits.place(Call("act", {}), {}))
                with pytest.raises(CallDenied):
                    await stack.enter_async_context(
                        limits.place(Call("act", {}, budget=budget), {})
                    )

        assert leap(main())[1] == pytest.approx(waits, abs=0.11)
